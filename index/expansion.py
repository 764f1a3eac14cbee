"""Document expansion: questions that players might ask, kept beside the rule that decides them.

A player's words are often far from the rule's but near to another player's. expansions.jsonl has
eight questions for each rule of one whole release. A rule of any edition takes those of the rule
under the same heading that it shares most of its words with, so that renumbered rules keep theirs.
Their vectors ship for the default embedding model; any other searches without them.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from index import shipped_vectors
from index.bm25 import stems
from index.embedder import Embedder, Progress
from index.rulebook import Edition, Rule

if TYPE_CHECKING:
    from index.embedder import Vectors

VECTORS = Path(__file__).with_name("expansions.npz")
_QUESTIONS = Path(__file__).with_name("expansions.jsonl")
_SAME = 0.7  # share of words that two wordings of one rule have in common
_NEAREST = 400  # questions that are looked at for the rules they belong to


class Asked(NamedTuple):
    """What a book's questions tell of another one."""

    similarity: float  # of the nearest of them
    scores: Mapping[str, float]  # of the nearest rules, in spreads above the mean of all questions


class _Row(NamedTuple):
    number: str
    words: frozenset[int]
    questions: Sequence[str]


class Expansion:
    """The questions of one book's rules."""

    def __init__(self, book: Edition, embedder: Embedder) -> None:
        import numpy as np

        self._rules: list[str] = []  # of each question
        vectors = shipped_vectors.load(VECTORS, _texts(), embedder)
        if vectors is None:
            return
        owners = _owners(book)
        kept = [(at, rule) for at, row in enumerate(_each_row()) for rule in owners.get(row, ())]
        self._rules = [rule for _, rule in kept]
        self._vectors = vectors[np.array([at for at, _ in kept], dtype="int64")]

    def nearest(self, vector: "Vectors") -> Asked:
        """The rules whose questions come nearest to this one."""
        import numpy as np

        if not self._rules:
            return Asked(0.0, {})
        similarity = self._vectors @ vector
        reach = min(_NEAREST, len(similarity))
        best = np.argpartition(-similarity, reach - 1)[:reach]
        best = best[np.argsort(-similarity[best])]
        mean, spread = float(similarity.mean()), max(float(similarity.std()), 1e-6)
        scores: dict[str, float] = {}
        for at in best.tolist():
            scores.setdefault(self._rules[at], (float(similarity[at]) - mean) / spread)
        return Asked(float(similarity[best[0]]), scores)


def signature(text: str) -> frozenset[int]:
    """What a rule's words are compared by, without the words themselves."""
    return frozenset(zlib.crc32(stem.encode()) & 0xFFFF for stem in stems(text))


def write_vectors(embedder: Embedder, progress: Progress | None = None) -> Path:
    """Compute the vectors that ship."""
    shipped_vectors.write(VECTORS, _texts(), embedder, progress)
    return VECTORS


def _owners(book: Edition) -> Mapping[str, Sequence[str]]:
    """The rules of a book that each row's questions are about, by the row's number."""
    owners: dict[str, list[str]] = {}
    for rule in book.rules:
        rows = _rows().get(_heading(book, rule), ())
        if rule.is_heading or not rows:
            continue
        words = signature(rule.text)
        # Of two wordings that are as near, the one that did not move.
        alike, _, number = max(
            (
                len(words & row.words)
                / max(1, len(words if rule.truncated else words | row.words)),
                row.number == rule.number,
                row.number,
            )
            for row in rows
        )
        if alike >= _SAME:
            owners.setdefault(number, []).append(rule.number)
    return owners


def _heading(book: Edition, rule: Rule) -> str:
    return next(iter(book.path(rule.number)[::-1]), "").lower()


def _texts() -> list[str]:
    return [question for rows in _rows().values() for row in rows for question in row.questions]


def _each_row() -> list[str]:
    """The number of the row that each of the texts belongs to."""
    return [row.number for rows in _rows().values() for row in rows for _ in row.questions]


@cache
def _rows() -> dict[str, list[_Row]]:
    """The rules that have questions, by heading."""
    found: dict[str, list[_Row]] = {}
    for line in _QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        words = frozenset(
            int(row["words"][at : at + 4], 16) for at in range(0, len(row["words"]), 4)
        )
        found.setdefault(row["heading"], []).append(_Row(row["number"], words, row["questions"]))
    return found

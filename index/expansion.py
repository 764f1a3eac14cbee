"""Document expansion: questions that players might ask, kept beside the rule that decides them.

A player's words are often far from the rule's but near to another player's. expansions.jsonl has
some eight questions for each rule of one whole release. A rule of any edition takes those of the
rule under the same heading, or of the same number, that it shares most of its words with, so that
renumbered rules keep theirs. Their vectors ship for the default embedding model; any other searches
without them.
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
from index.rulebook import Edition

if TYPE_CHECKING:
    from index.embedder import Vectors

VECTORS = Path(__file__).with_name("expansions.npz")
_QUESTIONS = Path(__file__).with_name("expansions.jsonl")
_SAME = 0.7  # share of words that two wordings of one rule have in common
_NEAREST = 400  # questions that are looked at for the rules they belong to
_COVERED = 0.8  # share of a book's rules that need questions for their nearness to tell something


class NearestQuestions(NamedTuple):
    """What the rules' questions tell of another one."""

    similarity: float | None  # of the nearest of them; None where most rules have none
    scores: Mapping[str, float]  # of the nearest rules, in spreads above the mean of all questions


NONE = NearestQuestions(None, {})


class Expansion:
    """The questions of one book's rules; `vectors` are those of all that ship."""

    def __init__(self, book: Edition, vectors: "Vectors") -> None:
        owners = _owners(book)
        self._owners = [owners.get(row, ()) for row in _each_row()]
        self._vectors = vectors
        owned = sum(map(len, owners.values()))
        rules = sum(not rule.is_heading for rule in book.rules)
        self._covered = owned >= _COVERED * rules

    def nearest(self, vector: "Vectors") -> NearestQuestions:
        """The rules whose questions come nearest to this one."""
        import numpy as np

        similarity = self._vectors @ vector
        mean, spread = float(similarity.mean()), max(float(similarity.std()), 1e-6)
        order = np.argpartition(-similarity, _NEAREST)[:_NEAREST]
        scores: dict[str, float] = {}
        for at in order[np.argsort(-similarity[order])].tolist():
            for rule in self._owners[at]:
                scores.setdefault(rule, (float(similarity[at]) - mean) / spread)
        best = max(scores.values(), default=0.0) * spread + mean
        return NearestQuestions(best if self._covered else None, scores)


@cache
def vectors(model: str) -> "Vectors | None":
    """All questions as an embedding model, given by its hash, sees them; None if none ship."""
    return shipped_vectors.load(VECTORS, _texts(), model)


def signature(text: str) -> frozenset[int]:
    """What a rule's words are compared by, without the words themselves."""
    return frozenset(zlib.crc32(stem.encode()) & 0xFFFF for stem in stems(text))


def write_vectors(embedder: Embedder, progress: Progress | None = None) -> Path:
    """Compute the vectors that ship."""
    shipped_vectors.write(VECTORS, _texts(), embedder, progress)
    return VECTORS


class _Row(NamedTuple):
    number: str
    heading: str
    words: frozenset[int]
    questions: Sequence[str]


def _owners(book: Edition) -> Mapping[str, Sequence[str]]:
    """The rules of a book that each row's questions are about, by the row's number."""
    by_number = {row.number: row for row in _rows()}
    by_heading: dict[str, list[_Row]] = {}
    for row in _rows():
        by_heading.setdefault(row.heading, []).append(row)
    owners: dict[str, list[str]] = {}
    for rule in book.rules:
        if rule.is_heading:
            continue
        heading = next(iter(book.path(rule.number)[::-1]), "").lower()
        words = signature(rule.text)
        near = [
            # Of two wordings that are as near, the one that did not move.
            (_alike(words, row.words, rule.truncated), row.number == rule.number, row.number)
            for row in (*by_heading.get(heading, ()), by_number.get(rule.number))
            if row
        ]
        alike, _, number = max(near, default=(0.0, False, ""))
        if alike >= _SAME:
            owners.setdefault(number, []).append(rule.number)
    return owners


def _alike(words: frozenset[int], others: frozenset[int], truncated: bool) -> float:
    return len(words & others) / max(1, len(words if truncated else words | others))


def _texts() -> list[str]:
    return [question for row in _rows() for question in row.questions]


def _each_row() -> list[str]:
    """The number of the row that each of the texts belongs to."""
    return [row.number for row in _rows() for _ in row.questions]


@cache
def _rows() -> list[_Row]:
    """The rules that have questions."""
    rows = map(json.loads, _QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [
        _Row(
            row["number"],
            row["heading"],
            frozenset(int(row["words"][at : at + 4], 16) for at in range(0, len(row["words"]), 4)),
            row["questions"],
        )
        for row in rows
    ]

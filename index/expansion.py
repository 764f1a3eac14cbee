"""Document expansion: questions that players might ask, kept beside the rule that decides them.

A player's words are often far from the rule's but near to another player's. expansions.jsonl has
some eight questions for each rule of one whole release, and what the rule answers to each. A rule
of any edition takes those of the rule under the same heading, or of the same number, that it shares
most of its words with, so that renumbered rules keep theirs. BM25 takes both for words of the rule;
players are shown the nearest ones and a language model reads them, but only where the rule reads
as it did when they were answered. All this is for the default embedding model, for which the
questions' vectors ship; any other goes without.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from index import files, numbers, shipped_vectors
from index.bm25 import stems
from index.embedder import Embedder, Progress
from index.rulebook import Edition

if TYPE_CHECKING:
    from index.embedder import Vectors

EDITION = "2024-03-08"  # whose rules the questions were written and answered from
VECTORS = Path(__file__).with_name("expansions.npz")
_EXPANSIONS = Path(__file__).with_name("expansions.jsonl")
_SAME = 0.7  # share of words that two wordings of one rule have in common
_UNCHANGED = 0.95  # share of the words that are left of a rule that is cut off in its source
_SIMILAR = 0.6  # cosine of two questions, at least, for the answer to one to tell of the other
_NEAREST = 400  # questions that are looked at for the rules they belong to
_QUOTES = "[\"'“”‘’]"
_COVERED = 0.8  # share of a book's rules that need questions for their nearness to tell something


class NearestQuestions(NamedTuple):
    """What the rules' questions tell of another one."""

    similarity: float | None  # of the nearest of them; None where most rules have none
    scores: Mapping[str, float]  # of the nearest rules, in spreads above the mean of all questions


NONE = NearestQuestions(None, {})


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that stands beside a rule, and what that rule answers."""

    number: str
    question: str
    answer: str  # opens with yes or no where the question asks for one
    similarity: float  # cosine of this question and the one that is asked
    edition: str = EDITION  # of the rule that it was answered from, which reads the same today


class Expansion:
    """The questions of one book's rules; `vectors` are those of all that ship."""

    def __init__(self, book: Edition, vectors: "Vectors") -> None:
        found = matches(book)
        owners: dict[str, list[str]] = {}
        for match in found:
            owners.setdefault(match.row, []).append(match.rule)
        self._owners = [owners.get(row, []) for row in _each_row()]
        self._unchanged = {match.rule: match.row for match in found if match.unchanged}
        self._vectors = vectors
        self._covered = _covered(book, found)

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

    def similar_questions(
        self, vector: "Vectors", rules: Sequence[str], count: int
    ) -> list[AnsweredQuestion]:
        """The answered questions about these rules that come nearest to this one, best first."""
        import numpy as np

        rows: dict[str, str] = {}  # of two rules with one row, the first
        for number in rules:
            if number in self._unchanged:
                rows.setdefault(self._unchanged[number], number)
        found = [(at, rows[row]) for row in rows for at in _answered_places().get(row, ())]
        if not found:
            return []
        similarity = self._vectors[[at for at, _ in found]] @ vector
        nearest = np.argsort(-similarity, kind="stable")[:count].tolist()
        questions, answers = _questions(), _answers()
        scored = [(*found[place], round(float(similarity[place]), 4)) for place in nearest]
        return [
            AnsweredQuestion(number, questions[at], answers[at], similar)
            for at, number, similar in scored
            if similar >= _SIMILAR
        ]


@cache
def vectors(model: str) -> "Vectors | None":
    """All questions as an embedding model, given by its hash, sees them; None if none ship."""
    return shipped_vectors.load(VECTORS, _questions(), model)


def words_beside(book: Edition) -> Mapping[str, str]:
    """The questions beside each rule of a book with their answers, as words of it.

    None in a book most of whose rules have no questions: the others would fall behind.
    """
    found = matches(book)
    if not _covered(book, found):
        return {}
    beside = {row.number: " ".join([*row.questions, *row.answers]) for row in _rows()}
    return {match.rule: beside[match.row] for match in found}


@cache
def digest(model: str) -> str | None:
    """Tells one state of the questions and answers from another; None if none ship for a model."""
    if not shipped_vectors.ship_for(VECTORS, _questions(), model):
        return None
    return files.digest(_EXPANSIONS)


def signature(text: str) -> frozenset[int]:
    """What a rule's words are compared by, without the words themselves."""
    return frozenset(zlib.crc32(stem.encode()) & 0xFFFF for stem in stems(text))


def wording_digest(text: str) -> str:
    """Tells one wording of a rule from another, whatever numbers it names other rules by."""
    plain = re.sub(numbers.RULE, "#", text.lower()).replace("--", "—")
    return f"{zlib.crc32(' '.join(re.sub(_QUOTES, '', plain).split()).encode()):08x}"


def write_vectors(embedder: Embedder, progress: Progress | None = None) -> Path:
    """Compute the vectors that ship."""
    shipped_vectors.write(VECTORS, _questions(), embedder, progress)
    return VECTORS


class _Row(NamedTuple):
    number: str
    heading: str
    signature: str  # of the rule as it was when the questions were answered
    wording: str  # digest of that rule
    questions: Sequence[str]
    answers: Sequence[str]  # to each of them; empty where the rule alone does not settle it


class Match(NamedTuple):
    """A rule of a book, and the row of expansions.jsonl that it is the rule of."""

    rule: str
    row: str
    unchanged: bool  # the rule reads as it did when the row's questions were answered


def matches(book: Edition) -> list[Match]:
    """The rules of a book that have a row."""
    by_number = {row.number: row for row in _rows()}
    known = _signatures()
    by_heading: dict[str, list[_Row]] = {}
    for row in _rows():
        by_heading.setdefault(row.heading, []).append(row)
    found = []
    for rule in book.rules:
        if rule.is_heading:
            continue
        heading = next(iter(book.path(rule.number)[::-1]), "").lower()
        # The last word of a text that is cut off may be half a word.
        words = signature(rule.text.rpartition(" ")[0] if rule.truncated else rule.text)
        near = [
            # Of two wordings that are as near, the one that did not move.
            (
                _alike(words, known[row.number], rule.truncated),
                row.number == rule.number,
                row.number,
            )
            for row in (*by_heading.get(heading, ()), by_number.get(rule.number))
            if row
        ]
        alike, _, number = max(near, default=(0.0, False, ""))
        if alike >= _SAME:
            if rule.truncated:  # what is left does not show a word that was turned around
                unchanged = rule.edition == EDITION and alike >= _UNCHANGED
            else:
                unchanged = wording_digest(rule.text) == by_number[number].wording
            found.append(Match(rule.number, number, unchanged))
    return found


def _covered(book: Edition, found: Sequence[Match]) -> bool:
    """Whether most rules of a book have questions."""
    return len(found) >= _COVERED * sum(not rule.is_heading for rule in book.rules)


@cache
def _signatures() -> Mapping[str, frozenset[int]]:
    """The signature of each row's rule, kept as four hexadecimal digits a word."""
    return {
        row.number: frozenset(
            int(row.signature[at : at + 4], 16) for at in range(0, len(row.signature), 4)
        )
        for row in _rows()
    }


def _alike(words: frozenset[int], others: frozenset[int], truncated: bool) -> float:
    return len(words & others) / max(1, len(words if truncated else words | others))


@cache
def _questions() -> list[str]:
    return [question for row in _rows() for question in row.questions]


@cache
def _answers() -> list[str]:
    """The answer to each of the questions."""
    return [answer for row in _rows() for answer in row.answers]


def _each_row() -> list[str]:
    """The number of the row that each of the questions belongs to."""
    return [row.number for row in _rows() for _ in row.questions]


@cache
def _answered_places() -> Mapping[str, Sequence[int]]:
    """Which of the questions have an answer, by the number of their row."""
    places: dict[str, list[int]] = {}
    for at, (number, answer) in enumerate(zip(_each_row(), _answers(), strict=True)):
        if answer:
            places.setdefault(number, []).append(at)
    return places


@cache
def _rows() -> list[_Row]:
    """The rules that have questions."""
    rows = map(json.loads, _EXPANSIONS.read_text(encoding="utf-8").splitlines())
    return [
        _Row(
            row["number"],
            row["heading"],
            row["signature"],
            row["wording"],
            row["questions"],
            row["answers"],
        )
        for row in rows
    ]

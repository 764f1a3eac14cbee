"""Document expansion: questions that players might ask, attached to the rule that decides them.

A player's words are often far from the rule's but close to another player's. expansions.jsonl has
about eight questions for each rule of one full release, each with its answer. A rule of any edition
uses the questions of the rule with the same heading or number with which it shares most words, so
that renumbered rules keep theirs. BM25 indexes questions and answers with the rule; players and the
language model see the most similar ones, but only if the rule reads as it did when they were
answered. All this works only with the default embedding model, for which the vectors ship.
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
_SAME_RULE = 0.7  # share of words that two wordings of one rule have in common
_SAME_PLACE = 0.3  # the same share is enough under the same heading and number
_SAME_TRUNCATED = 0.95  # share of the words that are left of a rule that is cut off in its source
_MIN_SIMILARITY = (
    0.6  # least cosine of two questions for the answer to one to be relevant to the other
)
_CANDIDATES = 400  # questions that are looked at for the rules they belong to
_QUOTES = "[\"'“”‘’]"
_MIN_COVERAGE = 0.8  # share of a book's rules that must have questions for them to be used


class NearestQuestions(NamedTuple):
    """How the expansion questions compare with a user's question."""

    similarity: float | None  # of the nearest one; None if most rules have no questions
    scores: Mapping[str, float]  # of the nearest rules, in deviations above the mean


NONE = NearestQuestions(None, {})


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """An expansion question of a rule, with its answer."""

    number: str
    question: str
    answer: str  # starts with yes or no if the question asks for it
    similarity: float  # cosine of this question and the one that is asked
    edition: str = EDITION  # of the rule that it was answered from, which reads the same today


class Expansion:
    """The expansion questions of one book's rules; `vectors` are those of all shipped questions."""

    def __init__(self, edition: Edition, vectors: "Vectors") -> None:
        found = matches(edition)
        owners: dict[str, list[str]] = {}
        for match in found:
            owners.setdefault(match.row, []).append(match.rule)
        self._owners = [owners.get(row, []) for row in _each_row()]
        self._unchanged = {match.rule: match.row for match in found if match.unchanged}
        self._vectors = vectors
        self._covered = _covered(edition, found)

    def nearest(self, vector: "Vectors") -> NearestQuestions:
        """The rules whose questions are most similar to this one."""
        import numpy as np

        similarity = self._vectors @ vector
        mean, spread = float(similarity.mean()), max(float(similarity.std()), 1e-6)
        order = np.argpartition(-similarity, _CANDIDATES)[:_CANDIDATES]
        scores: dict[str, float] = {}
        for at in order[np.argsort(-similarity[order])].tolist():
            for rule in self._owners[at]:
                scores.setdefault(rule, (float(similarity[at]) - mean) / spread)
        best = max(scores.values(), default=0.0) * spread + mean
        return NearestQuestions(best if self._covered else None, scores)

    def similar_questions(
        self, vector: "Vectors", rules: Sequence[str], count: int
    ) -> list[AnsweredQuestion]:
        """The answered questions about these rules most similar to this one, best first."""
        import numpy as np

        rows: dict[str, str] = {}  # if two rules share a row, the first one
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
            if similar >= _MIN_SIMILARITY
        ]


@cache
def vectors(model: str) -> "Vectors | None":
    """The vectors of all questions for an embedding model's hash; None if none ship."""
    return shipped_vectors.load(VECTORS, _questions(), model)


def words_beside(edition: Edition) -> Mapping[str, str]:
    """The questions and answers of each rule in a book, as extra words for BM25.

    Empty if too few rules have questions: the other rules would be at a disadvantage.
    """
    found = matches(edition)
    if not _covered(edition, found):
        return {}
    beside = {row.number: " ".join([*row.questions, *row.answers]) for row in _rows()}
    return {match.rule: beside[match.row] for match in found}


@cache
def digest(model: str) -> str | None:
    """Identifies the version of the questions and answers; None if none ship for a model."""
    if not shipped_vectors.ship_for(VECTORS, _questions(), model):
        return None
    return files.digest(_EXPANSIONS)


def signature(text: str) -> frozenset[int]:
    """Hashes of a rule's stems, to compare wordings without shipping the words."""
    return frozenset(zlib.crc32(stem.encode()) & 0xFFFF for stem in stems(text))


def wording_digest(text: str) -> str:
    """Identifies a rule's wording, ignoring the numbers of other rules that it refers to."""
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
    answers: Sequence[str]  # one for each question; empty if the rule alone does not settle it


class Match(NamedTuple):
    """A rule of a book and its row in expansions.jsonl."""

    rule: str
    row: str
    unchanged: bool  # the rule reads as it did when the row's questions were answered


def matches(edition: Edition) -> list[Match]:
    """The rules of a book that have a row."""
    by_number = {row.number: row for row in _rows()}
    known = _signatures()
    by_heading: dict[str, list[_Row]] = {}
    for row in _rows():
        by_heading.setdefault(row.heading, []).append(row)
    found = []
    for rule in edition.rules:
        if rule.is_heading:
            continue
        heading = next(iter(edition.path(rule.number)[::-1]), "").lower()
        # The last word of a truncated text may be incomplete.
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
        in_place = number == rule.number and by_number[number].heading == heading
        if alike >= (_SAME_PLACE if in_place else _SAME_RULE):
            if rule.truncated:  # what is left does not show a word that was turned around
                unchanged = rule.edition == EDITION and alike >= _SAME_TRUNCATED
            else:
                unchanged = wording_digest(rule.text) == by_number[number].wording
            found.append(Match(rule.number, number, unchanged))
    return found


def _covered(edition: Edition, found: Sequence[Match]) -> bool:
    """Whether most rules of a book have questions."""
    return len(found) >= _MIN_COVERAGE * sum(not rule.is_heading for rule in edition.rules)


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

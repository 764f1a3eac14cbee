"""Out-of-scope topics: parts of the rulebook that are not loaded, and things that are not rules.

out_of_scope.toml describes such topics, out_of_scope.jsonl has questions about them, since a new
question is often similar to an earlier one. Their vectors ship as out_of_scope.npz for the default
embedding model; for any other they are computed once and cached.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from index import shipped_vectors
from index.embedder import Embedder, Progress
from index.rulebook import Edition

if TYPE_CHECKING:
    from index.embedder import Vectors

_SUBJECTS = Path(__file__).with_name("out_of_scope.toml")
_QUESTIONS = Path(__file__).with_name("out_of_scope.jsonl")
VECTORS = Path(__file__).with_name("out_of_scope.npz")


class Neighbour(NamedTuple):
    """The most similar out-of-scope topic."""

    section: str | None  # the section it belongs to; None for topics that are not rules
    similarity: float


class _Phrase(NamedTuple):
    needs: str | None  # a rule or a section; None for topics that are not rules
    text: str


class OutOfScope:
    """The topics that a book does not cover, ready to be compared with questions."""

    def __init__(
        self, edition: Edition, embedder: Embedder, progress: Progress | None = None
    ) -> None:
        phrases = _phrases()
        kept = [
            at
            for at, phrase in enumerate(phrases)
            if phrase.needs is None or not (edition.is_whole or phrase.needs in edition)
        ]
        vectors = shipped_vectors.load(VECTORS, _texts(), embedder.hash)
        if vectors is None:
            vectors = embedder.encode_passages(_texts(), progress)
        self._phrases = [phrases[at] for at in kept]
        self._vectors = vectors[kept]

    def nearest(self, vector: "Vectors") -> Neighbour:
        """The topic most similar to a question, given as a vector."""
        scores = self._vectors @ vector
        best = int(scores.argmax())
        needs = self._phrases[best].needs
        return Neighbour(needs and needs.split(".")[0], float(scores[best]))


def write_vectors(embedder: Embedder, progress: Progress | None = None) -> Path:
    """Compute the vectors that ship."""
    shipped_vectors.write(VECTORS, _texts(), embedder, progress)
    return VECTORS


def _texts() -> list[str]:
    return [phrase.text for phrase in _phrases()]


@cache
def _phrases() -> list[_Phrase]:
    """Every topic, as a whole and sentence by sentence, and every question."""
    table = tomllib.loads(_SUBJECTS.read_text(encoding="utf-8"))
    subjects = [
        _Phrase(number, text) for number, those in table["sections"].items() for text in those
    ]
    subjects += [_Phrase(None, text) for those in table["others"].values() for text in those]
    questions = map(json.loads, _QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [
        *(
            _Phrase(subject.needs, phrase)
            for subject in subjects
            for phrase in [subject.text, *re.split(r"(?<=[.?!])\s+", subject.text)]
        ),
        *(_Phrase(row["needs"] or None, row["question"]) for row in questions),
    ]

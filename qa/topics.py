"""What a question may be about instead: parts of the rulebook that are not loaded, or no rules.

topics.toml names them, asked.jsonl has questions about them: one that a player asks is often near
one that was asked before.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from index.embed import Embedder, Progress
from index.rulebook import Edition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOPICS = Path(__file__).with_name("topics.toml")
_ASKED = Path(__file__).with_name("asked.jsonl")


class Topic(NamedTuple):
    section: str | None  # the section that it needs; None for what is no matter of rules
    similarity: float


class _Phrase(NamedTuple):
    needs: str | None  # a rule or a section; None for what is no matter of rules
    text: str


@cache
def _phrases() -> list[_Phrase]:
    """Every topic, whole and by sentences, and every question."""
    table = tomllib.loads(_TOPICS.read_text(encoding="utf-8"))
    topics = [
        _Phrase(number, text) for number, those in table["sections"].items() for text in those
    ]
    topics += [_Phrase(None, text) for those in table["others"].values() for text in those]
    asked = map(json.loads, _ASKED.read_text(encoding="utf-8").splitlines())
    return [
        *(
            _Phrase(topic.needs, phrase)
            for topic in topics
            for phrase in [topic.text, *re.split(r"(?<=[.?!])\s+", topic.text)]
        ),
        *(_Phrase(row["needs"] or None, row["question"]) for row in asked),
    ]


class Topics:
    """The topics that a book does not hold, ready to be compared with questions."""

    def __init__(self, book: Edition, embedder: Embedder, progress: Progress | None = None) -> None:
        whole = any(stretch.first == "" for stretch in book.stretches)
        self._phrases = [
            phrase
            for phrase in _phrases()
            if phrase.needs is None or not (whole or phrase.needs in book)
        ]
        texts = [phrase.text for phrase in self._phrases]
        self._vectors = embedder.encode_passages(texts, progress)

    def nearest(self, vector: "NDArray[np.float32]") -> Topic:
        scores = self._vectors @ vector
        best = int(scores.argmax())
        needs = self._phrases[best].needs
        return Topic(needs and needs.split(".")[0], float(scores[best]))

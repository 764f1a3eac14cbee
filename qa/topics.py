"""What a question may be about instead: parts of the rulebook that are not loaded, or no rules."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from index.embed import Embedder
from index.rulebook import Edition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FILE = Path(__file__).with_name("topics.toml")


class Topic(NamedTuple):
    section: str | None  # the number that is not loaded; None for what is no matter of rules
    name: str
    similarity: float


@cache
def _phrases() -> list[tuple[str | None, str, str]]:
    """Every phrase of topics.toml with its section and name."""
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    entries = [
        (number, number, text) for number, texts in table["sections"].items() for text in texts
    ]
    entries += [(None, name, text) for name, texts in table["others"].items() for text in texts]
    return [
        (section, name, phrase)
        for section, name, text in entries
        for phrase in [text, *re.split(r"(?<=[.?!])\s+", text)]
    ]


class Topics:
    """The topics that a book does not hold, ready to be compared with questions."""

    def __init__(self, book: Edition, embedder: Embedder) -> None:
        whole = any(stretch.first == "" for stretch in book.stretches)
        self._phrases = [
            phrase for phrase in _phrases() if phrase[0] is None or not (whole or phrase[0] in book)
        ]
        self._vectors = embedder.encode_passages([phrase for _, _, phrase in self._phrases])

    def nearest(self, vector: "NDArray[np.float32]") -> Topic:
        scores = self._vectors @ vector
        best = int(scores.argmax())
        section, name, _ = self._phrases[best]
        return Topic(section, name, float(scores[best]))

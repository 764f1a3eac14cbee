"""Reads a question and the first rules that search found together: which of them decides?

It is slower than comparing vectors, so that search shows it only the first few rules.
"""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from index import files, tuned
from index.embed import PLAIN, Embedder
from index.errors import SticklerError
from index.hits import Found, Hit
from index.rulebook import Edition

if TYPE_CHECKING:
    import torch

    from index.pairs import Reader

NONE = "none"
DEFAULT = NONE  # none ships: what was trained so far does not find the rule more often
READ = 20  # rules that are read with a question, the first that search found
_PAIRS = 128  # that are read before another thread has its turn
_KEPT = 2000  # rules whose reading apart is kept, some 60 KB each


class Reranker:
    """Tuned weights by their file; loaded when first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one = threading.Lock()  # a tokenizer that two threads use at once fails
        self._rules: dict[str, torch.Tensor] = {}

    @cached_property
    def hash(self) -> str:
        self.load()  # a file that is not there or not whole is told in words
        return files.digest(self._path)[:16]

    def load(self) -> None:
        """Load now what the first reading would wait for."""
        with self._one:
            _ = self._reader

    @cached_property
    def _reader(self) -> "Reader":
        from index.pairs import Reader

        base = Embedder(PLAIN).folder
        tensors = tuned.read(self._path, base)
        reader = Reader(base)
        tuned.lay_over(reader, tensors)
        return reader.eval()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """How sure it is of each question and rule that the rule decides, as a logit."""
        import torch

        found: list[float] = []
        for start in range(0, len(pairs), _PAIRS):
            with self._one, torch.inference_mode():
                read = self._read(pairs[start : start + _PAIRS])
            found += read.tolist()
        return found

    def _read(self, pairs: Sequence[tuple[str, str]]) -> "torch.Tensor":
        from index.pairs import Pair

        asked, rules = (list(dict.fromkeys(texts)) for texts in zip(*pairs, strict=True))
        questions = dict(zip(asked, self._reader.apart(asked), strict=True))
        new = [rule for rule in rules if rule not in self._rules]
        self._rules |= zip(new, self._reader.apart(new), strict=True)
        read: torch.Tensor = self._reader([Pair(questions[q], self._rules[r]) for q, r in pairs])
        for oldest in list(self._rules)[: max(0, len(self._rules) - _KEPT)]:
            del self._rules[oldest]
        return read


def named(name: str) -> Reranker | None:
    """The reader in a file; none where search is to do without."""
    if name == NONE:
        return None
    if not name.endswith(tuned.ENDING):
        raise SticklerError(
            f"There is no reranker '{name}': name a file that 'stickler tune reranker' made, or "
            f"'{NONE}' to do without."
        )
    return Reranker(Path(name).expanduser())


def as_read(heading: str, text: str) -> str:
    """A rule as it is read."""
    return f"{heading}: {text}"


def reread(
    reranker: Reranker,
    weight: float,
    book: Edition,
    questions: Sequence[str],
    found: Sequence[Found],
    k: int,
) -> list[Found]:
    """The first rules of each question, in the order that they have after reading."""
    to_read = [first(one, READ) for one in found]
    pairs = [
        (question, _text(hit, book))
        for question, hits in zip(questions, to_read, strict=True)
        for hit in hits
    ]
    read = iter(reranker.read(pairs))
    reread = []
    for one, hits in zip(found, to_read, strict=True):
        readings = {hit.passage.number: next(read) for hit in hits}
        hits, evidence = reordered(one, readings, weight, k)
        reread.append(Found(hits, replace(evidence, readings=readings)))
    return reread


def first(found: Found, count: int) -> list[Hit]:
    """The first hits of those that were not asked for by number."""
    return [hit for hit in found.hits if "number" not in hit.via][:count]


def _text(hit: Hit, book: Edition) -> str:
    """The rule itself, also where search found it by its example."""
    rule = book.by_number.get(hit.passage.number)
    if rule is not None and hit.passage.kind == "example":
        return as_read(rule.heading, rule.text)
    return as_read(hit.passage.heading, hit.passage.shown)


def reordered(found: Found, readings: Mapping[str, float], weight: float, k: int) -> Found:
    """The hits anew, those that were read by their score and what was read; the best k.

    What is read above or below the mean of all counts: scores stay on their scale. Rules that were
    asked for by number stay where they are.
    """
    mean = sum(readings.values()) / max(1, len(readings))
    read = [
        replace(hit, score=round(hit.score + weight * (readings[hit.passage.number] - mean), 4))
        for hit in found.hits
        if hit.passage.number in readings
    ]
    others = [hit for hit in found.hits if hit.passage.number not in readings]
    by_number = [hit for hit in others if "number" in hit.via]
    least = min((hit.score for hit in read), default=math.inf)  # none beyond may score more
    beyond = [
        replace(hit, score=min(hit.score, least)) for hit in others if "number" not in hit.via
    ]
    ranked = [*by_number, *sorted(read, key=lambda hit: -hit.score), *beyond]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(ranked[:k], 1)]
    return found._replace(hits=hits)

"""Reads a question and a rule together: does the rule decide it, and does it say yes?

A cross-encoder tuned from the same weights as the embedding model. It is slower than comparing
vectors, so that search shows it only the first few rules.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files, tuned
from index.embed import PLAIN, Embedder
from index.errors import SticklerError
from index.hits import Found, Hit, Reading
from index.rulebook import Edition

if TYPE_CHECKING:
    import torch

LONGEST = 144  # tokens of question and rule together
NONE = "none"
DEFAULT = NONE  # none ships: what was trained so far puts the rule first more often, not among five
READ = 20  # rules that are read with a question, the first that search found
_BATCH = 32


class Reranker:
    """Tuned weights by their file; loaded when first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one = threading.Lock()  # a tokenizer that two threads use at once fails

    @cached_property
    def hash(self) -> str:
        return files.digest(self._path)[:16]

    @cached_property
    def _parts(self) -> tuple[Any, Any, "torch.Tensor", "torch.Tensor"]:
        from transformers import AutoModel, AutoTokenizer

        base = Embedder(PLAIN).folder
        tensors = tuned.read(self._path, base)
        head = tensors.pop("head.weight"), tensors.pop("head.bias")
        model = AutoModel.from_pretrained(base)
        tuned.lay_over(model, tensors)
        return AutoTokenizer.from_pretrained(base), model.eval(), *head

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """What each question and rule make together."""
        import torch

        order = sorted(range(len(pairs)), key=lambda at: sum(map(len, pairs[at])))
        found: dict[int, Reading] = {}
        with self._one, torch.inference_mode():
            tokenizer, model, weight, bias = self._parts
            for start in range(0, len(order), _BATCH):
                places = order[start : start + _BATCH]
                encoded = encode(tokenizer, [pairs[at] for at in places])
                logits = mean(model, encoded) @ weight.T + bias
                found |= zip(places, (Reading(*row) for row in logits.tolist()), strict=True)
        return [found[at] for at in range(len(pairs))]


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


def reread(
    reranker: Reranker,
    weight: float,
    book: Edition,
    questions: Sequence[str],
    found: Sequence[Found],
    k: int,
) -> list[Found]:
    """The first rules of each question, in the order that they have after reading."""
    pairs = [
        (question, _text(hit, book))
        for question, (hits, _) in zip(questions, found, strict=True)
        for hit in hits[:READ]
    ]
    readings = iter(reranker.read(pairs))
    return [
        _reordered(one, {hit.passage.number: next(readings) for hit in one.hits[:READ]}, weight, k)
        for one in found
    ]


def _text(hit: Hit, book: Edition) -> str:
    """The rule itself, also where search found it by its example."""
    rule = book.by_number.get(hit.passage.number)
    return f"{hit.passage.heading}: {rule.text if rule else hit.passage.shown}"


def _reordered(found: Found, readings: dict[str, Reading], weight: float, k: int) -> Found:
    read = [
        replace(hit, score=round(hit.score + weight * readings[hit.passage.number].decides, 4))
        for hit in found.hits[: len(readings)]
    ]
    ranked = sorted(read, key=lambda hit: -hit.score) + found.hits[len(readings) :]
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(ranked[:k], 1)]
    return Found(hits, replace(found.evidence, readings=readings))


def encode(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> Any:
    """Questions and rules as the model takes them; the longer of the two is cut first."""
    questions, rules = zip(*pairs, strict=True)
    return tokenizer(
        list(questions),
        list(rules),
        truncation="longest_first",
        max_length=LONGEST,
        padding=True,
        return_tensors="pt",
    )


def mean(model: Any, encoded: Any) -> "torch.Tensor":
    """The mean over the tokens of each text."""
    states = model(**encoded).last_hidden_state
    weights = encoded["attention_mask"].unsqueeze(-1).float()
    total: torch.Tensor = (states * weights).sum(1) / weights.sum(1)
    return total

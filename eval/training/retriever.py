"""Contrastive training of the retriever: a question's vector moves towards its deciding rule's.

Every rule is a negative for each question. The rules of a batch, including siblings of the deciding
ones, are re-encoded in each step; the vectors of all others are a few steps old.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.training import encoder
from eval.training.data import Data

if TYPE_CHECKING:
    import torch

_BATCH = 64  # questions of a step
_SAME_GROUP = 10  # questions about one group of rules in a step, at most
_SIBLINGS = 3  # hard negatives per group: rules that decide none of these questions
_SCALE = 20.0  # the inverse of the temperature
_MAX_LENGTH = 128  # tokens of a question or a rule


class Retriever:
    """A task for `loop.train`; `frozen` lower layers of the encoder stay as they are."""

    checkpoint = 50

    def __init__(self, data: Data, frozen: int) -> None:
        self._data = data
        self._tokenizer, self._model = encoder.load(frozen)
        self.modules = {"": self._model}
        self._siblings: dict[str, list[str]] = {}
        for number, rule in data.rules.items():
            self._siblings.setdefault(rule.group, []).append(number)

    def batches(self, rng: random.Random) -> list[list[int]]:
        """Batches with several questions about the same group of rules in each."""
        by_group: dict[str, list[int]] = {}
        for place, question in enumerate(self._data.questions):
            by_group.setdefault(self._group(question.rules[0]), []).append(place)
        parts = []
        for those in by_group.values():
            rng.shuffle(those)
            parts += [those[at : at + _SAME_GROUP] for at in range(0, len(those), _SAME_GROUP)]
        rng.shuffle(parts)
        batches: list[list[int]] = [[]]
        for part in parts:
            if len(batches[-1]) + len(part) > _BATCH:
                batches.append([])
            batches[-1] += part
        return batches

    def refresh(self) -> None:
        """Encode all rules with the model as it is now."""
        import torch

        self._order = sorted(self._data.rules, key=lambda n: len(self._data.rules[n].embedded))
        with torch.no_grad():
            parts = [
                self._rules(self._order[at : at + 32]) for at in range(0, len(self._order), 32)
            ]
        self._vectors = torch.cat(parts)

    def loss(self, batch: Sequence[int], rng: random.Random) -> "torch.Tensor":
        import torch

        questions = [self._data.questions[place] for place in batch]
        vectors = self._encode([q.text for q in questions])
        fresh = self._fresh([q.rules for q in questions], rng)
        now = self._rules(fresh)
        others = [at for at, number in enumerate(self._order) if number not in set(fresh)]
        columns = {n: at for at, n in enumerate(fresh + [self._order[o] for o in others])}
        scores = _SCALE * vectors @ torch.cat([now, self._vectors[others]]).T
        for row, question in enumerate(questions):
            for also in question.rules[1:]:  # it decides too: neither the target nor a negative
                scores[row, columns[also]] = -1e4
        return torch.nn.functional.cross_entropy(
            scores, torch.tensor([columns[q.rules[0]] for q in questions])
        )

    def _fresh(self, decisive: Sequence[Sequence[str]], rng: random.Random) -> list[str]:
        """The rules that decide the questions, and some of their siblings."""
        wanted = {number: None for numbers in decisive for number in numbers}
        fresh = dict(wanted)
        for group in dict.fromkeys(self._group(numbers[0]) for numbers in decisive):
            others = [number for number in self._siblings[group] if number not in wanted]
            fresh |= dict.fromkeys(rng.sample(others, min(_SIBLINGS, len(others))))
        return list(fresh)

    def _rules(self, those: Sequence[str]) -> "torch.Tensor":
        return self._encode([self._data.rules[number].embedded for number in those])

    def _encode(self, texts: Sequence[str]) -> "torch.Tensor":
        return encoder.encode(self._tokenizer, self._model, texts, _MAX_LENGTH)

    def _group(self, number: str) -> str:
        return self._data.rules[number].group

"""The retriever learns to bring a question near the rule that decides it.

Each question is set against every rule at once: those of its batch, its siblings among them, as the
model sees them now, all others as it saw them a few steps ago.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.training import encoder
from eval.training.data import Data

if TYPE_CHECKING:
    import torch

_QUESTIONS = 64  # a step
_TOGETHER = 10  # questions about one group of rules in a step, at most
_SIBLINGS = 3  # rules of that group that decide none of them
_SHARPNESS = 20.0  # what a difference of one in similarity counts
_LONGEST = 128  # tokens of a question or a rule


class Retriever:
    def __init__(self, data: Data, frozen: int) -> None:
        self._data = data
        self._tokenizer, self._model = encoder.trunk(frozen)
        self.modules = {"": self._model}
        self._siblings: dict[str, list[str]] = {}
        for number, rule in data.rules.items():
            self._siblings.setdefault(rule.group, []).append(number)

    def batches(self, chance: random.Random) -> list[list[int]]:
        by_group: dict[str, list[int]] = {}
        for place, question in enumerate(self._data.questions):
            by_group.setdefault(self._group(question.rules[0]), []).append(place)
        few = []
        for those in by_group.values():
            chance.shuffle(those)
            few += [those[at : at + _TOGETHER] for at in range(0, len(those), _TOGETHER)]
        chance.shuffle(few)
        batches: list[list[int]] = [[]]
        for those in few:
            if len(batches[-1]) + len(those) > _QUESTIONS:
                batches.append([])
            batches[-1] += those
        return batches

    def refresh(self) -> None:
        """All rules as the model sees them now."""
        import torch

        self._order = sorted(self._data.rules, key=lambda n: len(self._data.rules[n].embedded))
        with torch.no_grad():
            parts = [
                self._rules(self._order[at : at + 32]) for at in range(0, len(self._order), 32)
            ]
        self._known = torch.cat(parts)

    def loss(self, batch: Sequence[int], chance: random.Random) -> "torch.Tensor":
        import torch

        questions = [self._data.questions[place] for place in batch]
        asked = encoder.vectors(self._tokenizer, self._model, [q.text for q in questions], _LONGEST)
        fresh = self._fresh([q.rules for q in questions], chance)
        now = self._rules(fresh)
        others = [at for at, number in enumerate(self._order) if number not in set(fresh)]
        columns = {n: at for at, n in enumerate(fresh + [self._order[o] for o in others])}
        scores = _SHARPNESS * asked @ torch.cat([now, self._known[others]]).T
        for row, question in enumerate(questions):
            for also in question.rules[1:]:  # it decides too: neither wanted first nor wrong
                scores[row, columns[also]] = -1e4
        return torch.nn.functional.cross_entropy(
            scores, torch.tensor([columns[q.rules[0]] for q in questions])
        )

    def _fresh(self, decisive: Sequence[Sequence[str]], chance: random.Random) -> list[str]:
        """The rules that decide, and some of their siblings."""
        wanted = {number: None for numbers in decisive for number in numbers}
        fresh = dict(wanted)
        for group in dict.fromkeys(self._group(numbers[0]) for numbers in decisive):
            others = [number for number in self._siblings[group] if number not in wanted]
            fresh |= dict.fromkeys(chance.sample(others, min(_SIBLINGS, len(others))))
        return list(fresh)

    def _rules(self, those: Sequence[str]) -> "torch.Tensor":
        texts = [self._data.rules[number].embedded for number in those]
        return encoder.vectors(self._tokenizer, self._model, texts, _LONGEST)

    def _group(self, number: str) -> str:
        return self._data.rules[number].group

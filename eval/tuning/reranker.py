"""The reranker learns to tell the rule that decides from near misses.

Each question is read with the rule that decides it and a few that only look like it.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.tuning import near
from eval.tuning.data import Data
from eval.tuning.loop import by_length
from index.embed import Embedder

if TYPE_CHECKING:
    import torch

_QUESTIONS = 12  # a step
_WRONG = 4  # rules that each is read with beside the right one
_LONGEST = 64  # tokens of a question, here: of a long story the beginning


class Reranker:
    def __init__(self, data: Data, base: Embedder) -> None:
        from index.pairs import Reader

        self._data = data
        self._reader = Reader(base.folder).train()
        self.modules = {"": self._reader}
        self._near = near.misses(data, base)
        # The lower layers stay as they are, so each text goes through them once.
        self._asked = self._reader.apart([q.text for q in data.questions], _LONGEST)
        rules = [rule.shown for rule in data.rules.values()]
        self._rules = dict(zip(data.rules, self._reader.apart(rules), strict=True))

    def batches(self, chance: random.Random) -> list[list[int]]:
        places = list(range(len(self._data.questions)))
        chance.shuffle(places)
        return by_length(places, self._length, _QUESTIONS, chance)

    def refresh(self) -> None:
        """Nothing here is computed only now and then."""

    def loss(self, batch: Sequence[int], chance: random.Random) -> "torch.Tensor":
        import torch
        from torch.nn.functional import cross_entropy

        from index.pairs import Pair

        questions = [self._data.questions[place] for place in batch]
        pairs = [
            Pair(self._asked[place], self._rules[number])
            for place, question in zip(batch, questions, strict=True)
            for number in (question.rules[0], *near.drawn(self._near[place], _WRONG, chance))
        ]
        logits = self._reader(pairs).view(len(batch), 1 + _WRONG)
        return cross_entropy(logits, torch.zeros(len(batch), dtype=torch.long))

    def _length(self, place: int) -> int:
        return len(self._rules[self._data.questions[place].rules[0]])

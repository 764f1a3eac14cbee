"""The reranker learns to tell the rule that decides from near misses, and what it then says.

Each question is read with the rule that decides it and a few that only look like it; one logit
says which decides, the other whether the deciding rule says yes.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.tuning import encoder
from eval.tuning.data import Data
from eval.tuning.loop import by_length
from index.embed import Embedder

if TYPE_CHECKING:
    import torch

_QUESTIONS = 12  # a step
_WRONG = 2  # rules that each is read with beside the right one
_NEAR = 16  # they are drawn from the nearest so many, the nearest most often


class Reranker:
    def __init__(self, data: Data, frozen: int, retriever: Embedder) -> None:
        import torch

        self._data = data
        self._tokenizer, self._model = encoder.trunk(frozen)
        self._head = torch.nn.Linear(self._model.config.hidden_size, 2)
        self.modules = {"": self._model, "head.": self._head}
        self._near = _near_misses(data, retriever)

    def batches(self, chance: random.Random) -> list[list[int]]:
        places = list(range(len(self._data.questions)))
        chance.shuffle(places)
        return by_length(places, self._length, _QUESTIONS, chance)

    def refresh(self) -> None:
        """Nothing here is computed only now and then."""

    def loss(self, batch: Sequence[int], chance: random.Random) -> "torch.Tensor":
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

        pairs = []
        for place in batch:
            question = self._data.questions[place]
            for number in (question.rules[0], *_drawn(self._near[place], chance)):
                pairs.append((question.text, self._data.rules[number].shown))
        logits = self._head(encoder.pairs(self._tokenizer, self._model, pairs))
        logits = logits.view(len(batch), 1 + _WRONG, 2)
        decides = cross_entropy(logits[:, :, 0], torch.zeros(len(batch), dtype=torch.long))
        verdicts = [self._data.questions[place].verdict for place in batch]
        told = [row for row, verdict in enumerate(verdicts) if verdict]
        if not told:
            return decides
        truth = torch.tensor([float(verdicts[row] == "yes") for row in told])
        return decides + binary_cross_entropy_with_logits(logits[told, 0, 1], truth)

    def _length(self, place: int) -> int:
        return len(self._data.rules[self._data.questions[place].rules[0]].shown)


def _near_misses(data: Data, retriever: Embedder) -> list[list[str]]:
    """For each question the rules that the retriever finds and that do not decide it."""
    numbers = list(data.rules)
    rules = retriever.encode_passages([data.rules[number].embedded for number in numbers])
    asked = retriever.encode_questions([question.text for question in data.questions])
    found = []
    for question, scores in zip(data.questions, asked @ rules.T, strict=True):
        nearest = [numbers[at] for at in (-scores).argsort()[: _NEAR + len(question.rules)]]
        found.append([number for number in nearest if number not in question.rules][:_NEAR])
    return found


def _drawn(near: Sequence[str], chance: random.Random) -> list[str]:
    drawn: dict[str, None] = {}
    weights = [1 / (2 + place) for place in range(len(near))]
    while len(drawn) < _WRONG:
        drawn[chance.choices(near, weights)[0]] = None
    return list(drawn)

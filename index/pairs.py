"""The network that reads a question and a rule together.

Its lower layers are those of the embedding model and read each text apart, so that a rule is read
only once for all questions; the upper layers read both together. It begins with the weights of the
embedding model, compares the two by their means as that does, and learns what this misses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import cosine_similarity
from torch.nn.utils.rnn import pad_sequence

_APART = 3  # of six layers
LONGEST = 128  # tokens of a question or a rule
_TOGETHER = 16  # texts or pairs of about the same length that are read at once: little is padding


class Pair(NamedTuple):
    """A question and a rule, both read apart."""

    question: torch.Tensor
    rule: torch.Tensor


class Reader(torch.nn.Module):
    def __init__(self, base: Path) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        super().__init__()
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self._tokenizer: Any = AutoTokenizer.from_pretrained(base)
        # No dropout: in training it would cost a fifth of the time.
        none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        model = AutoModel.from_pretrained(base, **none)
        self.words = model.embeddings.requires_grad_(False)
        self.lower = model.encoder.layer[:_APART].requires_grad_(False)
        self.upper = model.encoder.layer[_APART:]
        size = model.config.hidden_size
        self.sides = torch.nn.Parameter(torch.zeros(2, size))  # tell the question from the rule
        self.sharpness = torch.nn.Parameter(torch.tensor(12.0))
        self.head = torch.nn.Linear(2 * size, 1)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)

    def apart(self, texts: Sequence[str], longest: int = LONGEST) -> list[torch.Tensor]:
        """Each text as the lower layers leave it, in half precision."""
        found: dict[int, torch.Tensor] = {}
        with torch.no_grad():
            for places in _parts([len(text) for text in texts]):
                encoded = self._tokenizer(
                    [texts[at] for at in places],
                    truncation=True,
                    max_length=longest,
                    padding=True,
                    return_tensors="pt",
                )
                mask = encoded["attention_mask"]
                states = _through(self.lower, self.words(encoded["input_ids"]), mask)
                for at, state, length in zip(places, states, mask.sum(1).tolist(), strict=True):
                    found[at] = state[:length].half()
        return [found[at] for at in range(len(texts))]

    def forward(self, pairs: Sequence[Pair]) -> torch.Tensor:
        """For each pair a logit: that the rule decides the question."""
        parts = _parts([len(question) + len(rule) for question, rule in pairs])
        read = torch.cat([self._together([pairs[at] for at in places]) for places in parts])
        return read[torch.tensor([at for places in parts for at in places]).argsort()]

    def _together(self, pairs: Sequence[Pair]) -> torch.Tensor:
        states = pad_sequence([torch.cat(pair).float() for pair in pairs], batch_first=True)
        places = torch.arange(states.shape[1])
        first = torch.tensor([[len(pair.question)] for pair in pairs])
        last = first + torch.tensor([[len(pair.rule)] for pair in pairs])
        asked, said = places < first, (places >= first) & (places < last)
        sides = torch.where(asked.unsqueeze(-1), self.sides[0], self.sides[1])
        states = _through(self.upper, states + sides, asked | said)
        question, rule = _mean(states, asked), _mean(states, said)
        alike = self.sharpness * cosine_similarity(question, rule)
        logits: torch.Tensor = self.head(torch.cat([question, rule], dim=-1)).squeeze(-1)
        return logits + alike


def _parts(lengths: Sequence[int]) -> list[list[int]]:
    order = sorted(range(len(lengths)), key=lambda at: lengths[at])
    return [order[at : at + _TOGETHER] for at in range(0, len(order), _TOGETHER)]


def _through(layers: Any, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    hidden = (mask[:, None, None, :] == 0) * torch.finfo(states.dtype).min
    for layer in layers:
        states = layer(states, attention_mask=hidden)
    return states


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)

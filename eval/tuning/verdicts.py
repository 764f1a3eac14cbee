"""A reader learns to say yes or no to a question from the text of one rule.

It looks for the words of the rule that the answer hangs on, and reads the answer off them. Both are
learned from rules in two versions: where they differ is where it hangs, and whether yes or no is
the surer under the one or the other. What is easy comes first: claims about sentences of a rule.
"""

import difflib
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, gelu, softplus

from eval.tuning import encoder
from eval.tuning.contrasts import Contrasts, Family
from index import tuned
from index.embed import PLAIN, Embedder

if TYPE_CHECKING:
    from eval.tuning.data import Data

_READINGS = 32  # of a step, about: a question under one text is one
_ORDER = 2.0  # what the order of two versions counts, beside yes or no under each
_WHERE = 0.3  # what looking at the right words counts
_MOST = 0.6  # share of a text: where more of it differs, that says little
_RULE, _QUESTION = 128, 64  # tokens
_POOL = 400  # families that are put into batches by their length
_WIDE = 256


class Reader(torch.nn.Module):
    """The embedded encoder over rule and question; begins with its weights."""

    def __init__(self) -> None:
        super().__init__()
        self._tokenizer, trunk = encoder.trunk(frozen=0)
        self.words, self.layers = trunk.embeddings, trunk.encoder.layer
        size = trunk.config.hidden_size
        self.where = torch.nn.Linear(size, 1)
        torch.nn.init.zeros_(self.where.weight)
        self.hidden = torch.nn.Linear(3 * size, _WIDE)
        self.out = torch.nn.Linear(_WIDE, 1)

    def tokens(self, text: str, longest: int = _RULE) -> list[int]:
        found: list[int] = self._tokenizer(
            text, add_special_tokens=False, truncation=True, max_length=longest - 2
        )["input_ids"]
        return found

    def forward(self, pairs: Sequence[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
        """How much rather yes than no each rule says to its question; and where that was read."""
        start, end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        rules = [[start, *self.tokens(rule), end] for rule, _ in pairs]
        asked = [[*self.tokens(question, _QUESTION), end] for _, question in pairs]
        width = max(len(r) + len(q) for r, q in zip(rules, asked, strict=True))
        ids = torch.zeros(len(pairs), width, dtype=torch.long)
        part = torch.full((len(pairs), width), -1)  # 0 the rule, 1 the question, -1 nothing
        for row, (rule, question) in enumerate(zip(rules, asked, strict=True)):
            both = len(rule) + len(question)
            ids[row, :both] = torch.tensor(rule + question)
            part[row, : len(rule)] = 0
            part[row, len(rule) : both] = 1
        states = self.words(input_ids=ids, token_type_ids=(part == 1).long())
        unseen = (part == -1)[:, None, None] * torch.finfo(states.dtype).min
        for layer in self.layers:
            states = layer(states, attention_mask=unseen)
        looks = self.where(states).squeeze(-1).masked_fill(part != 0, -1e4).softmax(-1)
        said = (looks.unsqueeze(-1) * states).sum(1)
        weights = (part == 1).float().unsqueeze(-1)
        question = (states * weights).sum(1) / weights.sum(1)
        hidden = gelu(self.hidden(torch.cat([said, question, said * question], dim=-1)))
        return self.out(hidden).squeeze(-1), looks


class Verdicts:
    def __init__(self, data: "Data") -> None:
        self._contrasts = Contrasts(data)
        self.reader = Reader().train()
        self.modules = {"": self.reader}
        self.families: list[Family] = []  # of all epochs: each fills its blanks anew

    def batches(self, chance: random.Random) -> list[list[int]]:
        first = [] if self.families else self._contrasts.first(chance)
        found = []
        for families in (first, self._contrasts.all(chance)):
            start = len(self.families)
            self.families += families
            found += self._batches(range(start, len(self.families)), chance)
        return found

    def _batches(self, places: Sequence[int], chance: random.Random) -> list[list[int]]:
        found = []
        for start in range(0, len(places), _POOL):
            near = sorted(places[start : start + _POOL], key=self._length)
            parts: list[list[int]] = [[]]
            for place in near:
                if sum(self._readings(each) for each in parts[-1]) >= _READINGS:
                    parts.append([])
                parts[-1].append(place)
            chance.shuffle(parts)
            found += parts
        return found

    def _readings(self, place: int) -> int:
        return sum(len(told.asked) for told in self.families[place])

    def _length(self, place: int) -> int:
        return max(len(told.text) for told in self.families[place])

    def refresh(self) -> None:
        """Nothing here is computed only now and then."""

    def loss(self, batch: Sequence[int], chance: random.Random) -> torch.Tensor:
        pairs: list[tuple[str, str]] = []
        truth: list[bool] = []
        couples: list[tuple[int, int]] = []  # places of one question: where it is yes, where no
        spans: list[tuple[int, list[int]]] = []  # places, and the words that make the difference
        for place in batch:
            family = self.families[place]
            starts = []
            for told in family:
                starts.append(len(pairs))
                pairs += [(told.text, question) for question, _ in told.asked]
                truth += [yes for _, yes in told.asked]
            for one, other in pairwise(range(len(family))):
                found = _couples(family, one, other, starts)
                couples += [pair if truth[pair[0]] else pair[::-1] for pair in found]
                spans += self._spans(family[one].text, family[other].text, found)
        logits, looks = self.reader(pairs)
        loss = binary_cross_entropy_with_logits(logits, torch.tensor(truth).float())
        if couples:
            yes, no = torch.tensor(couples).T
            loss = loss + _ORDER * softplus(logits[no] - logits[yes]).mean()
        if spans:
            seen = torch.stack([looks[row, words].sum() for row, words in spans])
            loss = loss - _WHERE * seen.clamp_min(1e-6).log().mean()
        return loss

    def _spans(
        self, one: str, other: str, couples: Sequence[tuple[int, int]]
    ) -> list[tuple[int, list[int]]]:
        first, second = self.reader.tokens(one), self.reader.tokens(other)
        here, there = differing(first, second), differing(second, first)
        if not 0 < len(here) <= _MOST * len(first) or not there:
            return []
        return [span for a, b in couples for span in ((a, here), (b, there))]


def _couples(family: Family, one: int, other: int, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Where a question stands under the one text and the other, if its answer differs."""
    also = {question: (at, yes) for at, (question, yes) in enumerate(family[other].asked)}
    return [
        (starts[one] + at, starts[other] + also[question][0])
        for at, (question, yes) in enumerate(family[one].asked)
        if question in also and also[question][1] != yes
    ]


def differing(tokens: Sequence[int], others: Sequence[int]) -> list[int]:
    """Places of the tokens that others have not, or beside what only others have; from 1 on."""
    found: set[int] = set()
    for what, start, end, _, _ in difflib.SequenceMatcher(
        None, tokens, others, autojunk=False
    ).get_opcodes():
        if what != "equal":
            found |= set(range(start, end)) or {max(0, start - 1), min(len(tokens) - 1, start)}
    return sorted(at + 1 for at in found)  # the first token of all opens the text


def load(path: Path) -> Reader:
    """A reader that was tuned."""
    reader = Reader()
    tuned.lay_over(reader, tuned.read(path, Embedder(PLAIN).folder))
    return reader.eval()


def leans(reader: Reader, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """How much rather yes than no each rule says to its question, as a logit."""
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0]) + len(pairs[at][1]))
    found = [0.0] * len(pairs)
    for start in range(0, len(order), _READINGS):
        part = order[start : start + _READINGS]  # of about one length: little is padding
        with torch.inference_mode():
            logits: Any = reader([pairs[at] for at in part])[0].tolist()
        for at, logit in zip(part, logits, strict=True):
            found[at] = logit
    return found

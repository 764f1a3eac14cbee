"""Trains the language model to apply rules to facts: yes or no, and one sentence of explanation.

The questions of a pack are read as one sequence; each sees only the rules and itself. The loss
covers the yes or no, which version of a rule makes yes more likely, and the words of some answers.
If the deciding rule is missing, the target is an equal probability of yes and no.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from transformers import AttentionInterface

from eval.training.packs import Pack, Question, Unit
from qa import prompt, verdict
from qa.models import Prompt

_WORDED = 1  # yes/no questions per pack whose sentence is also learned
_WORDS = 0.5  # weight of the sentences
_SPLIT = "\x00"
_END = "<|im_end|>"


class Row(NamedTuple):
    """A pack as the model reads it."""

    tokens: list[int]
    places: list[int]
    owners: list[int]  # 0 for the rules, then a number for each question
    ends: list[int]  # where each yes/no question ends and its answer begins
    answers: list[tuple[int, list[int]]]  # where a sentence begins, and its tokens


class AnswerReader:
    """A task for `loop.train`: each step reads one unit."""

    checkpoint = 2  # steps of about 17 to 30 seconds

    def __init__(self, tokenizer: Any, model: Any, units: Sequence[Unit]) -> None:
        AttentionInterface.register(_row_by_row.__name__, _row_by_row)
        model.set_attn_implementation(_row_by_row.__name__)
        self.modules = {"": model}
        self._tokenizer, self._model, self._units = tokenizer, model, units
        self._yes, self._no = (self._ids(word)[0] for word in verdict.OPTIONS)

    def batches(self, rng: random.Random) -> list[list[int]]:
        """One unit a batch, in the order they came."""
        return [[at] for at in range(len(self._units))]

    def refresh(self) -> None:
        """Nothing is kept between steps."""

    def loss(self, batch: Sequence[int], rng: random.Random) -> torch.Tensor:
        """The loss of the yes and no, of their order between the versions, and of the sentences."""
        unit = self._units[batch[0]]
        (*scores, real), words = self.read([*unit.versions, unit.real])
        wanted = [_gold(pack) for pack in unit.versions]
        flips = wanted[0] - wanted[1]
        ahead = ((scores[0] - scores[1]) * flips)[flips != 0]
        right = functional.binary_cross_entropy_with_logits
        losses = [right(torch.cat(scores), torch.cat(wanted)), right(real, _gold(unit.real))]
        if len(ahead):
            losses.append(functional.softplus(-ahead).mean() / 2)
        if words is not None:
            losses.append(words * _WORDS)
        return torch.stack(losses).sum()

    def read(self, packs: Sequence[Pack]) -> tuple[list[torch.Tensor], torch.Tensor | None]:
        """The log-odds of yes for the questions of each pack, and the loss of their sentences.

        All packs are read together: larger matrices are faster.
        """
        rows = [self._row(pack) for pack in packs]
        starts = [sum(len(row.tokens) for row in rows[:at]) for at in range(len(rows))]
        hidden = self._model.model(
            input_ids=torch.tensor([[token for row in rows for token in row.tokens]]),
            position_ids=torch.tensor([[place for row in rows for place in row.places]]),
            attention_mask=_mask(rows),
            lengths=[len(row.tokens) for row in rows],
            use_cache=False,
        ).last_hidden_state[0]
        head = self._model.lm_head.weight
        towards_yes = head[self._yes].float() - head[self._no].float()
        scores = [
            hidden[[start + end for end in row.ends]].float() @ towards_yes
            for start, row in zip(starts, rows, strict=True)
        ]
        said = [
            (start + at, tokens)
            for start, row in zip(starts, rows, strict=True)
            for at, tokens in row.answers
        ]
        if not said:
            return scores, None
        before = [at for start, tokens in said for at in range(start - 1, start + len(tokens) - 1)]
        gold = torch.tensor([token for _, tokens in said for token in tokens])
        return scores, functional.cross_entropy((hidden[before] @ head.T).float(), gold)

    def _row(self, pack: Pack) -> Row:
        before, after = self._frame(pack)
        tokens = self._ids(before)
        shared = len(tokens)
        row = Row(tokens, list(range(shared)), [0] * shared, [], [])
        asked = [*pack.questions, pack.open] if pack.open else [*pack.questions]
        for owner, question in enumerate(asked, 1):
            own = self._ids(f" {' '.join(question.text.split())}{after}")
            end = len(row.tokens) + len(own)
            if question.verdict:
                row.ends.append(end - 1)
            wanted = not question.verdict or len(row.answers) < _WORDED
            if wanted and pack.settled and question.answer:
                said = self._ids(_answer(question))
                row.answers.append((end, said))
                own += said
            row.tokens.extend(own)
            row.places.extend(range(shared, shared + len(own)))
            row.owners.extend([owner] * len(own))
        return row

    def _frame(self, pack: Pack) -> tuple[str, str]:
        """What stands before and after a question, as a tuned model is asked."""
        user = prompt.context(pack.rules, _SPLIT)
        asked = Prompt(prompt.read("system_tuned.txt").substitute(), user)
        text: str = self._tokenizer.apply_chat_template(
            asked.messages, tokenize=False, add_generation_prompt=True
        )
        before, _, after = text.partition(_SPLIT)
        return before.rstrip(" "), after

    def _ids(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer(text, add_special_tokens=False).input_ids
        return tokens


def _answer(question: Question) -> str:
    verdict_first = f"{question.verdict.capitalize()}. " if question.verdict else ""
    return f"{verdict_first}{question.answer} [{question.rule}].{_END}"


def _gold(pack: Pack) -> torch.Tensor:
    if not pack.settled:
        return torch.full((len(pack.questions),), 0.5)
    return torch.tensor([float(question.verdict == "yes") for question in pack.questions])


def _mask(rows: Sequence[Row]) -> torch.Tensor:
    """What each token may attend to in its row: the rules, and its own question up to itself."""
    owner = torch.tensor([owner for row in rows for owner in row.owners])
    at = torch.arange(len(owner))
    seen = at[:, None] >= at[None, :]
    seen &= (owner[None, :] == 0) | (owner[:, None] == owner[None, :])
    return seen[None, None]


def _row_by_row(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    lengths: Sequence[int],
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention within each of the rows that are read together."""
    seen, end = [], 0
    for length in lengths:
        own = slice(end, end + length)
        end += length
        attended = functional.scaled_dot_product_attention(
            query[:, :, own],
            key[:, :, own],
            value[:, :, own],
            attention_mask[:, :, own, own],
            enable_gqa=True,
        )
        seen.append(attended.transpose(1, 2))
    return torch.cat(seen, 1), None

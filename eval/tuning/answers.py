"""The embedded language model learns to answer from the few rules that search finds.

It learns by a low-rank adapter to say the answers that were written for questions. Questions that
one rule decides are read together: what their prompts begin with, the rules, is then read once for
all of them. So there is next to no padding, and batches need not be made by length.
"""

import random
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eval.tuning import near as near_misses
from eval.tuning.data import Data, Question
from index.embed import Embedder
from qa.compose import ABSTAINED
from qa.models import Prompt, embedded
from qa.models.local import chat, in_common
from qa.prompt import fill
from qa.settings import Settings

if TYPE_CHECKING:
    import torch

_RANK = 16
_TOGETHER = 4  # questions of one family
_LONGEST = 90  # tokens of a rule, here: one in fifty is longer
_ASTRAY = 0.1  # share of the families that are shown no rule that decides


@dataclass(frozen=True, slots=True)
class Family:
    """Questions with a written answer that the same rule decides."""

    questions: tuple[Question, ...]

    @property
    def head(self) -> Question:
        """Stands for all where rules are looked for: what decides any of them is no near miss."""
        rules = dict.fromkeys(rule for question in self.questions for rule in question.rules)
        return replace(self.questions[0], rules=tuple(rules))


class Answers:
    def __init__(self, data: Data, frozen: int, retriever: Embedder) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        folder = embedded.folder()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.model.requires_grad_(False)
        self.modules = {
            f"{name}.": adapter for name, adapter in _adapted(self.model, frozen).items()
        }
        self.rules = data.rules
        self.families = families(data.questions)
        heads = Data([family.head for family in self.families], data.rules)
        self.near = near_misses.misses(heads, retriever)

    def batches(self, chance: random.Random) -> list[list[int]]:
        """A family a step, as places in the families."""
        places = list(range(len(self.families)))
        chance.shuffle(places)
        return [[place] for place in places]

    def refresh(self) -> None:
        """Nothing here is computed only now and then."""

    def loss(self, batch: Sequence[int], chance: random.Random) -> "torch.Tensor":
        import torch

        each = [self._family_loss(self.families[at], self.near[at], chance) for at in batch]
        return torch.stack(each).mean()

    def prompts(
        self, family: Family, near: Sequence[str], chance: random.Random
    ) -> tuple[list[Prompt], bool]:
        """What the model is told of each question, and whether a rule that decides is among it."""
        deciding = family.questions[0].rules[0]
        far = [number for number in near if self.rules[number].group != self._group(deciding)]
        astray = len(far) > 1 and chance.random() < _ASTRAY
        # A rule beside the deciding one may well settle the question too: that would be no refusal.
        shown = chance.sample(far, 2) if astray else [deciding, *near_misses.drawn(near, 1, chance)]
        chance.shuffle(shown)
        texts = [(number, self._cut(self.rules[number].text)) for number in shown]
        budget = Settings().prompt_tokens
        return [fill(q.text, texts, budget, self._count)[0] for q in family.questions], not astray

    def _family_loss(
        self, family: Family, near: Sequence[str], chance: random.Random
    ) -> "torch.Tensor":
        import torch
        from torch.nn.functional import cross_entropy

        prompts, settled = self.prompts(family, near, chance)
        told = [self.ids(prompt) for prompt in prompts]
        said = [
            [*self._plain(wanted(question, settled)), self._tokenizer.eos_token_id]
            for question in family.questions
        ]
        logits = self.model.lm_head(self.read(told, said))
        return cross_entropy(logits, torch.tensor([token for each in said for token in each]))

    def read(self, told: Sequence[Sequence[int]], said: Sequence[Sequence[int]]) -> "torch.Tensor":
        """The model's last state before each token that is said."""
        import torch
        from transformers import DynamicCache

        same = in_common(told)
        rest = [[*each[same:], *then[:-1]] for each, then in zip(told, said, strict=True)]
        width = max(map(len, rest))
        ids = torch.tensor([each + [0] * (width - len(each)) for each in rest])
        seen = torch.tensor([[1] * (same + len(e)) + [0] * (width - len(e)) for e in rest])
        cache = DynamicCache(config=self.model.config)
        trunk = self.model.model
        trunk(torch.tensor([told[0][:same]]), past_key_values=cache, use_cache=True)
        cache.batch_repeat_interleave(len(rest))
        states = trunk(ids, attention_mask=seen, past_key_values=cache, use_cache=True)[0]
        firsts = [len(each) - 1 - same for each in told]
        return torch.cat(
            [
                states[row, first : first + len(then)]
                for row, (first, then) in enumerate(zip(firsts, said, strict=True))
            ]
        )

    def ids(self, prompt: Prompt) -> list[int]:
        template = self._tokenizer.apply_chat_template
        found: list[int] = template(chat(prompt), add_generation_prompt=True)["input_ids"]
        return found

    def _plain(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def _count(self, text: str) -> int:
        return len(self._plain(text))

    def _cut(self, text: str) -> str:
        tokens = self._plain(text)
        return text if len(tokens) <= _LONGEST else str(self._tokenizer.decode(tokens[:_LONGEST]))

    def _group(self, number: str) -> str:
        return self.rules[number].group


def wanted(question: Question, settled: bool) -> str:
    """The answer that is taught."""
    return str(question.answer) if settled else ABSTAINED


def families(questions: Sequence[Question]) -> list[Family]:
    """The questions that have a written answer, by what decides them."""
    by_rule: dict[str, list[tuple[Question, ...]]] = {}
    for together in _couples([question for question in questions if question.answer]):
        by_rule.setdefault(together[0].rules[0], []).append(together)
    found = []
    for those in by_rule.values():
        parts: list[list[Question]] = [[]]
        for together in those:
            if len(parts[-1]) + len(together) > _TOGETHER:
                parts.append([])
            parts[-1] += together
        found += [Family(tuple(part)) for part in parts]
    return found


def _couples(questions: Sequence[Question]) -> list[tuple[Question, ...]]:
    """Each question by itself, but neighbours that a small change turns around as a couple."""
    found: list[tuple[Question, ...]] = []
    for question in questions:
        before = found[-1][0] if found and len(found[-1]) == 1 else None
        if before is not None and _turned_around(before, question):
            found[-1] = (before, question)
        else:
            found.append((question,))
    return found


def _turned_around(one: Question, other: Question) -> bool:
    return one.rules[0] == other.rules[0] and {one.verdict, other.verdict} == {"yes", "no"}


def _adapted(model: Any, frozen: int) -> "dict[str, torch.nn.Module]":
    """An adapter for every linear layer above the frozen ones; at first it adds nothing."""
    import torch

    chance = torch.Generator().manual_seed(0)
    found: dict[str, torch.nn.Module] = {}
    for at, layer in enumerate(model.model.layers):
        for name, linear in layer.named_modules(prefix=f"model.layers.{at}"):
            if at < frozen or not isinstance(linear, torch.nn.Linear):
                continue
            down = torch.nn.Linear(linear.in_features, _RANK, bias=False)
            up = torch.nn.Linear(_RANK, linear.out_features, bias=False)
            bound = linear.in_features**-0.5
            torch.nn.init.uniform_(down.weight, -bound, bound, generator=chance)
            torch.nn.init.zeros_(up.weight)
            adapter = torch.nn.Sequential(OrderedDict(down=down, up=up))
            linear.register_forward_hook(lambda _, x, y, adapter=adapter: y + adapter(x[0]))
            found[name] = adapter
    return found

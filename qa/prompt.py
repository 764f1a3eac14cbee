"""Fills the prompt files within a token budget, with the best rules, each of them uncut.

The rules are followed by the most similar answered questions, which show the model how these rules
are read. The fixed part, instructions and worked examples, is the same for all questions, so that
a model processes it only once.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

import prompts
from index.expansion import AnsweredQuestion
from index.rulebook import Rule
from qa import compose
from qa.models import Model, Prompt

_FOLDER = Path(prompts.__file__).parent
PLACEHOLDERS = {
    "system.txt": set[str](),
    "system_tuned.txt": set[str](),
    "answer.txt": {"rules", "answered", "question"},
    "answered.txt": {"questions"},
    "choose.txt": {"rules", "question", "choices"},
    "verdict.txt": {"rules", "question", "claim"},
}


class ShownRule(NamedTuple):
    """A rule as a model is shown it."""

    number: str
    heading: str
    text: str

    @classmethod
    def of(cls, rule: Rule) -> "ShownRule":
        return cls(rule.number, rule.heading, rule.text)

    def __str__(self) -> str:
        heading = f"{self.heading}: " if self.heading else ""
        return f"[{self.number}] {heading}{' '.join(self.text.split())}"


def read(name: str) -> Template:
    """Read a prompt file; its placeholders must be exactly those that get filled."""
    template = Template((_FOLDER / name).read_text(encoding="utf-8").strip())
    found = set(template.get_identifiers())
    if found != PLACEHOLDERS[name] or not template.is_valid():
        raise ValueError(f"{name} has the placeholders {sorted(found)}.")
    return template


@cache
def worked_examples() -> tuple[tuple[str, str], ...]:
    """The worked examples, each as what a model is asked and what it should answer."""
    table = tomllib.loads((_FOLDER / "examples.toml").read_text(encoding="utf-8"))
    return tuple(
        (
            context([ShownRule(**rule) for rule in row["rules"]], row["question"]),
            row["answer"],
        )
        for row in table["example"]
    )


def fill(
    question: str,
    rules: Sequence[ShownRule],
    budget: int,
    model: Model,
    similar: Sequence[AnsweredQuestion] = (),
    name: str = "answer.txt",
    **more: str,
) -> tuple[Prompt, list[str]]:
    """The prompt for a question, and the numbers of the rules that fitted into it.

    `rules` come best first. The first rule that would exceed the budget ends the list; the best one
    is always included. Only `similar` questions about these rules are shown. A model tuned on these
    prompts gets shorter instructions. `more` fills the file's other placeholders.
    """
    shown: list[ShownRule] = []
    left = budget
    for rule in rules:
        cost = model.count(str(rule))
        if shown and cost > left:
            break
        shown.append(rule)
        left -= cost
    told = "system_tuned.txt" if model.tuned else "system.txt"
    examples = worked_examples() if name == "answer.txt" and not model.tuned else ()
    numbers = [rule.number for rule in shown]
    about_these = [each for each in similar if each.number in numbers]
    user = context(shown, question, about_these, name, **more)
    return Prompt(read(told).substitute(), user, examples), numbers


def context(
    rules: Sequence[ShownRule],
    question: str,
    similar: Sequence[AnsweredQuestion] = (),
    name: str = "answer.txt",
    **more: str,
) -> str:
    """The part of the prompt for one question; the most similar answered question comes last."""
    lines = [_line(each) for each in reversed(similar)]
    before = read("answered.txt").substitute(questions="\n".join(lines))
    return read(name).substitute(
        rules="\n".join(map(str, rules)),
        answered=f"\n\n{before}" if lines else "",
        question=" ".join(question.split()),
        **more,
    )


def _line(answered: AnsweredQuestion) -> str:
    """A question with its answer, in the format that answers should have."""
    return f"{answered.question} {compose.with_number(answered)}"

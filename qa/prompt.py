"""Fills the prompt files within a budget of tokens: the best rules, and each of them whole."""

from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template

import prompts
from qa.models import Prompt

_FOLDER = Path(prompts.__file__).parent
PLACEHOLDERS = {
    "system.txt": set[str](),
    "answer.txt": {"rules", "question"},
    "choose.txt": {"rules", "question", "choices"},
    "verdict.txt": {"rules", "question", "claim"},
}


def read(name: str) -> Template:
    """A prompt file; its placeholders are exactly those that are filled."""
    template = Template((_FOLDER / name).read_text(encoding="utf-8").strip())
    found = set(template.get_identifiers())
    if found != PLACEHOLDERS[name] or not template.is_valid():
        raise ValueError(f"{name} has the placeholders {sorted(found)}.")
    return template


def fill(
    question: str,
    rules: Sequence[tuple[str, str]],
    budget: int,
    count: Callable[[str], int],
    name: str = "answer.txt",
    **more: str,
) -> tuple[Prompt, list[str]]:
    """The prompt for a question, and the numbers of the rules that fitted into it.

    `rules` are (number, text), best first. The first rule that would break the budget ends the
    list; the very best goes in whatever it takes. `more` fills what else the file asks for.
    """
    lines: list[str] = []
    used: list[str] = []
    left = budget
    for number, text in rules:
        cost = count(text)
        if used and cost > left:
            break
        lines.append(f"- {' '.join(text.split())}")
        used.append(number)
        left -= cost
    user = read(name).substitute(
        rules="\n".join(lines), question=" ".join(question.split()), **more
    )
    return Prompt(read("system.txt").substitute(), user), used

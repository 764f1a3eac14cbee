"""The words of an answer: what is quoted, what is said when the rules do not settle it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from index.rulebook import Edition, Rule
from qa import citations
from qa.citations import Citation
from qa.topics import Topic

if TYPE_CHECKING:
    from index.embed import Embedder

ABSTAINED = "The loaded rules do not settle this."
ADD = "Add the full rules with 'stickler rules add FILE'."  # as the command says it


def answered(
    supported: Sequence[tuple[str, Rule]], rules: Sequence[Rule], quotes: Sequence[str]
) -> tuple[str, tuple[Citation, ...]]:
    """The model's supported sentences, each with its rule, then every rule's decisive sentence."""
    said = " ".join(f"{sentence} [{rule.number}]" for sentence, rule in supported)
    lines = [said] if said else []
    cited: list[Citation] = []
    at = len(said) + 1 if said else 0
    for rule, quote in zip(rules, quotes, strict=True):
        stump = cut(rule) if rule.text.endswith(quote) else ""
        line = f"{rule.number}: “{quote}”{stump}"
        cited.append(citations.cite(rule, quote, (at, at + len(rule.number))))
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), tuple(cited)


def abstained(
    rules: Sequence[Rule], topic: Topic, book: Edition, add: str = ADD
) -> tuple[str, str]:
    """What is said instead of an answer, and why; `add` is how rules that are missing are added."""
    nearest = ", ".join(rule.number for rule in rules)
    lines = [ABSTAINED]
    missing = [
        f"rule {rule.number} refers to rule {reference.number}, which is not loaded"
        for rule in rules[:1]
        for reference in book.references(rule)
        if not reference.known
    ]
    if topic.section:
        part = "parts of section" if topic.section in book else "section"
        verb = "are" if topic.section in book else "is"
        reason = f"It is nearer to {part} {topic.section}, which {verb} not loaded"
        lines.append(f"{reason}. {add}")
    elif missing:
        reason = missing[0][0].upper() + missing[0][1:]
        lines.append(f"{reason}. {add}")
    else:
        reason = "No loaded rule comes near enough to the question"
    if nearest:
        lines.append(f"Nearest: {nearest}.")
    return " ".join(lines), f"{reason}."


def verdict(raw: str) -> str | None:
    """The yes or no that a model's answer opens with."""
    match = re.match(r"\W*(yes|no)\b", raw, re.IGNORECASE)
    return match[1].lower() if match else None


def supported(
    raw: str, asked: str, rules: Sequence[Rule], embedder: "Embedder"
) -> tuple[list[tuple[str, Rule]], int]:
    """The model's sentences that one of these rules supports, and how many none supports."""
    said = whole_sentences(raw)
    by = [citations.attribute(one, asked, rules, embedder) for one in said]
    kept = [(one, rule) for one, rule in zip(said, by, strict=True) if rule is not None]
    return kept, len(said) - len(kept)


def whole_sentences(raw: str) -> list[str]:
    """A model's sentences, at most three, without one that broke off at the limit."""
    plain = " ".join(raw.split())
    found = [s for s in citations.sentences(plain) if s[-1:] in ".!?”\"'"]
    return list(dict.fromkeys(found))[:3]


def cut(rule: Rule) -> str:
    """What is said after the text of a rule that its source cut off."""
    return " [cut off in the source]" if rule.truncated else ""

"""The words of an answer: what is quoted, what is said when the rules do not settle it."""

import re
from collections.abc import Sequence

from index.rulebook import Edition, Rule
from qa import citations
from qa.citations import Citation
from qa.topics import Topic

ABSTAINED = "The loaded rules do not settle this."
_ADD = "Add the full rules with 'stickler rules add FILE'."
_MOST_LOOKED_UP = 8
_SAYS = re.compile(
    r"^\W*(?:what (?:does|do|is|are)|show(?: me)?|read|quote)?\s*"
    r"(?P<number>(?:rules?\s+|cr\s*)?\d{3}[\w.–-]*(?:\s*(?:to|through)\s*\d{3}[\w.]*)?)"
    r"\s*(?:say|mean|about)?\W*$",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"^\W*(?:(?:what(?:'s|’s| is| are| does)|define|explain|how (?:does|do)|meaning of)\s+)?"
    r"(?:the |a |an )?(?P<name>\w[\w'’ /-]{1,40}?)"
    r"(?:\s+(?:mean|do|work|ability|keyword))*\W*$",
    re.IGNORECASE,
)


def number_asked(question: str) -> str:
    """'what does 702.19b say?' -> '702.19b'; any other question stays as it is."""
    match = _SAYS.match(question)
    return match["number"] if match else question


def name_asked(question: str) -> str | None:
    """'what is trample?' -> 'trample': what may be a heading of the book."""
    match = _NAMES.match(question)
    return match["name"] if match else None


def looked_up(rules: Sequence[Rule]) -> tuple[str, tuple[Citation, ...]]:
    """Rules that were asked for by number or name, whole."""
    parts: list[str] = []
    cited: list[Citation] = []
    at = 0
    for rule in rules[:_MOST_LOOKED_UP]:
        line = f"{rule.number}: {rule.text}{_cut(rule)}"
        cited.append(citations.cite(rule, rule.text, (at, at + len(rule.number))))
        parts.append(line)
        at += len(line) + 1
    if len(rules) > _MOST_LOOKED_UP:
        parts.append(f"... and {len(rules) - _MOST_LOOKED_UP} more: see 'stickler rules show'.")
    return "\n".join(parts), tuple(cited)


def answered(
    supported: Sequence[tuple[str, Rule]], rules: Sequence[Rule], quotes: Sequence[str]
) -> tuple[str, tuple[Citation, ...]]:
    """The model's supported sentences, each with its rule, then every rule's decisive sentence."""
    said = " ".join(f"{sentence} [{rule.number}]" for sentence, rule in supported)
    lines = [said] if said else []
    cited: list[Citation] = []
    at = len(said) + 1 if said else 0
    for rule, quote in zip(rules, quotes, strict=True):
        stump = _cut(rule) if rule.text.endswith(quote) else ""
        line = f"{rule.number}: “{quote}”{stump}"
        cited.append(citations.cite(rule, quote, (at, at + len(rule.number))))
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), tuple(cited)


def abstained(rules: Sequence[Rule], topic: Topic, book: Edition) -> tuple[str, str]:
    """What is said instead of an answer, and why."""
    nearest = ", ".join(rule.number for rule in rules)
    lines = [ABSTAINED]
    missing = [
        f"rule {rule.number} refers to rule {reference.number}, which is not loaded"
        for rule in rules[:1]
        for reference in book.references(rule)
        if not reference.known
    ]
    if topic.section:
        reason = f"It is nearer to section {topic.section}, which is not loaded"
        lines.append(f"{reason}. {_ADD}")
    elif missing:
        reason = missing[0][0].upper() + missing[0][1:]
        lines.append(f"{reason}. {_ADD}")
    else:
        reason = "No loaded rule comes near enough to the question"
    if nearest:
        lines.append(f"Nearest: {nearest}.")
    return " ".join(lines), f"{reason}."


def verdict(raw: str) -> str | None:
    """The yes or no that a model's answer opens with."""
    match = re.match(r"\W*(yes|no)\b", raw, re.IGNORECASE)
    return match[1].lower() if match else None


def whole_sentences(raw: str) -> list[str]:
    """A model's sentences, at most three, without one that broke off at the limit."""
    plain = " ".join(raw.split())
    found = [s for s in citations.sentences(plain) if s[-1:] in ".!?”\"'"]
    return list(dict.fromkeys(found))[:3]


def _cut(rule: Rule) -> str:
    return " [cut off in the source]" if rule.truncated else ""

"""The text of an answer: quotations, refusals, conditions and the model's reading."""

from collections.abc import Sequence

from index import expansion
from index.expansion import AnsweredQuestion
from index.rulebook import Edition, Rule, marked
from qa import citations, support
from qa.citations import Citation
from qa.open_condition import OpenCondition
from qa.out_of_scope import Neighbour

ABSTAINED = "The loaded rules do not settle this."
ADD_RULES = "Add the full rules to get an answer."
DEPENDS = "It depends on something the question does not say"
SIMILAR = (
    "Similar questions, answered in advance by a language model from the rules of "
    f"{expansion.EDITION} (the facts may differ)"
)


def quoted(rules: Sequence[Rule], quotes: Sequence[str]) -> tuple[str, tuple[Citation, ...]]:
    """Every rule's deciding sentence, with its citation."""
    lines: list[str] = []
    cited: list[Citation] = []
    at = 0
    for rule, quote in zip(rules, quotes, strict=True):
        cut_off = rule.truncated and rule.text.endswith(quote)
        line = marked(f"{rule.number}: “{quote}”", cut_off)
        cited.append(citations.cite(rule, quote, (at, at + len(rule.number))))
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), tuple(cited)


def branches(condition: OpenCondition | None) -> str:
    """What an answer depends on, with the rule for each case; '' if nothing is open."""
    if condition is None:
        return ""
    lines = [f"{each.side}, {each.number}: “{each.quote}”" for each in condition.branches]
    lines = [line[0].upper() + line[1:] for line in lines]
    return "\n".join([f"{DEPENDS}: {condition.name}.", *lines])


def similar_lines(similar: Sequence[AnsweredQuestion]) -> list[str]:
    """Questions like the one that is asked, each with its answer and the rule that gives it."""
    return [f"“{each.question}” {with_number(each)}" for each in similar]


def with_number(answered: AnsweredQuestion) -> str:
    """The answer to a question that stands beside a rule, with that rule's number."""
    return f"{answered.answer.rstrip('.')} [{answered.number}]."


def abstained(rules: Sequence[Rule], neighbour: Neighbour, edition: Edition) -> tuple[str, str]:
    """The text of a refusal, and its reason."""
    nearest = ", ".join(rule.number for rule in rules)
    lines = [ABSTAINED]
    missing = [
        f"rule {rule.number} refers to rule {reference.number}, which is not loaded"
        for rule in rules[:1]
        for reference in edition.references(rule)
        if not reference.known
    ]
    if neighbour.section:
        part = "parts of section" if neighbour.section in edition else "section"
        verb = "are" if neighbour.section in edition else "is"
        reason = f"It seems to be about {part} {neighbour.section}, which {verb} not loaded"
        lines.append(f"{reason}. {ADD_RULES}")
    elif missing:
        reason = missing[0][0].upper() + missing[0][1:]
        lines.append(f"{reason}. {ADD_RULES}")
    else:
        reason = "No loaded rule is close enough to the question"
    if nearest:
        lines.append(f"Closest rules: {nearest}.")
    return " ".join(lines), f"{reason}."


def generated(sentences: Sequence[support.Sentence]) -> str:
    """The model's sentences, each with the number of its rule."""
    return " ".join(f"{each.text} [{each.number}]." for each in sentences)


def reading(verdict: str | None, sentences: str, unsure: bool) -> str:
    """The model's reading of the rules, as it appears after the quoted rules.

    If its sentences are `unsure`, only the verdict is given.
    """
    word = f"{verdict.capitalize()}." if verdict else ""
    return " ".join(filter(None, [word, "" if unsure else sentences]))

"""Rules, examples and glossary entries as passages: what is embedded, and what is shown."""

from dataclasses import dataclass
from typing import Literal

from index import numbers
from index.rulebook import Edition, GlossaryEntry, Rule

SCHEME = 2  # increment when the embedded text changes: indexes are then rebuilt

Kind = Literal["rule", "example", "glossary"]


@dataclass(frozen=True, slots=True)
class Passage:
    id: str  # '2024-03-08/702.19b', an example '.../702.19b#1', a glossary entry '.../@Trample'
    number: str  # the rule it is or belongs to; for a glossary entry the rule it points to
    kind: Kind
    edition: str
    heading: str
    shown: str
    embedded: str  # with the headings that lead to it; empty for a bare heading: found by number
    truncated: bool = False


def passages(edition: Edition) -> list[Passage]:
    """Every passage of one book, in the order of its rules, the glossary last."""
    found: list[Passage] = []
    for rule in edition.rules:
        lead = _lead(edition, rule)
        found.append(
            Passage(
                id=rule.passage_id,
                number=rule.number,
                kind="rule",
                edition=rule.edition,
                heading=rule.heading,
                shown=rule.text,
                embedded="" if rule.is_heading else lead + rule.text,
                truncated=rule.truncated,
            )
        )
        for place, example in enumerate(rule.examples, 1):
            if example.text:
                found.append(
                    Passage(
                        id=rule.example_id(place),
                        number=rule.number,
                        kind="example",
                        edition=rule.edition,
                        heading=rule.heading,
                        shown=example.text,
                        embedded=lead + example.text,
                        truncated=example.truncated,
                    )
                )
    return found + [_glossary(entry) for entry in edition.glossary]


def _lead(edition: Edition, rule: Rule) -> str:
    path = edition.path(rule.number)[-2:]
    return f"{' > '.join(path)}: " if path else ""


def _glossary(entry: GlossaryEntry) -> Passage:
    named = numbers.references(entry.text)
    return Passage(
        id=f"{entry.edition}/@{entry.term}",
        number=named[0] if named else f"@{entry.term}",
        kind="glossary",
        edition=entry.edition,
        heading=entry.term,
        shown=entry.text,
        embedded=f"{entry.term}: {entry.text}",
    )

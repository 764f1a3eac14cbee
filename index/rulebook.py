"""The types of a rulebook: rules, glossary entries, parsed documents and editions."""

import bisect
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from index import numbers
from index.errors import Action, Remedy, SticklerError

CUT_OFF = " [cut off in the source]"


def marked(text: str, truncated: bool) -> str:
    """A text for display; if its source cut it off, that is marked."""
    return text + CUT_OFF if truncated else text


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule as in its document; for a bare heading, the text is the heading."""

    number: str
    text: str  # paragraphs joined by newlines
    edition: str
    document: str
    heading: str = ""  # the nearest: its own, its rule's, or its section's
    examples: tuple[Example, ...] = ()
    truncated: bool = False  # the source cut the text off
    dated: str | None = None  # the day this wording is from, where the source says so

    @property
    def parent(self) -> str | None:
        return numbers.parent(self.number)

    @property
    def is_heading(self) -> bool:
        """True for '702.19. Trample': a name, not a sentence."""
        plain = self.text[-1:].isalnum() and len(self.text) <= 60 and "\n" not in self.text
        return plain and not self.truncated and numbers.group(self.number) == self.number

    @property
    def passage_id(self) -> str:
        """What the index calls the rule's own passage: '2024-03-08/702.19b'."""
        return f"{self.edition}/{self.number}"

    def example_id(self, place: int) -> str:
        """What the index calls the passage of an example, the first being 1."""
        return f"{self.passage_id}#{place}"

    @property
    def references(self) -> tuple[str, ...]:
        texts = [self.text, *(example.text for example in self.examples)]
        return numbers.references("\n".join(texts))


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    term: str
    senses: tuple[str, ...]
    see: str = ""  # the pointer below several senses
    edition: str = ""

    @property
    def text(self) -> str:
        if len(self.senses) == 1:
            return " ".join(filter(None, [self.senses[0], self.see]))
        numbered = [f"{i}. {sense}" for i, sense in enumerate(self.senses, 1)]
        return "\n".join([*numbered, *filter(None, [self.see])])


@dataclass(frozen=True, slots=True)
class Coverage:
    """A range of rule numbers, in string order, for which a document is complete.

    A number inside the range that the document lacks is not a rule of that edition; about numbers
    outside the range, nothing is known.
    """

    first: str = ""
    last: str = "\uffff"

    @classmethod
    def of_section(cls, section: str) -> "Coverage":
        return cls(section, f"{section}.\uffff")

    def __contains__(self, number: str) -> bool:
        return self.first <= number <= self.last


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """All that a parser found in one document."""

    document: str
    edition: str
    rules: tuple[Rule, ...]
    sections: Mapping[str, str]  # '702' -> 'Keyword Abilities', '7' -> 'Additional Rules'
    glossary: tuple[GlossaryEntry, ...] = ()
    coverage: tuple[Coverage, ...] = (Coverage(),)
    notices: tuple[str, ...] = ()  # oddities of the source that a reader should know of


@dataclass(frozen=True, slots=True)
class Reference:
    number: str
    known: bool  # False: named in a text, but the book does not have it


@dataclass(frozen=True)
class Edition:
    """One edition of the rulebook: its rules in order, with look-ups by number and heading."""

    name: str
    by_number: Mapping[str, Rule]
    sections: Mapping[str, str] = field(default_factory=dict)
    glossary: tuple[GlossaryEntry, ...] = ()
    coverage: tuple[Coverage, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True for a whole release, False for excerpts of one."""
        return Coverage() in self.coverage

    @functools.cached_property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self.by_number[number] for number in self._order)

    @functools.cached_property
    def digest(self) -> str:
        """Tells these rules from others, whatever documents they come from."""
        parts = (self.name, self.rules, sorted(self.sections.items()), self.glossary, self.coverage)
        return hashlib.sha256(repr(parts).encode(errors="backslashreplace")).hexdigest()

    @functools.cached_property
    def _order(self) -> list[str]:
        return sorted(self.by_number, key=numbers.parse)

    @functools.cached_property
    def _headings(self) -> dict[str, list[str]]:
        """Each heading in lower case -> the rules that bear it, a section last."""
        found: dict[str, list[str]] = {}
        for rule in self.rules:
            if rule.is_heading:
                found.setdefault(rule.heading.lower(), []).append(rule.number)
        for number, heading in self.sections.items():
            if len(number) > 1:  # a chapter has no rules of its own
                found.setdefault(heading.lower(), []).append(number)
        return found

    @functools.cached_property
    def _referred_from(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for rule in self.rules:
            for number in rule.references:
                if number != rule.number:
                    found.setdefault(number, []).append(rule.number)
        return found

    def __contains__(self, number: str) -> bool:
        """True for a rule of this book or a section that has rules here, not for a chapter."""
        return number in self.by_number or (len(number) > 1 and bool(self.subrules(number)))

    def rule(self, number: str) -> Rule:
        try:
            return self.by_number[number]
        except KeyError:
            raise self._missing(number) from None

    def _missing(self, number: str) -> SticklerError:
        place = bisect.bisect(self._order, numbers.parse(number), key=numbers.parse)
        near = " and ".join(self._order[max(place - 1, 0) : place + 1])
        nearest = f" (nearest: {near})" if near else ""
        return SticklerError(
            f"There is no rule {number} in the {self.name} edition{nearest}",
            Remedy(Action.LIST_HEADINGS),
            Remedy(Action.ADD_RULES),
        )

    def subrules(self, number: str) -> list[Rule]:
        """All rules below a number: 702 -> 702.1 ..., 702.19 -> 702.19a ...; none for a subrule."""
        low = numbers.parse(number)
        if low.letters:
            return []
        high = (
            low._replace(rule=low.rule + 1) if low.rule else low._replace(section=low.section + 1)
        )
        first = bisect.bisect_right(self._order, low, key=numbers.parse)
        last = bisect.bisect_left(self._order, high, key=numbers.parse)
        return [self.by_number[n] for n in self._order[first:last]]

    def neighbours(self, number: str) -> tuple[Rule | None, Rule | None]:
        """The rules directly before and after one."""
        at = self._order.index(self.rule(number).number)
        before = self.rules[at - 1] if at else None
        behind = self.rules[at + 1] if at + 1 < len(self.rules) else None
        return before, behind

    def path(self, number: str) -> list[str]:
        """The headings that lead to a rule, outermost first: Keyword Abilities, Trample."""
        above = [self.sections.get(number[0]), self.sections.get(number[:3])]
        rule = self.by_number.get(numbers.group(number))
        if rule is not None and rule.is_heading:
            above.append(rule.text)
        return [heading for heading in above if heading]

    def references(self, rule: Rule) -> list[Reference]:
        return [Reference(number, number in self) for number in rule.references]

    def referred_from(self, number: str) -> list[str]:
        """The rules whose text names this one."""
        return self._referred_from.get(number, [])

    def rule_json(self, rule: Rule) -> dict[str, Any]:
        """A rule as JSON for programs, with its parent and references in both directions."""
        return {
            **asdict(rule),
            "parent": rule.parent,
            "references": [asdict(reference) for reference in self.references(rule)],
            "referred_from": self.referred_from(rule.number),
        }

    def headed(self, name: str) -> list[str]:
        """The numbers whose heading is this name: 'trample' -> 702.19."""
        return self._headings.get(" ".join(name.lower().split()), [])

    def find(self, query: str) -> list[Rule]:
        """The rules for a number, a range, a section or a heading."""
        wanted = numbers.asked(query) or self.headed(query)
        if not wanted:
            raise SticklerError(
                f"'{query[:60]}' is neither a rule number nor a heading of the {self.name} edition",
                "try a number like 702.19b",
                Remedy(Action.LIST_HEADINGS),
            )
        found: dict[str, Rule] = {}
        for number in wanted:
            below = self.subrules(number)
            if numbers.parse(number).rule or not below:
                found[number] = self.rule(number)
            found.update((rule.number, rule) for rule in below)
        return list(found.values())

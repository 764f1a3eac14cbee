"""From parsed documents to editions, and the current view: the newest edition, its gaps filled.

>>> index.library.load().current.rule("702.19b").heading
'Trample'
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from index import numbers
from index.errors import Action, Remedy, SticklerError
from index.rulebook import Coverage, Edition, GlossaryEntry, ParsedDocument, Rule

CURRENT = "current"
_SECTION_NAMED = re.compile(r"\b[Rr]ule (\d{3}), [“\"]([^”\"]+?)[.,]?[”\"]")
_ALIKE = 0.6  # share of words that two versions of a rule have in common
_NEARLY_ALL = 0.9


class Rulebook:
    """All loaded editions, newest first, and the current view."""

    def __init__(self, parsed_documents: Iterable[ParsedDocument]) -> None:
        by_edition: dict[str, list[ParsedDocument]] = {}
        for parsed in parsed_documents:
            by_edition.setdefault(parsed.edition, []).append(parsed)
        if not by_edition:
            raise SticklerError("No rules are loaded", Remedy(Action.ADD_RULES))
        self.editions = {
            name: _edition(name, by_edition[name]) for name in sorted(by_edition, reverse=True)
        }

    @functools.cached_property
    def current(self) -> Edition:
        newest, *older = self.editions.values()
        rules, sections = dict(newest.by_number), dict(newest.sections)
        glossary = {entry.term: entry for entry in newest.glossary}
        coverage = list(newest.coverage)
        for edition in older:
            filled = _fillable(edition, rules, sections, coverage)
            rules.update((rule.number, rule) for rule in filled)
            coverage.extend(edition.coverage)
            if filled:
                touched = {rule.number[:3] for rule in filled} | {rule.number[0] for rule in filled}
                names = {n: name for n, name in edition.sections.items() if n in touched}
                sections = names | sections
                glossary = {entry.term: entry for entry in edition.glossary} | glossary
        return Edition(
            CURRENT,
            _headed(rules, sections),
            sections,
            tuple(glossary[term] for term in sorted(glossary, key=str.lower)),
            tuple(coverage),
        )

    def edition(self, name: str | None = None) -> Edition:
        """One edition by its date, or the current view."""
        if name is None or name == CURRENT:
            return self.current
        try:
            return self.editions[name]
        except KeyError:
            have = ", ".join(self.editions)
            raise SticklerError(
                f"There is no edition {name}: choose one of {have} or '{CURRENT}'."
            ) from None


def _edition(name: str, parsed_documents: Sequence[ParsedDocument]) -> Edition:
    """Several documents of one edition as one book: an uncut text wins over a cut one."""
    rules: dict[str, Rule] = {}
    sections: dict[str, str] = {}
    glossary: dict[str, GlossaryEntry] = {}
    for parsed in parsed_documents:
        for rule in parsed.rules:
            known = rules.get(rule.number)
            if known is None or _cuts(known) >= _cuts(rule):
                rules[rule.number] = rule
        sections.update(parsed.sections)
        glossary.update((entry.term, entry) for entry in parsed.glossary)
    for number, heading in _named_sections(rules.values()):
        sections.setdefault(number, heading)
    coverage = tuple(covered for parsed in parsed_documents for covered in parsed.coverage)
    entries = tuple(glossary[term] for term in sorted(glossary, key=str.lower))
    return Edition(name, _headed(rules, sections), sections, entries, coverage)


def _named_sections(rules: Iterable[Rule]) -> Iterable[tuple[str, str]]:
    """Section headings that other rules mention: 'see rule 510, "Combat Damage Step"'."""
    for rule in rules:
        yield from _SECTION_NAMED.findall(rule.text)


def _cuts(rule: Rule) -> int:
    return rule.truncated + sum(example.truncated for example in rule.examples)


def _headed(rules: Mapping[str, Rule], sections: Mapping[str, str]) -> dict[str, Rule]:
    """Each rule with the nearest heading above it."""
    headings: dict[str, str] = {}  # by group of rules
    headed = {}
    for number, rule in rules.items():
        group = numbers.group(number)
        if group not in headings:
            own = rules.get(group)
            section = sections.get(number[:3], "")
            headings[group] = own.text if own is not None and own.is_heading else section
        heading = headings[group]
        headed[number] = rule if rule.heading == heading else replace(rule, heading=heading)
    return headed


def _fillable(
    older: Edition, newer: Mapping[str, Rule], sections: Mapping[str, str], covered: list[Coverage]
) -> list[Rule]:
    """The older rules that fill gaps in the newer documents, where the numbering still agrees.

    A section that the newer documents do not cover is taken only from an edition whose numbering
    agrees in every section that both have.
    """
    shared: dict[str, list[tuple[Rule, Rule]]] = {}
    for number, rule in older.by_number.items():
        if number in newer:
            shared.setdefault(number[:3], []).append((rule, newer[number]))
    holds = {section: _same_numbering(pairs) for section, pairs in shared.items()}
    for section, heading in older.sections.items():
        if section in sections and heading.lower() != sections[section].lower():
            holds[section] = False
    everywhere = bool(shared) and all(holds[section] for section in shared)
    return [
        rule
        for number, rule in older.by_number.items()
        if holds.get(number[:3], everywhere) and not any(number in s for s in covered)
    ]


def _same_numbering(pairs: list[tuple[Rule, Rule]]) -> bool:
    """True if the headings are the same and nearly all rules share most of their words."""
    if any(
        old.text.lower() != new.text.lower()
        for old, new in pairs
        if old.is_heading or new.is_heading
    ):
        return False
    alike = sum(_shared_words(old.text, new.text) >= _ALIKE for old, new in pairs)
    return alike >= _NEARLY_ALL * len(pairs)


def _shared_words(one: str, other: str) -> float:
    """The share of the shorter text's words that the other also has (one may be cut off)."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(a & b) / max(1, min(len(a), len(b)))

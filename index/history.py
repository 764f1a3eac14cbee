"""A rule across editions: its counterpart if the number changed, and what was reworded.

Trample is 702.17 in 2009 and 702.19 in 2022: counterparts are found by heading and text.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from index import numbers
from index.editions import Rulebook
from index.rulebook import Edition, Rule

ENOUGH = 0.5  # least similarity, 0 to 1, for two wordings to count as the same rule
_MAX_CANDIDATES = 25  # rules compared word by word where no heading leads to them
_SAME_NUMBER = 0.05  # bonus for an unchanged number
_PLAIN_QUOTES = str.maketrans("‘’“”", "''\"\"")  # curly and straight count as the same

Change = Literal["same", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Version:
    """A rule in one edition, and how its words differ from the version before."""

    rule: Rule
    changes: tuple[tuple[Change, str], ...]


def counterpart(rule: Rule, edition: Edition) -> Rule | None:
    """The same rule in another edition, if it has it."""
    if rule.is_heading:
        headed = [n for n in edition.headed(rule.text) if n in edition.by_number]
        return edition.by_number[headed[0]] if headed else None
    best = max(
        ((likeness(rule, other), other) for other in _candidates(rule, edition)),
        key=lambda pair: pair[0],
        default=(0.0, None),
    )
    return best[1] if best[0] >= ENOUGH else None


def history(rule: Rule, rulebook: Rulebook) -> list[Version]:
    """The rule in every edition that has it, oldest first."""
    rules = [
        rule if name == rule.edition else counterpart(rule, edition)
        for name, edition in sorted(rulebook.editions.items())
    ]
    versions: list[Version] = []
    for found in filter(None, rules):
        before = versions[-1].rule.text if versions else found.text
        versions.append(Version(found, tuple(word_changes(before, found.text))))
    return versions


def word_changes(old: str, new: str) -> list[tuple[Change, str]]:
    """What stayed, was removed and was added, by word: 'same' and 'new' parts form the new text."""
    a, b = re.findall(r"\S+\s*|\s+", old), re.findall(r"\S+\s*|\s+", new)
    old_keys, new_keys = (
        [word.strip().translate(_PLAIN_QUOTES) for word in text] for text in (a, b)
    )
    matcher = difflib.SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    changes: list[tuple[Change, str]] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            changes.append(("same", "".join(b[b1:b2])))
            continue
        if a2 > a1:
            changes.append(("gone", "".join(a[a1:a2])))
        if b2 > b1:
            changes.append(("new", "".join(b[b1:b2])))
    return changes


def plain(text: str) -> str:
    """A text with quotation marks and white space normalised."""
    return " ".join(text.translate(_PLAIN_QUOTES).split())


def _candidates(rule: Rule, edition: Edition) -> list[Rule]:
    """Rules under the same heading; if there are none, the few that share most words."""
    headed = [r for n in edition.headed(rule.heading) for r in edition.subrules(n)]
    if headed:
        return [other for other in headed if not other.is_heading]
    wanted = set(words(rule.text))
    scored = [
        (len(wanted & set(words(other.text))), other)
        for other in edition.rules
        if not _under_a_name(other, edition)
    ]
    scored.sort(key=lambda pair: -pair[0])
    return [other for _, other in scored[:_MAX_CANDIDATES]]


def _under_a_name(rule: Rule, edition: Edition) -> bool:
    """True for a rule under its own heading, such as a keyword."""
    named = edition.by_number.get(numbers.group(rule.number))
    return named is not None and named.is_heading


def likeness(one: Rule, other: Rule) -> float:
    """The similarity of two wordings, 0 to 1, plus a small bonus for an unchanged number."""
    a, b = words(one.text), words(other.text)
    if one.truncated or other.truncated:  # only what both still have can be compared
        shorter = min(len(a), len(b))
        a, b = a[:shorter], b[:shorter]
    ratio = difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()
    same_place = one.number == other.number or _letters(one) == _letters(other)
    return ratio + _SAME_NUMBER * same_place


def _letters(rule: Rule) -> str:
    return numbers.parse(rule.number).letters


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return re.findall(r"\w+", text.lower())

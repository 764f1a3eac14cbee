"""What changed between two editions: rules added, removed, renumbered and reworded, by section.

>>> diff = compare(book.edition("2024-03-08"), book.edition("2026-04-17"))
>>> diff.counts["added"], diff.sections[0].name
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from index import numbers
from index.editions import Rulebook
from index.errors import Action, Remedy, SticklerError
from index.history import Change, plain, word_changes
from index.matching import match
from index.rulebook import Edition, Rule

Kind = Literal["added", "removed", "renumbered", "reworded"]
KINDS: tuple[Kind, ...] = ("added", "removed", "renumbered", "reworded")


@dataclass(frozen=True)
class RuleChange:
    """A rule before and after; None if it did not exist yet, or no longer exists."""

    old: Rule | None
    new: Rule | None

    @functools.cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What happened to it: nothing, one kind, or both renumbered and reworded."""
        if self.old is None:
            return ("added",)
        if self.new is None:
            return ("removed",)
        happened: dict[Kind, bool] = {
            "renumbered": self.old.number != self.new.number,
            "reworded": any(kind != "same" for kind, _ in self.words),
        }
        return tuple(kind for kind, is_so in happened.items() if is_so)

    @functools.cached_property
    def words(self) -> list[tuple[Change, str]]:
        """What stayed, was removed and was added, word by word, including the examples."""
        if self.old is None:
            return [("new", _with_examples(self.rule))]
        if self.new is None:
            return [("gone", _with_examples(self.rule))]
        return _changed_words(self.old, self.new)

    @property
    def rule(self) -> Rule:
        """The rule as it is, or as it was before it was removed."""
        found = self.new or self.old
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class SectionChanges:
    number: str
    name: str
    changes: tuple[RuleChange, ...]


@dataclass(frozen=True)
class Diff:
    """All that changed from one edition to another; `notes` say what could not be compared."""

    old: str
    new: str
    sections: tuple[SectionChanges, ...]
    notes: tuple[str, ...] = ()

    @functools.cached_property
    def counts(self) -> dict[Kind, int]:
        """How many rules were added, removed, renumbered, reworded; some count twice."""
        found = [kind for s in self.sections for change in s.changes for kind in change.kinds]
        return {kind: found.count(kind) for kind in KINDS}

    @property
    def summary(self) -> str:
        """The counts in words: '211 added, 14 removed, 393 renumbered, 260 reworded'."""
        if not self.sections:
            return "nothing changed"
        return ", ".join(f"{count} {kind}" for kind, count in self.counts.items())


def compare(old: Edition, new: Edition) -> Diff:
    """What changed; if an edition is only excerpts, only the rules it contains are compared."""
    pairs = match(old, new)
    changes = [RuleChange(*pair) for pair in pairs]
    if old.is_whole:
        known = {other.number for _, other in pairs}
        changes += [RuleChange(None, rule) for rule in new.rules if rule.number not in known]
    if new.is_whole:
        known = {rule.number for rule, _ in pairs}
        changes += [RuleChange(rule, None) for rule in old.rules if rule.number not in known]
    changed = [change for change in changes if change.kinds]
    return Diff(old.name, new.name, _by_section(changed, old, new), tuple(_notes(old, new)))


def two_editions(
    rulebook: Rulebook, names: tuple[str, str] | None = None
) -> tuple[Edition, Edition]:
    """The editions to compare by name; without names, the two newest full ones."""
    if names is None:
        whole = [name for name, edition in rulebook.editions.items() if edition.is_whole]
        if len(whole) < 2:
            raise SticklerError(
                "There are fewer than two full editions to compare "
                f"(loaded: {_described(rulebook)})",
                "name two of these",
                Remedy(Action.GET_LATEST),
            )
        names = whole[1], whole[0]
    old, new = names
    if old == new:
        raise SticklerError(f"{old} cannot be compared with itself: name two editions.")
    return rulebook.edition(old), rulebook.edition(new)


def _described(rulebook: Rulebook) -> str:
    """The editions that are loaded: '2026-04-17, 2024-03-08 (excerpts)'."""
    return ", ".join(
        name if edition.is_whole else f"{name} (excerpts)"
        for name, edition in rulebook.editions.items()
    )


def _notes(old: Edition, new: Edition) -> Iterable[str]:
    """What a reader has to know if an edition is only excerpts."""
    for edition, kind in ((old, "added"), (new, "removed")):
        if not edition.is_whole:
            yield (
                f"Only excerpts of the edition {edition.name} are loaded ({len(edition.rules)} "
                f"rules): only these are compared, and no rule can be reported as {kind}."
            )


def _by_section(
    changes: Iterable[RuleChange], old: Edition, new: Edition
) -> tuple[SectionChanges, ...]:
    """The changes by section and number; a removed rule is listed where its section is now."""
    places = {name.lower(): number for number, name in new.sections.items() if len(number) > 1}
    found: dict[tuple[str, str], list[RuleChange]] = {}
    for change in changes:
        number = change.rule.number[:3]
        name = (old if change.new is None else new).sections.get(number, "")
        number = places.get(name.lower(), number)
        found.setdefault((number, name), []).append(change)
    return tuple(
        SectionChanges(
            number, name, tuple(sorted(those, key=lambda each: numbers.parse(each.rule.number)))
        )
        for (number, name), those in sorted(found.items())
    )


def _changed_words(old: Rule, new: Rule) -> list[tuple[Change, str]]:
    """The changes within what both texts have: text that a source cut off was not removed."""
    cut = old.truncated or new.truncated
    if cut or any(example.truncated for example in (*old.examples, *new.examples)):
        before, after = old.text, new.text
    else:
        before, after = _with_examples(old), _with_examples(new)
    if plain(before) == plain(after):
        return [("same", after)]
    changes = word_changes(before, after)
    while cut and changes and changes[-1][0] != "same":
        changes.pop()
    return changes


def _with_examples(rule: Rule) -> str:
    return "\n".join([rule.text, *(f"Example: {example.text}" for example in rule.examples)])

"""Matches the rules of two editions with each other, all at once.

Rules move, so they are matched by text before they are matched by number: first the same words,
then the closest wording under the same heading, then the closest anywhere.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from index import numbers
from index.history import ENOUGH, likeness, plain, words
from index.rulebook import Edition, Rule

Pair = tuple[Rule, Rule]  # a rule of the old edition and the same rule in the new one
_MAX_CANDIDATES = 6  # candidates that are compared with a rule word by word
_ENOUGH_ANYWHERE = 0.65  # like ENOUGH, for rules without a common heading


def match(old: Edition, new: Edition) -> list[Pair]:
    """The rules that both editions have; each rule is in one pair at most."""
    old_names, new_names = _names(old), _names(new)

    def may_be_one(one: Rule, other: Rule) -> bool:
        """Not if both rules have keywords as headings and either keyword is in both editions."""
        ours, theirs = _name(one, old), _name(other, new)
        known = ours in new_names or theirs in old_names
        return ours == theirs or not (ours and theirs and known)

    steps: list[Callable[[list[Rule], list[Rule]], list[Pair]]] = [
        lambda a, b: _same(a, b, lambda rule: (plain(rule.text), rule.number)),
        lambda a, b: _same(a, b, lambda rule: (plain(rule.text), rule.heading.lower())),
        lambda a, b: _same(a, b, lambda rule: plain(rule.text)),
        _closest_below_headings,
    ]
    if old.is_whole or new.is_whole:  # of two excerpts, the one looked for may not be loaded
        steps.append(lambda a, b: _closest(a, b, may_be_one, _ENOUGH_ANYWHERE))
    pairs: list[Pair] = []
    for step in steps:
        pairs += step(*_unmatched(old, new, pairs))
    return pairs + _renamed_headings(*_unmatched(old, new, pairs), pairs)


def _unmatched(old: Edition, new: Edition, pairs: Sequence[Pair]) -> tuple[list[Rule], list[Rule]]:
    matched = {one.number for one, _ in pairs}, {other.number for _, other in pairs}
    return (
        [rule for rule in old.rules if rule.number not in matched[0]],
        [rule for rule in new.rules if rule.number not in matched[1]],
    )


def _names(edition: Edition) -> set[str]:
    """The names that rules have as headings of their own, such as keywords."""
    return {rule.text.lower() for rule in edition.rules if rule.is_heading}


def _name(rule: Rule, edition: Edition) -> str:
    """The heading of a rule's group; '' if only its section has a name."""
    own = edition.by_number.get(numbers.group(rule.number))
    return own.text.lower() if own is not None and own.is_heading else ""


def _same(old: Iterable[Rule], new: Iterable[Rule], key: Callable[[Rule], Hashable]) -> list[Pair]:
    """Pairs of rules with the same key; if several share a key, they are paired in order."""
    waiting: dict[Hashable, list[Rule]] = {}
    for other in new:
        waiting.setdefault(key(other), []).append(other)
    return [(rule, others.pop(0)) for rule in old if (others := waiting.get(key(rule)))]


def _closest_below_headings(old: Iterable[Rule], new: Iterable[Rule]) -> list[Pair]:
    """The closest wordings among the rules that have the same heading."""
    olds, news = _by_heading(old), _by_heading(new)
    return [
        pair
        for heading in olds
        if heading and heading in news
        for pair in _closest(olds[heading], news[heading], lambda one, other: True, ENOUGH)
    ]


def _by_heading(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.heading.lower(), []).append(rule)
    return found


def _closest(
    old: Iterable[Rule],
    new: Iterable[Rule],
    may_be_one: Callable[[Rule, Rule], bool],
    enough: float,
) -> list[Pair]:
    """Pairs of rules that are similar enough, the closest first, each rule in one pair."""
    candidates = _Candidates(new)
    scored = [
        (likeness(rule, other), rule, other)
        for rule in old
        if not rule.is_heading
        for other in candidates.sharing_most_words(rule)
        if may_be_one(rule, other)
    ]
    scored.sort(key=lambda row: -row[0])
    pairs: list[Pair] = []
    old_taken: set[str] = set()
    new_taken: set[str] = set()
    for score, rule, other in scored:
        if score >= enough and rule.number not in old_taken and other.number not in new_taken:
            old_taken.add(rule.number)
            new_taken.add(other.number)
            pairs.append((rule, other))
    return pairs


class _Candidates:
    """An index of rules by word, so that a rule is compared only with promising candidates."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.number: rule for rule in rules if not rule.is_heading}
        self._sizes: dict[str, int] = {}
        self._having: dict[str, list[str]] = {}
        for number, rule in self._rules.items():
            own = set(words(rule.text))
            self._sizes[number] = len(own)
            for word in own:
                self._having.setdefault(word, []).append(number)

    def sharing_most_words(self, rule: Rule) -> list[Rule]:
        """The rules that have most of a rule's words and few others."""
        own = set(words(rule.text))
        shared = Counter(number for word in own for number in self._having.get(word, ()))
        share = {number: both / (len(own) + self._sizes[number]) for number, both in shared.items()}
        return [
            self._rules[number]
            for number in heapq.nlargest(_MAX_CANDIDATES, share, key=share.__getitem__)
        ]


def _renamed_headings(
    old: Iterable[Rule], new: Iterable[Rule], pairs: Iterable[Pair]
) -> list[Pair]:
    """Unmatched headings whose rules were matched: they were renamed."""
    moves: dict[str, Counter[str]] = {}
    for rule, other in pairs:
        moves.setdefault(numbers.group(rule.number), Counter())[numbers.group(other.number)] += 1
    headings = {rule.number: rule for rule in new if rule.is_heading}
    found: list[Pair] = []
    for rule in old:
        if rule.is_heading and rule.number in moves:
            ((number, _),) = moves[rule.number].most_common(1)
            if number in headings:
                found.append((rule, headings.pop(number)))
    return found

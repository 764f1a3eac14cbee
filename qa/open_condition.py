"""Clarification: which condition a question leaves open, and what the rules say for each case.

This uses wording alone, with the table open_condition.toml: two sentences of the rules found cover
opposite cases in nearly the same words, and the question mentions neither.

>>> find("Is infect damage counted as normal damage?", rules, cited=3).name
'damage to a creature or a player'
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from index.bm25 import stems
from index.rulebook import Rule
from qa.citations import quotable_sentences

_ALIKE = 0.2  # least share of words that two sentences have in common
_TOP_RULES = 2  # only the top rules count: the condition of a later one rarely matters


@dataclass(frozen=True, slots=True)
class Branch:
    """One side of an open condition, and the sentence of a rule that speaks of it."""

    side: str  # 'if it is attacking'
    number: str
    quote: str  # verbatim


@dataclass(frozen=True, slots=True)
class OpenCondition:
    """A condition that the answer depends on and the question leaves open."""

    name: str  # 'attacking or blocking'
    branches: tuple[Branch, ...]


class _Side(NamedTuple):
    words: str
    rule: re.Pattern[str]


class _Condition(NamedTuple):
    name: str
    stated: re.Pattern[str]
    about: re.Pattern[str]
    alike: float
    sides: list[_Side]

    def is_open(self, question: str) -> bool:
        return bool(self.about.search(question)) and not self.stated.search(question)


class _Sentence(NamedTuple):
    rank: int
    number: str
    text: str


class _Pair(NamedTuple):
    """Two sentences about opposite cases; the smallest pair is the best."""

    ranks: int
    difference: float
    condition: _Condition
    sentences: tuple[_Sentence, ...]


def find(question: str, rules: Sequence[Rule], cited: int) -> OpenCondition | None:
    """The condition that a question leaves open, if the rules found depend on one.

    The rules come best first; the first `cited` of them are cited, and one of the two must be.
    """
    asked = _plain(question)
    pairs = [
        pair
        for condition in _conditions()
        if condition.is_open(asked)
        for pair in _opposites(condition, rules, min(cited, _TOP_RULES))
    ]
    if not pairs:
        return None
    best = min(pairs, key=lambda pair: pair[:2])
    branches = [
        Branch(side.words, sentence.number, sentence.text)
        for side, sentence in zip(best.condition.sides, best.sentences, strict=True)
    ]
    return OpenCondition(best.condition.name, tuple(branches))


def _opposites(condition: _Condition, rules: Sequence[Rule], first: int) -> Iterator[_Pair]:
    """The sentences that speak of opposite sides alike, at least one of them of the first rules."""
    by_side: list[list[_Sentence]] = [[] for _ in condition.sides]
    for rank, rule in enumerate(rules):
        for text in quotable_sentences(rule):
            if (side := _side(condition, text)) is not None:
                by_side[side].append(_Sentence(rank, rule.number, text))
    for sentences in product(*by_side):
        ranks = [sentence.rank for sentence in sentences]
        if min(ranks) < first and (alike := _alike(*sentences)) >= condition.alike:
            yield _Pair(sum(ranks), 1 - alike, condition, sentences)


def _side(condition: _Condition, sentence: str) -> int | None:
    """The side that a sentence speaks of: the one that it names first."""
    plain = _plain(sentence)
    found = [side.rule.search(plain) for side in condition.sides]
    places = {at: match.start() for at, match in enumerate(found) if match}
    return min(places, key=places.__getitem__, default=None)


def _alike(one: _Sentence, two: _Sentence) -> float:
    words, others = set(stems(one.text)), set(stems(two.text))
    return len(words & others) / max(1, len(words | others))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


@cache
def _conditions() -> list[_Condition]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return [_condition(each) for each in table["condition"]]


def _condition(row: dict[str, Any]) -> _Condition:
    return _Condition(
        row["name"],
        re.compile(row["stated"]),
        re.compile(row.get("about", "")),
        row.get("alike", _ALIKE),
        [_Side(side["words"], re.compile(side["rule"])) for side in row["side"]],
    )

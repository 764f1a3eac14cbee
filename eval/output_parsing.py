"""What a model's words say: read strictly and leniently, so that a slip of form is told from a
wrong answer; and how far a free answer agrees with the gold."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from index.bm25 import stems
from qa import compose

LETTERS = "ABCD"
_OPENING = re.compile(rf"\W*([{LETTERS}])(?:[).:,]|\s*$)")  # no article: 'A creature ...'
_ANYWHERE = re.compile(r"\b([a-dA-D])[).:]|\b(?:answer|choice|option) is \(?([a-dA-D])\b")
_NO = re.compile(r"\b(?:not|never|cannot|no|none|neither|illegal)\b|n['’]t\b", re.IGNORECASE)


class ParsedOutput(NamedTuple):
    strict: str | None  # as it was asked for
    lenient: str | None  # as a patient reader would take it


def verdict(raw: str) -> ParsedOutput:
    """yes or no: the word that opens the answer; or anywhere; or a first sentence that denies."""
    strict = compose.verdict(raw)
    anywhere = re.search(r"\b(yes|no)\b", raw, re.IGNORECASE)
    lenient = strict or (anywhere[1].lower() if anywhere else None)
    if lenient is None and raw.strip():
        first = compose.whole_sentences(raw)[:1] or [raw]
        lenient = "no" if len(_NO.findall(first[0])) % 2 else "yes"
    return ParsedOutput(strict, lenient)


def choice(raw: str, choices: Sequence[str]) -> ParsedOutput:
    """The outcome chosen: by a letter that opens the answer; or any letter; or by its words."""
    opening = _OPENING.match(raw)
    strict = choices[LETTERS.index(opening[1])] if opening else None
    anywhere = _ANYWHERE.search(raw)
    lenient = strict
    if lenient is None and anywhere:
        lenient = choices[LETTERS.index((anywhere[1] or anywhere[2]).upper())]
    if lenient is None:
        nearest = max(choices, key=lambda each: overlap(raw, each))
        lenient = nearest if overlap(raw, nearest) else None
    return ParsedOutput(strict, lenient)


def overlap(said: str, gold: str) -> float:
    """F1 of the words, stemmed: 1 where both have the same words."""
    one, other = Counter(stems(said)), Counter(stems(gold))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0

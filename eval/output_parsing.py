"""What a model chose: from the probabilities it reported, otherwise parsed from its text.

Text is parsed strictly and leniently, because a wrong format is not a wrong answer.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from index.bm25 import stems
from qa import support
from qa import verdict as verdicts
from qa.models import Generation

LETTERS = "ABCD"
_OPENING = re.compile(rf"\W*([{LETTERS}])(?:[).:,]|\s*$)")  # not the article of 'A creature ...'
_ANYWHERE = re.compile(r"\b([a-dA-D])[).:]|\b(?:answer|choice|option) is \(?([a-dA-D])\b")
_NO = re.compile(r"\b(?:not|never|cannot|no|none|neither|illegal)\b|n['’]t\b", re.IGNORECASE)


class ParsedOutput(NamedTuple):
    """A verdict or a choice; None where none could be parsed."""

    strict: str | None  # in the format that was asked for
    lenient: str | None  # in any format that a patient reader would understand


def verdict(generation: Generation) -> ParsedOutput:
    """yes or no: the first word; leniently the word anywhere, or whether the answer negates."""
    if generation.probabilities is not None:
        likelier = "yes" if verdicts.log_odds(generation.probabilities) > 0 else "no"
        return ParsedOutput(likelier, likelier)
    raw = generation.text
    strict, _ = verdicts.split(raw)
    anywhere = re.search(r"\b(yes|no)\b", raw, re.IGNORECASE)
    lenient = strict or (anywhere[1].lower() if anywhere else None)
    if lenient is None and raw.strip():
        first, *_ = [text for text, _ in support.split_sentences(raw)] or [raw]
        lenient = "no" if len(_NO.findall(first)) % 2 else "yes"
    return ParsedOutput(strict, lenient)


def choice(generation: Generation, choices: Sequence[str]) -> ParsedOutput:
    """The outcome chosen: by the first letter; leniently by any letter, or by shared tokens."""
    if (likely := generation.probabilities) is not None:
        letter = max(LETTERS[: len(choices)], key=lambda each: likely.get(each, 0.0))
        chosen = choices[LETTERS.index(letter)]
        return ParsedOutput(chosen, chosen)
    raw = generation.text
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


def overlap(text: str, gold: str) -> float:
    """Token F1 of two texts, stemmed: 1 if both have the same words."""
    one, other = Counter(stems(text)), Counter(stems(gold))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0

"""Yes, no or unclear: read from the probabilities with which a model would open its answer.

A question asks for none if its words ask for something else ("how many", "when do"), or if the
model gives the two little of the probability. How sure the model may be is fitted for each model
by `stickler eval calibrate`; the table is verdict.json. Below the threshold, which may be out of
reach, the verdict is "unclear".
"""

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from qa.models import Probabilities

if TYPE_CHECKING:
    from qa.answer import Answer

Value = Literal["yes", "no", "unclear"]

OPTIONS = ("Yes", "No")
CALIBRATION = Path(__file__).with_name("verdict.json")
ASKED = 0.5  # share of yes and no together from which on a question asks for one of them
_TINY = 1e-9
_LAST_QUESTION = re.compile(r"[^.!?]*\?")
# How a clause begins that asks for more than a yes or no.
_OPEN = re.compile(
    r"(?:^|[:;,–—-])\W*"
    r"(?:(?:so|and|but|or|then|ok|okay|now|at|in|to|for|from|on|by|until|exactly|hey)\s+)*"
    r"(?:(?:what|how|which|who|whom|whose|where|why)(?:['’]?s)?\b|when(?:['’]?s\b|\s+"
    r"(?:exactly|can|could|do|does|did|is|are|am|was|will|would|must|should|may)\b))",
    re.IGNORECASE,
)
# 'No player controls it' opens with no verdict, 'No it cannot' does.
_OPENING = re.compile(
    r"\W*(yes\b|no(?=[*_”\"]*\s*(?:[.,:;!(\[–—]|-\s|$)|"
    r"\s+(?:it|you|they|he|she|that|this|because|since)\b))"
    r"[*_”\"]*\s*[.,:;!–—-]*[*_”\"]*\s*",
    re.IGNORECASE,
)
# What an answer begins with once its verdict is known; an unclear one only says what a rule says.
_OPENINGS: dict[Value, str] = {"yes": "Yes.", "no": "No.", "unclear": "The rule says that"}


class Verdict(NamedTuple):
    value: Value
    yes: float | None = None  # probability that yes is right; None where nobody knows

    @property
    def confidence(self) -> float | None:
        """That the likelier of yes and no is right."""
        return None if self.yes is None else round(max(self.yes, 1 - self.yes), 3)


class Calibration(NamedTuple):
    """From log-odds of yes over no to the probability that yes is right."""

    slope: float = 1.0
    intercept: float = 0.0
    threshold: float = 0.8  # confidence below which a verdict is unclear


def log_odds(probabilities: Probabilities) -> float:
    """Of yes over no."""
    yes, no = (max(probabilities.get(option, 0.0), _TINY) for option in OPTIONS)
    return math.log(yes / no)


def options(question: str) -> tuple[str, ...]:
    """What an answer may open with: yes and no, or nothing where the words ask for more."""
    asked = _LAST_QUESTION.findall(question)
    return () if _OPEN.search((asked[-1] if asked else question).strip()) else OPTIONS


def asks_for_one(probabilities: Probabilities) -> bool:
    """True where the model would answer with yes or no."""
    return sum(probabilities.get(option, 0.0) for option in OPTIONS) >= ASKED


def judge(probabilities: Probabilities | None, model: str) -> Verdict | None:
    """The verdict of a model; None where the question asks for none, or nothing is known."""
    if probabilities is None or not asks_for_one(probabilities):
        return None
    slope, intercept, threshold = calibration(model)
    yes = 1 / (1 + math.exp(-max(-50.0, min(50.0, slope * log_odds(probabilities) + intercept))))
    if max(yes, 1 - yes) < threshold:
        return Verdict("unclear", yes)
    return Verdict("yes" if yes >= 0.5 else "no", yes)


def opening(verdict: Verdict | None) -> str:
    """What an answer with this verdict begins with."""
    return _OPENINGS[verdict.value] if verdict else ""


def split(raw: str) -> tuple[Value | None, str]:
    """The yes or no that an answer opens with, and the rest of it."""
    match = _OPENING.match(raw)
    if match is None:
        return None, raw
    rest = raw[match.end() :]
    return "yes" if match[1].lower() == "yes" else "no", rest[:1].upper() + rest[1:]


def describe_confidence(answer: "Answer") -> str:
    """How sure the verdict of an answer is, in a few words; nothing where nobody knows."""
    if answer.yes_probability is None or answer.verdict_confidence is None:
        return ""
    percent = f"{answer.verdict_confidence:.0%}"
    if answer.verdict == "unclear":
        return f"{percent} for {'yes' if answer.yes_probability >= 0.5 else 'no'}"
    return f"{percent} sure"


@cache
def calibration(model: str) -> Calibration:
    """What was fitted for a model; a cautious guess for one that was not measured."""
    table = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    return Calibration(**table[model]) if model in table else Calibration()

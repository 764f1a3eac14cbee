"""Yes, no or unclear, from the probabilities of the first word of a model's answer.

A question asks for no verdict if its wording asks for something else ("how many", "when do"), or if
the model assigns little probability to the two. The probabilities are calibrated for each model by
`stickler eval calibrate` and stored in verdict.json. Below the threshold, which may be unreachable,
the verdict is "unclear".
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
MIN_YES_NO_SHARE = (
    0.5  # least total probability of yes and no for a question to count as asking for one
)
_TINY = 1e-9
_LAST_QUESTION = re.compile(r"[^.!?]*\?")
# The beginnings of clauses that ask for more than a yes or no.
_OPEN = re.compile(
    r"(?:^|[:;,–—-])\W*"
    r"(?:(?:so|and|but|or|then|ok|okay|now|at|in|to|for|from|on|by|until|exactly|hey)\s+)*"
    r"(?:(?:what|how|which|who|whom|whose|where|why)(?:['’]?s)?\b|when(?:['’]?s\b|\s+"
    r"(?:exactly|can|could|do|does|did|is|are|am|was|will|would|must|should|may)\b))",
    re.IGNORECASE,
)
# 'No player controls it' does not start with a verdict, 'No it cannot' does.
_OPENING = re.compile(
    r"\W*(yes\b|no(?=[*_”\"]*\s*(?:[.,:;!(\[–—]|-\s|$)|"
    r"\s+(?:it|you|they|he|she|that|this|because|since)\b))"
    r"[*_”\"]*\s*[.,:;!–—-]*[*_”\"]*\s*",
    re.IGNORECASE,
)
# The forced start of an answer, by verdict; an unclear one only repeats what the rule says.
_OPENINGS: dict[Value, str] = {"yes": "Yes.", "no": "No.", "unclear": "The rule says that"}


class Verdict(NamedTuple):
    value: Value
    yes: float | None = None  # probability that yes is right; None if unknown

    @property
    def confidence(self) -> float | None:
        """The probability that the more likely of yes and no is right."""
        return None if self.yes is None else round(max(self.yes, 1 - self.yes), 3)


class Calibration(NamedTuple):
    """From log-odds of yes over no to the probability that yes is right."""

    slope: float = 1.0
    intercept: float = 0.0
    threshold: float = 0.8  # confidence below which a verdict is unclear


def log_odds(probabilities: Probabilities) -> float:
    """The log-odds of yes over no."""
    yes, no = (max(probabilities.get(option, 0.0), _TINY) for option in OPTIONS)
    return math.log(yes / no)


def options(question: str) -> tuple[str, ...]:
    """The possible first words: yes and no, or none if the question asks for more."""
    asked = _LAST_QUESTION.findall(question)
    return () if _OPEN.search((asked[-1] if asked else question).strip()) else OPTIONS


def asks_for_one(probabilities: Probabilities) -> bool:
    """True if the model would answer with yes or no."""
    return sum(probabilities.get(option, 0.0) for option in OPTIONS) >= MIN_YES_NO_SHARE


def from_probabilities(probabilities: Probabilities | None, model: str) -> Verdict | None:
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
    """How sure an answer's verdict is, in a few words; '' if unknown."""
    if answer.yes_probability is None or answer.verdict_confidence is None:
        return ""
    percent = f"{answer.verdict_confidence:.0%}"
    if answer.verdict == "unclear":
        return f"{percent} for {'yes' if answer.yes_probability >= 0.5 else 'no'}"
    return f"{percent} sure"


@cache
def calibration(model: str) -> Calibration:
    """A model's calibration; a cautious guess if it was never calibrated."""
    table = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    return Calibration(**table[model]) if model in table else Calibration()

"""Estimates how likely a model's sentences are right, from features that cost nothing extra.

The weights are fitted per model on judged answers by `stickler eval calibrate --judged` and stored
in answer_confidence.json. Below a model's threshold, its sentences are shown only on request.
"""

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from qa.answer import Answer
from qa.confidence import logistic

WEIGHTS = Path(__file__).with_name("answer_confidence.json")
_COUNT = re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE)
_DEFINITION = re.compile(r"\bwhat(?:['’]s| is| are| does| do| counts)\b", re.IGNORECASE)
_CLIP = 0.01  # probabilities are clipped to this distance from 0 and 1


class AnswerConfidence(NamedTuple):
    right: float | None  # None for a model without judged answers
    enough: bool  # False: the sentences are not shown by default


def features(answer: Answer) -> dict[str, float]:
    """Features that separate a model's right answers from its wrong ones."""
    said = answer.generated.count("].") + answer.unsupported
    first = next((citation.number for citation in answer.cited), None)
    return {
        "verdict_log_odds": _log_odds(answer.verdict_confidence or 0.5),
        "no_verdict_asked": float(answer.verdict_confidence is None),
        "asks_how_many": float(bool(_COUNT.search(answer.question))),
        "asks_definition": float(bool(_DEFINITION.search(answer.question))),
        "mean_logprob": answer.mean_logprob or 0.0,
        "supported_share": 1 - answer.unsupported / said if said else 0.0,
        "search_log_odds": _log_odds(answer.confidence),
        "cites_top_rule": float(f"[{first}]" in answer.raw),
    }


def estimate(answer: Answer) -> AnswerConfidence:
    """How likely the model's sentences are right, and whether that suffices to show them."""
    table = _tables().get(answer.model)
    if table is None:
        return AnswerConfidence(None, answer.verdict != "unclear")
    right = logistic(table, features(answer))
    return AnswerConfidence(round(right, 3), right >= table["threshold"])


def _log_odds(probability: float) -> float:
    inside = min(max(probability, _CLIP), 1 - _CLIP)
    return math.log(inside / (1 - inside))


@cache
def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return tables

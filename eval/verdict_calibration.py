"""Fits for a language model how sure its yes or no may be, and from where on it is shown.

The model reads the rules that search finds for the calibration set's yes/no questions; a logistic
regression turns its log-odds of yes over no into a probability. The threshold is the lowest one
above which the verdicts, each judged by a fit on other questions, are right often enough.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval import items, metrics
from index import files
from index.embedder import Progress
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings
from qa.verdict import CALIBRATION, Calibration, log_odds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PRECISION = 0.8  # share of the shown verdicts that must be right
_FOLDS = 5
_LEAST = 20  # verdicts that a threshold is judged by, at least
_CHUNK = 16


def fit(
    resources: Resources, model: str, limit: int | None = None, progress: Progress | None = None
) -> dict[str, metrics.Figure]:
    """Fit, write the model's row of qa/verdict.json, and say what was measured on the way."""
    import numpy as np

    asked = [item for item in items.calibration() if item.gold_verdict][:limit]
    odds = _log_odds(Assistant(Settings(model), resources), [i.question for i in asked], progress)
    known = [at for at, each in enumerate(odds) if each is not None]
    inputs = np.array([odds[at] for at in known], dtype=float)
    yes = np.array([asked[at].gold_verdict == "yes" for at in known])
    held_out = _held_out(inputs, yes)
    confidence = np.maximum(held_out, 1 - held_out)
    right = (held_out > 0.5) == yes
    threshold = _threshold(confidence, right)
    slope, intercept = _regression(inputs, yes)
    row = Calibration(round(slope, 4), round(intercept, 4), round(threshold, 3))
    table = json.loads(CALIBRATION.read_text(encoding="utf-8")) | {model: row._asdict()}
    files.write_whole(CALIBRATION, json.dumps(table, indent=1).encode() + b"\n")
    records = [
        {"yes_probability": float(p), "gold": "yes" if truth else "no"}
        for p, truth in zip(held_out, yes, strict=True)
    ]
    area = metrics.verdict_auc(records)
    shown = confidence >= threshold
    figures = {
        "right, all": metrics.mean(right.astype(float).tolist()),
        "shown": metrics.mean(shown.astype(float).tolist()),
    }
    if shown.any():
        figures["right, shown"] = metrics.mean(right[shown].astype(float).tolist())
    return figures if area is None else {**figures, "AUC": area}


def _log_odds(
    assistant: Assistant, questions: Sequence[str], progress: Progress | None
) -> list[float | None]:
    """The model's log-odds of yes; None where search refuses or the model tells nothing."""
    found: list[float | None] = []
    for start in range(0, len(questions), _CHUNK):
        if progress:
            progress(start, len(questions))
        drafts = assistant.draft_many(questions[start : start + _CHUNK])
        for probabilities in assistant.read_many(drafts):
            found.append(None if probabilities is None else log_odds(probabilities))
    if progress:
        progress(len(questions), len(questions))
    return found


def _regression(inputs: "Array", yes: "Array") -> tuple[float, float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0).fit(inputs[:, None], yes)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _held_out(inputs: "Array", yes: "Array") -> "Array":
    """The probability of yes for each question, by a fit on the other folds."""
    import numpy as np

    found = np.empty(len(inputs))
    for fold in range(_FOLDS):
        own = np.arange(len(inputs)) % _FOLDS == fold
        slope, intercept = _regression(inputs[~own], yes[~own])
        found[own] = 1 / (1 + np.exp(-(slope * inputs[own] + intercept)))
    return found


def _threshold(confidence: "Array", right: "Array") -> float:
    """The lowest confidence above which enough verdicts are right; 1.01 (never) if none is."""
    import numpy as np

    order = np.argsort(-confidence)
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = [at for at in range(_LEAST - 1, len(order)) if share[at] >= PRECISION]
    return float(confidence[order[good[-1]]]) if good else 1.01

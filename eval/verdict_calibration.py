"""Calibrates a language model's yes or no, and sets the threshold from which it is shown.

The model is given the rules that search finds for the calibration set's yes/no questions; a
logistic regression turns its log-odds of yes over no into a probability. The threshold is the
lowest at which the verdicts, each scored by a fit on other questions, are right often enough. The
log-odds are stored in the data folder, so an interrupted calibration resumes.
"""

import contextlib
import hashlib
import json
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import index
import prompts
import qa
from eval import items, metrics
from eval.items import EvalItem
from index import files
from index.embedder import Progress
from qa import journal
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings
from qa.verdict import CALIBRATION, Calibration, log_odds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PRECISION = 0.91  # share of the shown verdicts that must be right
_FOLDS = 5
_MIN_VERDICTS = 20  # the fewest verdicts that a threshold may be based on
_CHUNK = 16


def fit(
    resources: Resources, model: str, limit: int | None = None, progress: Progress | None = None
) -> dict[str, metrics.Figure]:
    """Fit, write the model's row of qa/verdict.json, and say what was measured on the way."""
    import numpy as np

    asked = [item for item in items.fitted() if item.gold_verdict]
    random.Random(0).shuffle(asked)  # a limit takes some of each style
    asked = asked[:limit]
    odds = _log_odds(Assistant(Settings(model), resources), asked, progress)
    known = [item for item in asked if odds[item.id] is not None]
    inputs = np.array([odds[item.id] for item in known], dtype=float)
    yes = np.array([item.gold_verdict == "yes" for item in known])
    held_out = _held_out(inputs, yes)
    confidence = np.maximum(held_out, 1 - held_out)
    right = (held_out > 0.5) == yes
    threshold = _threshold(confidence, right)
    slope, intercept = _regression(inputs, yes)
    row = Calibration(round(slope, 4), round(intercept, 4), round(threshold, 3))
    table = json.loads(CALIBRATION.read_text(encoding="utf-8")) | {model: row._asdict()}
    files.write_whole(CALIBRATION, json.dumps(table, indent=1).encode() + b"\n")
    records = [
        {"yes_probability": float(each), "gold": "yes" if truth else "no"}
        for each, truth in zip(inputs, yes, strict=True)
    ]  # the raw log-odds, because fits on different folds are not on the same scale
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
    assistant: Assistant, asked: Sequence[EvalItem], progress: Progress | None
) -> dict[str, float | None]:
    """The model's log-odds of yes by question; None for refusals, or if it reports none."""
    assistant.load()
    made_with = _made_with(assistant)
    folder = files.data_folder() / "calibration"
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(json.dumps(made_with).encode()).hexdigest()[:16]
    records = journal.Journal(folder / f"{name}.jsonl", made_with, key=("id",))
    with contextlib.closing(records):
        left = [item for item in asked if records.claim(item.id)]
        for start in range(0, len(left), _CHUNK):
            if progress:
                progress(len(asked) - len(left) + start, len(asked))
            chunk = left[start : start + _CHUNK]
            drafts = assistant.draft_many([item.question for item in chunk])
            records.add(
                [
                    {"id": item.id, "log_odds": None if found is None else log_odds(found)}
                    for item, found in zip(chunk, assistant.read_many(drafts), strict=True)
                ]
            )
    if progress:
        progress(len(asked), len(asked))
    return {row["id"]: row["log_odds"] for row in journal.read(records.path)[1]}


def _made_with(assistant: Assistant) -> dict[str, str]:
    """All that the readings depend on."""
    model, searcher = assistant.model, assistant.resources.searcher
    return {
        "weights": model.hash if model else "",
        "embedder": searcher.embedder.hash,
        "settings": assistant.settings.hash,
        "documents": json.dumps(searcher.index.manifest["documents"]),
        "prompts": files.code(prompts),
        "code": files.code(index, qa),
    }


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
    good = [at for at in range(_MIN_VERDICTS - 1, len(order)) if share[at] >= PRECISION]
    return float(confidence[order[good[-1]]]) if good else 1.01

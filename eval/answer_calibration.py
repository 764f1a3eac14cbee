"""Fits how likely a model's sentences are right: qa/answer_confidence.json.

Two readers independently judged the answers against the deciding rule and the gold answer
(eval/sets/judged-answers.jsonl). Answers to calibration questions are used for fitting, those to
dev questions only for measuring. A clear verdict is shown even if its sentences are not; it then
counts as right if it equals the gold verdict.
"""

import json
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any

from eval import items, metrics
from eval.calibrate import regression
from index import files
from qa.answer_confidence import WEIGHTS
from qa.confidence import logistic

JUDGED = items.SETS / "judged-answers.jsonl"
JUDGEMENTS = ("right", "partly", "wrong", "misleading")
SETS = ("calibration", "dev")  # fitted on, measured on
MIN_RIGHT_SHARE = 0.8  # share of the shown answers that must be right
MAX_MISLEADING_SHARE = 0.07  # share of them that may be misleading
_FOLDS = 5
_MIN_ANSWERS = 20  # the fewest answers that a threshold may be based on

Row = dict[str, Any]


def fit(model: str, path: Path = JUDGED) -> dict[str, metrics.Figure]:
    """Fit, write the model's row in the table, and return the figures measured along the way."""
    rows = items.rows(path)
    fitted, dev = ([row for row in rows if row["set"] == name] for name in SETS)
    scores = _held_out(fitted)
    table = _fitted(fitted)
    table["threshold"] = _threshold(scores, fitted)
    on_dev = [logistic(table, row["features"]) for row in dev]
    figures = {
        **_figures("calibration", fitted, scores, table["threshold"]),
        **_figures("dev", dev, on_dev, table["threshold"]),
        "readers agree": metrics.mean([float(len(set(row["judged"])) == 1) for row in rows]),
    }
    tables = json.loads(WEIGHTS.read_text(encoding="utf-8")) | {model: table}
    files.write_whole(WEIGHTS, json.dumps(tables, indent=1).encode() + b"\n")
    return figures


def _fitted(rows: Sequence[Row]) -> dict[str, Any]:
    """The regression on every judgement of these answers."""
    import numpy as np

    judged = [(row["features"], each == "right") for row in rows for each in row["judged"]]
    labels = np.array([right for _, right in judged], dtype=float)
    return regression([features for features, _ in judged], labels, balanced=False)


def _held_out(rows: Sequence[Row]) -> list[float]:
    """The score of each answer, from a fit on the other folds."""
    tables = [
        _fitted([row for at, row in enumerate(rows) if at % _FOLDS != fold])
        for fold in range(_FOLDS)
    ]
    return [logistic(tables[at % _FOLDS], row["features"]) for at, row in enumerate(rows)]


def _share(row: Row, judgement: str) -> float:
    """The share of readers who gave this judgement."""
    return float(sum(each == judgement for each in row["judged"]) / len(row["judged"]))


def _threshold(scores: Sequence[float], rows: Sequence[Row]) -> float:
    """The lowest score above which enough answers are right and few misleading; 1.01 if none is.

    Only sentences that a rule supports can be shown at all.
    """
    supported = [at for at, row in enumerate(rows) if row["supported"]]
    order = sorted(supported, key=lambda at: -scores[at])
    right = misleading = 0.0
    lowest = 1.01
    for count, at in enumerate(order, 1):
        right += _share(rows[at], "right")
        misleading += _share(rows[at], "misleading")
        if (
            count >= _MIN_ANSWERS
            and right >= MIN_RIGHT_SHARE * count
            and misleading <= MAX_MISLEADING_SHARE * count
        ):
            lowest = scores[at]
    return round(lowest, 3)


def _figures(
    name: str, rows: Sequence[Row], scores: Sequence[float], threshold: float
) -> dict[str, metrics.Figure]:
    """How many of these answers are shown, and how the readers judged them."""
    if not rows:
        return {}
    sure = [
        bool(row["supported"]) and score >= threshold
        for row, score in zip(rows, scores, strict=True)
    ]
    shown = [_as_shown(row, each) for row, each in zip(rows, sure, strict=True)]
    return {
        f"{name}: right, all": metrics.mean([_share(row, "right") for row in rows]),
        **_shares(f"{name}: sentences", [row["judged"] for row in compress(rows, sure)], len(rows)),
        **_shares(f"{name}: answers", [each for each in shown if each], len(rows)),
    }


def _as_shown(row: Row, sure: bool) -> list[str]:
    """The judgements of the part of an answer that a player sees; empty if nothing is shown."""
    if sure:
        return list(row["judged"])
    if row["verdict"] not in ("yes", "no"):
        return []
    if row["gold_verdict"] is None:  # no yes or no was wanted
        return list(row["judged"])
    return ["right" if row["verdict"] == row["gold_verdict"] else "misleading"]


def _shares(name: str, shown: Sequence[Sequence[str]], of: int) -> dict[str, metrics.Figure]:
    """The share of `of` answers that is shown, and the share of each judgement among these."""
    figures = {f"{name} shown": metrics.mean([1.0] * len(shown) + [0.0] * (of - len(shown)))}
    if shown:
        for judgement in JUDGEMENTS:
            shares = [sum(each == judgement for each in those) / len(those) for those in shown]
            figures[f"{name} {judgement}"] = metrics.mean(shares)
    return figures

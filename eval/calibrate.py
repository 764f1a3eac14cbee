"""Fits the weights of qa/confidence.json: when to answer, and what confidence to show.

The weights are those for excerpts, or those for full releases if a full release is loaded.

Features of the search result are fitted on the calibration set, against questions that the rules
do not settle. The threshold is set on one half of the dev set; it is measured on the other half
and on unanswerable questions that nothing was fitted on.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eval import items, metrics
from eval.items import EvalItem
from index import files
from index.editions import CURRENT
from index.hits import SearchFeatures, SearchResult
from qa.citations import near_best
from qa.confidence import WEIGHTS, extent, features, logistic
from qa.resources import Resources
from qa.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MAX_REFUSED_SHARE = 0.04  # share of answerable questions that may be refused

Report = dict[str, dict[str, metrics.Figure]]  # by table of weights and measure


class Inputs(NamedTuple):
    """Questions as the regressions see them."""

    features: list[dict[str, float]]
    correct: list[float]  # 1 where a rule that decides would be cited
    example: SearchFeatures  # of one of them


def fit(resources: Resources) -> Report:
    """Fit, write qa/confidence.json, and measure on held-out data.

    Correctness is determined by rule numbers, so a full release must number its rules as the
    shipped excerpts do.
    """
    import numpy as np

    whole = resources.searcher.rulebook.current.is_whole
    dev = items.dev()
    unanswerable = [
        item for item in items.unanswerable() if not (whole and item.kind == items.OTHER_RULES)
    ]
    known = _inputs(resources, items.fitted())
    none = _inputs(resources, [item for item in unanswerable if item.split == "calibrate"])
    labels = np.r_[np.ones(len(known.features)), np.zeros(len(none.features))]
    answerable = regression(known.features + none.features, labels)
    rule_cited = regression(known.features, np.array(known.correct), balanced=False)
    threshold_scores = _scores(answerable, _inputs(resources, dev[0::2]))
    answerable["threshold"] = float(np.quantile(threshold_scores, MAX_REFUSED_SHARE))
    held_out = _inputs(resources, dev[1::2])
    unsettled = [item for item in unanswerable if item.split == "test"]
    report = {
        "answerable": _refusals(answerable, held_out, unsettled, _inputs(resources, unsettled)),
        "rule_cited": _calibration(rule_cited, held_out),
    }
    tables = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    tables[extent(whole, known.example)] = _rounded(
        {"answerable": answerable, "rule_cited": rule_cited}
    )
    files.write_whole(WEIGHTS, json.dumps(tables, indent=0).encode() + b"\n")
    return report


def _inputs(resources: Resources, asked: Sequence[EvalItem]) -> Inputs:
    out_of_scope = resources.out_of_scope(CURRENT)
    results = resources.searcher.search([item.question for item in asked])
    return Inputs(
        [features(r.hits, r.features, out_of_scope.nearest(r.features.vector)) for r in results],
        [float(_correct(item, result)) for item, result in zip(asked, results, strict=True)],
        results[0].features,
    )


def _correct(item: EvalItem, result: SearchResult) -> bool:
    cited = near_best(result.hits, Settings().max_citations)
    return any(hit.passage.number in item.gold_rules for hit in cited)


def regression(
    rows: list[dict[str, float]], labels: "Array", balanced: bool = True
) -> dict[str, Any]:
    """A logistic regression on the features, as a constant and a weight for each."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    names = list(rows[0])
    inputs = np.array([[values[name] for name in names] for values in rows])
    mean = inputs.mean(axis=0)
    spread = inputs.std(axis=0)
    spread[spread < 1e-9] = 1  # a feature may be the same for all
    model = LogisticRegression(
        C=0.05, class_weight="balanced" if balanced else None, max_iter=5000
    ).fit((inputs - mean) / spread, labels)
    weights = model.coef_[0] / spread  # the scaling folded in
    return {
        "constant": float(model.intercept_[0] - (weights * mean).sum()),
        "features": dict(zip(names, weights.tolist(), strict=True)),
    }


def _refusals(
    table: dict[str, Any], answerable: Inputs, unsettled: Sequence[EvalItem], inputs: Inputs
) -> dict[str, metrics.Figure]:
    """How often each kind of question is refused."""
    threshold = table["threshold"]
    answerable_refused = [float(score < threshold) for score in _scores(table, answerable)]
    refused = [float(score < threshold) for score in _scores(table, inputs)]
    by_kind: dict[str, list[float]] = {}
    for item, value in zip(unsettled, refused, strict=True):
        by_kind.setdefault(item.kind, []).append(value)
    return {
        "answerable refused": metrics.mean(answerable_refused),
        "unanswerable refused": metrics.mean(refused),
        **{f"{kind} refused": metrics.mean(by_kind[kind]) for kind in sorted(by_kind)},
    }


def _calibration(table: dict[str, Any], inputs: Inputs) -> dict[str, metrics.Figure]:
    """How confidence compares with how often a deciding rule is cited."""
    confidences = _scores(table, inputs).tolist()
    errors = [(c - correct) ** 2 for c, correct in zip(confidences, inputs.correct, strict=True)]
    return {
        "confidence, mean": metrics.mean(confidences),
        "right, mean": metrics.mean(inputs.correct),
        "Brier score": metrics.mean(errors),
    }


def _scores(table: dict[str, Any], inputs: Inputs) -> "Array":
    import numpy as np

    return np.array([logistic(table, values) for values in inputs.features])


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 5) if isinstance(value, float) else value

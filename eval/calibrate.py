"""Fits the weights of qa/confidence.json: when to answer, and how sure to say one is.

What search knows of its result is weighed on questions about rules that no model was trained on,
against questions that the rules cannot answer. The threshold is set on one half of the players'
questions; what it gives is measured on the other half and on unanswerable questions that nothing
was fitted on.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval import items, metrics
from eval.items import EvalItem
from index.hits import SearchResult
from index.searcher import Searcher
from qa.citations import near_best
from qa.confidence import WEIGHTS, features
from qa.settings import Settings
from qa.out_of_scope import OutOfScope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

REFUSED = 0.05  # share of answerable questions that may be refused
_ROUNDABOUT = 3  # every so many of the roundabout questions count: most people ask plainly


def fit(searcher: Searcher) -> dict[str, Any]:
    """Fit, write qa/confidence.json, and measure on what was held out."""
    import numpy as np

    players, unanswerable = items.dev(), items.unanswerable()
    kept_back = [*items.kept_back(), *items.kept_roundabout()[::_ROUNDABOUT]]
    for_threshold, for_test = players[0::2], players[1::2]

    known, known_found = _inputs(searcher, kept_back)
    none, _ = _inputs(searcher, [item for item in unanswerable if item.split == "calibrate"])
    names = list(known[0])
    answerable = np.r_[np.ones(len(known)), np.zeros(len(none))]
    right = [float(_right(item, found)) for item, found in zip(kept_back, known_found, strict=True)]
    settled = _fitted(names, known + none, answerable)
    tables = {"settled": settled, "found": _fitted(names, known, np.array(right), balanced=False)}

    threshold_inputs, _ = _inputs(searcher, for_threshold)
    settled["threshold"] = float(np.quantile(_scores(settled, threshold_inputs), REFUSED))
    test_inputs, test_found = _inputs(searcher, for_test)
    held_out = [item for item in unanswerable if item.split == "test"]
    out_inputs, _ = _inputs(searcher, held_out)
    refused = (_scores(settled, test_inputs) < settled["threshold"]).astype(float)
    unanswered = (_scores(settled, out_inputs) < settled["threshold"]).astype(float)
    report: dict[str, Any] = {}
    report["settled"] = {
        "answerable refused": metrics.mean(refused.tolist()),
        "unanswerable refused": metrics.mean(unanswered.tolist()),
        **{
            f"{sort} refused": metrics.mean(
                [u for u, item in zip(unanswered, held_out, strict=True) if item.kind == sort]
            )
            for sort in sorted({item.kind for item in held_out})
        },
    }
    sure = _scores(tables["found"], test_inputs)
    truth = [float(_right(item, found)) for item, found in zip(for_test, test_found, strict=True)]
    report["found"] = {
        "confidence, mean": metrics.mean(sure.tolist()),
        "right, mean": metrics.mean(truth),
        "Brier score": metrics.mean([(s - t) ** 2 for s, t in zip(sure, truth, strict=True)]),
    }
    WEIGHTS.write_text(json.dumps(_rounded(tables), indent=0) + "\n", encoding="utf-8")
    return report


def _inputs(
    searcher: Searcher, those: Sequence[EvalItem]
) -> tuple[list[dict[str, float]], list[SearchResult]]:
    topics = OutOfScope(searcher.book.current, searcher.embedder)
    found = searcher.find_many([item.question for item in those])
    rows = [features(f.hits, f.evidence, topics.nearest(f.evidence.vector)) for f in found]
    return rows, found


def _right(item: EvalItem, found: SearchResult) -> bool:
    cited = near_best(found.hits, Settings().max_citations)
    return any(hit.passage.number in item.gold_rules for hit in cited)


def _fitted(
    names: list[str], rows: list[dict[str, float]], truth: "Array", balanced: bool = True
) -> dict[str, Any]:
    """A logistic regression on the features."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    inputs = np.array([[values[name] for name in names] for values in rows])
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    model = LogisticRegression(
        C=0.05, class_weight="balanced" if balanced else None, max_iter=5000
    ).fit((inputs - mean) / spread, truth)
    weights = model.coef_[0] / spread  # the scaling folded in
    return {
        "constant": float(model.intercept_[0] - (weights * mean).sum()),
        "features": dict(zip(names, weights.tolist(), strict=True)),
    }


def _scores(table: dict[str, Any], rows: list[dict[str, float]]) -> "Array":
    import numpy as np

    from qa.confidence import logistic

    return np.array([logistic(table, values) for values in rows])


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value

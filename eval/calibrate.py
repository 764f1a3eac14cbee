"""Fits the weights of qa/confidence.json: when to answer, and how sure to say one is.

Weights are fitted on practice questions against questions that the rules cannot answer; the
threshold is set on one half of the players' questions; what it gives is measured on the other half
and on unanswerable questions that nothing was fitted on.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval import items, metrics
from eval.items import EvalItem
from index.search import Found, Searcher
from qa.confidence import WEIGHTS, features
from qa.topics import Topics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

REFUSED = 0.095  # share of answerable questions that may be refused
CITED = 3


def fit(searcher: Searcher) -> dict[str, Any]:
    """Fit, write qa/confidence.json, and measure on what was held out."""
    import numpy as np

    practice, players = items.practice(), items.players()
    settled = [item for item in items.unanswerable() if item.split != "test"]
    held_out = [item for item in items.unanswerable() if item.split == "test"]
    for_threshold, for_test = players[0::2], players[1::2]

    known, known_found = _inputs(searcher, practice)
    none, _ = _inputs(searcher, settled)
    names = list(known[0][0])
    answerable = np.r_[np.ones(len(known)), np.zeros(len(none))]
    tables: dict[str, Any] = {"embedder": searcher.embedder.hash}
    tables["settled"] = _fitted(names, known + none, answerable, True)
    tables["settled_plain"] = _fitted(names, known + none, answerable, False)
    right = [float(_right(item, found)) for item, found in zip(practice, known_found, strict=True)]
    tables["found"] = _fitted(names, known, np.array(right), False, balanced=False)

    threshold_inputs, _ = _inputs(searcher, for_threshold)
    test_inputs, test_found = _inputs(searcher, for_test)
    out_inputs, _ = _inputs(searcher, held_out)
    report: dict[str, Any] = {}
    for name in ("settled", "settled_plain"):
        table = tables[name]
        table["threshold"] = float(np.quantile(_scores(table, threshold_inputs), REFUSED))
        refused = (_scores(table, test_inputs) < table["threshold"]).astype(float)
        unanswered = (_scores(table, out_inputs) < table["threshold"]).astype(float)
        report[name] = {
            "answerable refused": metrics.mean(refused.tolist()),
            "unanswerable refused": metrics.mean(unanswered.tolist()),
            **{
                f"{kind} refused": metrics.mean(
                    [u for u, item in zip(unanswered, held_out, strict=True) if item.kind == kind]
                )
                for kind in sorted({item.kind for item in held_out})
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
) -> tuple[list[tuple[dict[str, float], Any]], list[Found]]:
    topics = Topics(searcher.book.current, searcher.embedder)
    found = searcher.find_many([item.question for item in those])
    rows = [
        (features(f.hits, f.evidence, topics.nearest(f.evidence.vector)), f.evidence.vector)
        for f in found
    ]
    return rows, found


def _right(item: EvalItem, found: Found) -> bool:
    return any(hit.passage.number in item.gold_rules for hit in found.hits[:CITED])


def _fitted(
    names: list[str],
    rows: list[tuple[dict[str, float], Any]],
    truth: "Array",
    with_vector: bool,
    balanced: bool = True,
) -> dict[str, Any]:
    """A logistic regression, its scaling folded into the weights."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    plain = np.array([[values[name] for name in names] for values, _ in rows])
    mean, spread = plain.mean(axis=0), plain.std(axis=0)
    inputs = (plain - mean) / spread
    if with_vector:
        inputs = np.c_[inputs, 4 * np.array([vector for _, vector in rows])]
    model = LogisticRegression(
        C=0.3, class_weight="balanced" if balanced else None, max_iter=5000
    ).fit(inputs, truth)
    weights = model.coef_[0][: len(names)] / spread
    table: dict[str, Any] = {
        "constant": float(model.intercept_[0] - (weights * mean).sum()),
        "features": dict(zip(names, weights.tolist(), strict=True)),
    }
    if with_vector:
        table["vector"] = (4 * model.coef_[0][len(names) :]).tolist()
    return table


def _scores(table: dict[str, Any], rows: list[tuple[dict[str, float], Any]]) -> "Array":
    import numpy as np

    from qa.confidence import logistic

    return np.array([logistic(table, values, vector) for values, vector in rows])


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value

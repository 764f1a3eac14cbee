"""Fits the weights of qa/confidence.json: when to answer, and how sure to say one is.

What search knows of its result is weighed on questions about rules that no model was trained on,
against questions that the rules cannot answer; what a question's vector says of its kind comes from
all practice questions. The threshold is set on one half of the players' questions; what it gives is
measured on the other half and on unanswerable questions that nothing was fitted on.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval import items, metrics
from eval.items import EvalItem
from index.hits import Found
from index.search import Searcher
from qa.confidence import WEIGHTS, features
from qa.topics import Topics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

REFUSED = 0.08  # share of answerable questions that may be refused
CITED = 3


def fit(searcher: Searcher) -> dict[str, Any]:
    """Fit, write qa/confidence.json, and measure on what was held out."""
    import numpy as np

    players, kept_back = items.players(), items.kept_back()
    splits: dict[str, list[EvalItem]] = {"train": [], "calibrate": [], "test": []}
    for item in items.unanswerable():
        splits[item.split].append(item)
    for_threshold, for_test = players[0::2], players[1::2]

    kept = {item.id for item in kept_back}
    practice = [item for item in items.practice() if item.id not in kept]
    kind = _kind(searcher, practice, splits["train"])
    known, known_found = _inputs(searcher, kept_back)
    none, _ = _inputs(searcher, splits["calibrate"])
    names = list(known[0][0])
    answerable = np.r_[np.ones(len(known)), np.zeros(len(none))]
    tables: dict[str, Any] = {"embedder": searcher.embedder.hash}
    tables["settled"] = _fitted(names, known + none, answerable, kind)
    tables["settled_plain"] = _fitted(names, known + none, answerable)
    right = [float(_right(item, found)) for item, found in zip(kept_back, known_found, strict=True)]
    tables["found"] = _fitted(names, known, np.array(right), balanced=False)

    threshold_inputs, _ = _inputs(searcher, for_threshold)
    test_inputs, test_found = _inputs(searcher, for_test)
    held_out = splits["test"]
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


def _kind(
    searcher: Searcher, settled: Sequence[EvalItem], not_settled: Sequence[EvalItem]
) -> "Array":
    """The direction in which vectors of questions that the rules settle differ from others."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    asked = [item.question for item in (*settled, *not_settled)]
    truth = np.r_[np.ones(len(settled)), np.zeros(len(not_settled))]
    vectors = searcher.embedder.encode_questions(asked)
    model = LogisticRegression(C=5, class_weight="balanced", max_iter=5000).fit(vectors, truth)
    direction: Array = model.coef_[0]
    return direction


def _fitted(
    names: list[str],
    rows: list[tuple[dict[str, float], Any]],
    truth: "Array",
    kind: "Array | None" = None,
    balanced: bool = True,
) -> dict[str, Any]:
    """A logistic regression on the features and, if given, on how far a vector goes one way."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    inputs = np.array([[values[name] for name in names] for values, _ in rows])
    if kind is not None:
        inputs = np.c_[inputs, [vector @ kind for _, vector in rows]]
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    model = LogisticRegression(
        C=0.3, class_weight="balanced" if balanced else None, max_iter=5000
    ).fit((inputs - mean) / spread, truth)
    weights = model.coef_[0] / spread  # the scaling folded in
    table: dict[str, Any] = {
        "constant": float(model.intercept_[0] - (weights * mean).sum()),
        "features": dict(zip(names, weights[: len(names)].tolist(), strict=True)),
    }
    if kind is not None:
        table["vector"] = (weights[-1] * kind).tolist()
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

"""Figures from the records of a run, each with a 95% bootstrap interval."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from index import numbers

Record = Mapping[str, Any]
_DEPTH = 10


class Figure(NamedTuple):
    """A mean over items and its 95% bootstrap interval."""

    value: float
    low: float
    high: float
    items: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Difference(NamedTuple):
    """The second run minus the first over the same items; p is from a paired permutation test."""

    first: float
    second: float
    low: float
    high: float
    p: float
    items: int


def mean(values: Sequence[float], rounds: int = 2000, seed: int = 1) -> Figure:
    """The mean of values with its interval, which is the same for the same values and seed."""
    import numpy as np

    if not values:
        raise ValueError("There is nothing to take the mean of.")
    array = np.asarray(values, dtype=float)
    picks = np.random.default_rng(seed).integers(0, len(array), (rounds, len(array)))
    low, high = np.percentile(array[picks].mean(axis=1), [2.5, 97.5])
    return Figure(float(array.mean()), float(low), float(high), len(array))


def paired(first: Sequence[float], second: Sequence[float], rounds: int = 10_000) -> Difference:
    """A paired permutation test of two runs' values, item by item."""
    import numpy as np

    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    difference = other - one
    random = np.random.default_rng(1)
    signs = random.choice((-1.0, 1.0), (rounds, len(difference)))
    by_chance = np.abs((signs * difference).mean(axis=1))
    p = (1 + int((by_chance >= abs(difference.mean()) - 1e-12).sum())) / (1 + rounds)
    interval = mean(difference.tolist())
    return Difference(
        float(one.mean()), float(other.mean()), interval.low, interval.high, p, len(difference)
    )


def hit(found: Sequence[str], gold: Sequence[str], k: int) -> float:
    """1 if a gold rule is among the first k found, otherwise 0."""
    return float(any(number in gold for number in found[:k]))


def cited(record: Record) -> float:
    """1 if a gold rule is among those that a record cites, otherwise 0."""
    return hit(record["cited"], record["gold_rules"], len(record["cited"]))


# The measures of a record; None if a measure does not apply to it.
_MEASURES: dict[str, Callable[[Record], float | None]] = {
    "rule cited": lambda record: cited(record) if _answerable(record) else None,
    "citations": lambda record: None if record["abstained"] else float(len(record["cited"])),
    "citations valid": lambda record: _share(record["valid"]),
    "citation recall": lambda record: _overlap(record, record["gold_rules"]),
    "citation precision": lambda record: _overlap(record, record["cited"]),
    "refused": lambda record: float(record["abstained"]) if _plain(record) else None,
    "right, strict": lambda record: _right(record, "strict"),
    "right, lenient": lambda record: _right(record, "lenient"),
    "well-formed": lambda record: (
        float(record["strict"] is not None) if "strict" in record else None
    ),
    "token F1": lambda record: _pair(record, "overlap", 0),
    "token F1, raw": lambda record: _pair(record, "overlap", 1),
    "similarity to gold": lambda record: _pair(record, "similar", 0),
    "similarity to gold, raw": lambda record: _pair(record, "similar", 1),
    "verdict shown": lambda record: _verdict_shown(record),
    "shown verdict right": lambda record: _verdict_right(record),
    "likelier verdict right": lambda record: _likelier_right(record),
    "sentences shown": lambda record: (
        float(bool(record["generated"])) if record.get("raw") and _plain(record) else None
    ),
    "seconds": lambda record: record["ms"] / 1000,
    "tokens": lambda record: float(record["tokens"]) if record["tokens"] else None,
}


def by_item(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Every measure that applies, as measure -> item id -> value."""
    table = _retrieval(records)
    for name, measure in _MEASURES.items():
        found = {record["id"]: measure(record) for record in records}
        table[name] = {own: value for own, value in found.items() if value is not None}
    return {name: column for name, column in table.items() if column}


def summary(records: Sequence[Record]) -> dict[str, Figure]:
    """The figure of every measure that applies to a set's records."""
    figures = {name: mean(list(column.values())) for name, column in by_item(records).items()}
    area = verdict_auc(records)
    return figures if area is None else {**figures, "verdict AUC": area}


def verdict_auc(records: Sequence[Record], rounds: int = 500, seed: int = 1) -> Figure | None:
    """How well the probability of yes separates questions answered yes from those answered no.

    The area under the ROC curve: 0.5 is chance. None unless there are questions of both kinds.
    """
    import numpy as np
    from sklearn.metrics import roc_auc_score

    rows = [r for r in records if r.get("yes_probability") is not None and r.get("gold")]
    yes = np.array([row["gold"] == "yes" for row in rows])
    scores = np.array([row["yes_probability"] for row in rows])
    if len(set(yes.tolist())) < 2:
        return None
    picks = np.random.default_rng(seed).integers(0, len(rows), (rounds, len(rows)))
    areas = [
        roc_auc_score(yes[pick], scores[pick]) for pick in picks if 0 < yes[pick].sum() < len(pick)
    ]
    low, high = np.percentile(areas, [2.5, 97.5])
    return Figure(float(roc_auc_score(yes, scores)), float(low), float(high), len(rows))


def _verdict_shown(record: Record) -> float | None:
    """Whether a question that asks for yes or no gets one."""
    if "yes_probability" not in record:
        return None
    return float(record["verdict"] in ("yes", "no"))


def _verdict_right(record: Record) -> float | None:
    if not _verdict_shown(record):
        return None
    return float(record["verdict"] == record["gold"])


def _likelier_right(record: Record) -> float | None:
    if record.get("yes_probability") is None:
        return None
    return float((record["yes_probability"] > 0.5) == (record["gold"] == "yes"))


def _retrieval(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Hits, recall, MRR and nDCG from ir-measures, for the rule itself and for its parent."""
    import ir_measures
    from ir_measures import RR, R, Success, nDCG

    wanted = {
        "hit@1": Success @ 1,
        "hit@3": Success @ 3,
        "hit@5": Success @ 5,
        "hit@10": Success @ 10,
        "recall@8": R @ 8,
        "MRR": RR @ _DEPTH,
        "nDCG@10": nDCG @ _DEPTH,
    }
    with_gold = [record for record in records if record["gold_rules"]]
    if not with_gold:
        return {}
    names = {measure: name for name, measure in wanted.items()}
    table: dict[str, dict[str, float]] = {}
    for suffix, level in (("", str), (", parent", numbers.group)):
        gold = {record["id"]: {level(n): 1 for n in record["gold_rules"]} for record in with_gold}
        run = {record["id"]: _ranks(map(level, record["found"])) for record in with_gold}
        for name in wanted:
            table[name + suffix] = dict.fromkeys(gold, 0.0)  # where nothing is found
        for metric in ir_measures.iter_calc(list(wanted.values()), gold, run):
            table[names[metric.measure] + suffix][metric.query_id] = float(metric.value)
    return table


def _ranks(found: Iterable[str]) -> dict[str, float]:
    return {number: float(-rank) for rank, number in enumerate(dict.fromkeys(found))}


def _plain(record: Record) -> bool:
    """True for a question that is answered in words, without outcomes to choose from."""
    return record["kind"] not in ("outcome", "verdict")


def _answerable(record: Record) -> bool:
    return _plain(record) and bool(record["gold_rules"])


def _share(checks: Sequence[bool]) -> float | None:
    return sum(checks) / len(checks) if checks else None


def _overlap(record: Record, of: Sequence[str]) -> float | None:
    if not _answerable(record) or not record["cited"]:
        return None
    return len(set(record["cited"]) & set(record["gold_rules"])) / len(set(of))


def _right(record: Record, parsing: str) -> float | None:
    return float(record[parsing] == record["gold"]) if parsing in record else None


def _pair(record: Record, name: str, place: int) -> float | None:
    return float(record[name][place]) if name in record else None


def calibration(records: Sequence[Record], bins: int = 10) -> list[tuple[float, float, int]]:
    """(mean confidence, share that cites a gold rule, answers) for each bin of confidence."""
    rows: dict[int, list[Record]] = {}
    for record in records:
        if _answerable(record) and not record["abstained"]:
            rows.setdefault(min(bins - 1, int(record["confidence"] * bins)), []).append(record)
    return [
        (
            sum(record["confidence"] for record in those) / len(those),
            sum(map(cited, those)) / len(those),
            len(those),
        )
        for _, those in sorted(rows.items())
    ]


def calibration_error(records: Sequence[Record]) -> float:
    """The expected calibration error: |confidence - accuracy|, averaged over the answers."""
    rows = calibration(records)
    total = sum(count for *_, count in rows)
    return (
        sum(abs(confidence - accuracy) * n for confidence, accuracy, n in rows) / total
        if total
        else 0.0
    )


def risk_coverage(records: Sequence[Record]) -> list[tuple[float, float]]:
    """(share answered, share of those without a gold rule), most confident answers first."""
    asked = sorted(
        (record for record in records if _answerable(record) and not record["abstained"]),
        key=lambda record: -record["confidence"],
    )
    total = sum(_answerable(record) for record in records)
    wrong, points = 0.0, []
    for count, record in enumerate(asked, 1):
        wrong += 1 - cited(record)
        points.append((count / total, wrong / count))
    return points

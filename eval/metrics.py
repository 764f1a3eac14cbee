"""Figures from the lines of a run, each with the interval that its number of items allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from index import numbers

Record = Mapping[str, Any]
_DEPTH = 10


class Figure(NamedTuple):
    """A mean over items and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    items: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Difference(NamedTuple):
    """The second run less the first over the same items, and how often chance would do as much."""

    first: float
    second: float
    low: float
    high: float
    p: float
    items: int


def mean(values: Sequence[float], rounds: int = 2000, seed: int = 1) -> Figure:
    """The mean of values with its interval; the same values give the same interval."""
    import numpy as np

    if not values:
        raise ValueError("There is nothing to take the mean of.")
    array = np.asarray(values, dtype=float)
    picks = np.random.default_rng(seed).integers(0, len(array), (rounds, len(array)))
    low, high = np.percentile(array[picks].mean(axis=1), [2.5, 97.5])
    return Figure(float(array.mean()), float(low), float(high), len(array))


def paired(first: Sequence[float], second: Sequence[float], rounds: int = 10_000) -> Difference:
    """A paired permutation test: each item's difference keeps or changes its sign by chance."""
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
    """1 where a gold rule is among the first k found."""
    return float(any(number in gold for number in found[:k]))


def cited(line: Record) -> float:
    """1 where a rule that decides is among those cited."""
    return hit(line["cited"], line["gold_rules"], len(line["cited"]))


# What is measured of a line, by name; None where the measure does not apply to it.
_MEASURES: dict[str, Callable[[Record], float | None]] = {
    "rule cited": lambda line: cited(line) if _answerable(line) else None,
    "citations": lambda line: None if line["abstained"] else float(len(line["cited"])),
    "citations valid": lambda line: _share(line["valid"]),
    "citation recall": lambda line: _overlap(line, line["gold_rules"]),
    "citation precision": lambda line: _overlap(line, line["cited"]),
    "refused": lambda line: float(line["abstained"]) if _plain(line) else None,
    "right, strict": lambda line: _right(line, "strict"),
    "right, lenient": lambda line: _right(line, "lenient"),
    "form kept": lambda line: float(line["strict"] is not None) if "strict" in line else None,
    "words shared with gold": lambda line: _pair(line, "overlap", 0),
    "words shared, raw": lambda line: _pair(line, "overlap", 1),
    "meaning near gold": lambda line: _pair(line, "similar", 0),
    "meaning near gold, raw": lambda line: _pair(line, "similar", 1),
    "seconds": lambda line: line["ms"] / 1000,
    "tokens": lambda line: float(line["tokens"]) if line["tokens"] else None,
}


def by_item(lines: Sequence[Record]) -> dict[str, dict[str, float]]:
    """measure -> item -> value."""
    table = _retrieval(lines)
    for name, measure in _MEASURES.items():
        found = {line["id"]: measure(line) for line in lines}
        table[name] = {own: value for own, value in found.items() if value is not None}
    return {name: column for name, column in table.items() if column}


def summary(lines: Sequence[Record]) -> dict[str, Figure]:
    """Every measure that applies to a set's lines."""
    return {name: mean(list(column.values())) for name, column in by_item(lines).items()}


def _retrieval(lines: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Hits, recall, MRR and nDCG from ir-measures, for the very rule and for its parent."""
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
    asked = [line for line in lines if line["gold_rules"]]
    if not asked:
        return {}
    names = {measure: name for name, measure in wanted.items()}
    table: dict[str, dict[str, float]] = {}
    for suffix, level in (("", str), (", parent", _parent)):
        gold = {line["id"]: {level(n): 1 for n in line["gold_rules"]} for line in asked}
        run = {line["id"]: _ranks(map(level, line["found"])) for line in asked}
        for name in wanted:
            table[name + suffix] = dict.fromkeys(gold, 0.0)  # what finds nothing scores nothing
        for metric in ir_measures.iter_calc(list(wanted.values()), gold, run):
            table[names[metric.measure] + suffix][metric.query_id] = float(metric.value)
    return table


def _ranks(found: Iterable[str]) -> dict[str, float]:
    return {number: float(-rank) for rank, number in enumerate(dict.fromkeys(found))}


def _parent(number: str) -> str:
    return numbers.group(number) if numbers.is_number(number) else number


def _plain(line: Record) -> bool:
    """A question that is answered in words, with no outcome to choose."""
    return line["kind"] not in ("outcome", "verdict")


def _answerable(line: Record) -> bool:
    return _plain(line) and bool(line["gold_rules"])


def _share(checks: Sequence[bool]) -> float | None:
    return sum(checks) / len(checks) if checks else None


def _overlap(line: Record, of: Sequence[str]) -> float | None:
    if not _answerable(line) or not line["cited"]:
        return None
    return len(set(line["cited"]) & set(line["gold_rules"])) / len(set(of))


def _right(line: Record, reading: str) -> float | None:
    return float(line[reading] == line["gold"]) if reading in line else None


def _pair(line: Record, name: str, place: int) -> float | None:
    return float(line[name][place]) if name in line else None


def calibration(lines: Sequence[Record], bins: int = 10) -> list[tuple[float, float, int]]:
    """(confidence, share that cites a deciding rule, answers) for each tenth of sureness."""
    rows: dict[int, list[Record]] = {}
    for line in lines:
        if _answerable(line) and not line["abstained"]:
            rows.setdefault(min(bins - 1, int(line["confidence"] * bins)), []).append(line)
    return [
        (
            sum(line["confidence"] for line in those) / len(those),
            sum(map(cited, those)) / len(those),
            len(those),
        )
        for _, those in sorted(rows.items())
    ]


def calibration_error(lines: Sequence[Record]) -> float:
    """How far confidence and truth lie apart on average, each bin by its answers."""
    rows = calibration(lines)
    total = sum(count for *_, count in rows)
    return sum(abs(sure - true) * count for sure, true, count in rows) / total if total else 0.0


def risk_coverage(lines: Sequence[Record]) -> list[tuple[float, float]]:
    """(share answered, share of these without a deciding rule), the surest answers first."""
    asked = sorted(
        (line for line in lines if _answerable(line) and not line["abstained"]),
        key=lambda line: -line["confidence"],
    )
    total = sum(_answerable(line) for line in lines)
    wrong, points = 0.0, []
    for count, line in enumerate(asked, 1):
        wrong += 1 - cited(line)
        points.append((count / total, wrong / count))
    return points

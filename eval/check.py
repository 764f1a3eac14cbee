"""The published figures of baselines.toml, measured anew."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eval import items, metrics
from index.search import Searcher

BASELINES = Path(__file__).with_name("baselines.toml")


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    expected: float
    tolerance: float
    figure: metrics.Figure

    @property
    def kept(self) -> bool:
        return self.figure.value >= self.expected - self.tolerance


def check(searcher: Searcher) -> Iterator[Result]:
    """Each baseline with what it is now."""
    rankings: dict[str, list[tuple[tuple[str, ...], list[str]]]] = {}
    for row in tomllib.loads(BASELINES.read_text(encoding="utf-8"))["baseline"]:
        if row["set"] not in rankings:
            rankings[row["set"]] = list(_rankings(searcher, row["set"]))
        k = int(row["measure"].removeprefix("hit@"))
        values = [metrics.hit(found, gold, k) for gold, found in rankings[row["set"]]]
        yield Result(row["name"], row["expected"], row["tolerance"], metrics.mean(values))


def _rankings(searcher: Searcher, name: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The gold rules of each item of a set, and the numbers that search puts first."""
    by_edition: dict[str, list[items.EvalItem]] = {}
    for item in items.load(name, searcher.book):
        by_edition.setdefault(item.edition, []).append(item)
    for edition, those in by_edition.items():
        hits = searcher.search_many(
            [item.question for item in those], 10, edition, [item.masked for item in those]
        )
        for item, found in zip(those, hits, strict=True):
            yield item.gold_rules, [hit.passage.number for hit in found]

"""The published figures of baselines.toml, measured anew."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval import items, metrics
from eval.items import EvalItem
from index.search import Searcher
from qa.answer import Assistant
from qa.settings import Settings

BASELINES = Path(__file__).with_name("baselines.toml")


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    expected: float
    tolerance: float
    figure: metrics.Figure
    lower_is_better: bool

    @property
    def kept(self) -> bool:
        missed = self.expected - self.figure.value
        return (-missed if self.lower_is_better else missed) <= self.tolerance


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one item: the rules found, in order, those cited, and whether it was refused."""

    item: EvalItem
    found: list[str]
    cited: list[str]
    refused: bool


MEASURES: dict[str, Callable[[Outcome], float]] = {
    "hit@1": lambda one: metrics.hit(one.found, one.item.gold_rules, 1),
    "hit@5": lambda one: metrics.hit(one.found, one.item.gold_rules, 5),
    "hit@10": lambda one: metrics.hit(one.found, one.item.gold_rules, 10),
    "cited": lambda one: metrics.hit(one.cited, one.item.gold_rules, len(one.cited)),
    "citations": lambda one: float(len(one.cited)),
    "refused": lambda one: float(one.refused),
}


def check(searcher: Searcher) -> Iterator[Result]:
    """Each baseline with what it is now."""
    outcomes: dict[tuple[str, bool], list[Outcome]] = {}
    for row in tomllib.loads(BASELINES.read_text(encoding="utf-8"))["baseline"]:
        key = (row["set"], not row["measure"].startswith("hit@"))
        if key not in outcomes:
            those = items.load(row["set"], searcher.book)
            outcomes[key] = list((_answered if key[1] else _searched)(searcher, those))
        values = [MEASURES[row["measure"]](one) for one in outcomes[key]]
        yield Result(
            row["name"],
            row["expected"],
            row["tolerance"],
            metrics.mean(values),
            row.get("lower_is_better", False),
        )


def _searched(searcher: Searcher, those: Sequence[EvalItem]) -> Iterator[Outcome]:
    by_edition: dict[str, list[EvalItem]] = {}
    for item in those:
        by_edition.setdefault(item.edition, []).append(item)
    for edition, asked in by_edition.items():
        questions, masked = [i.question for i in asked], [i.masked for i in asked]
        found = searcher.search_many(questions, 10, edition, masked)
        for item, hits in zip(asked, found, strict=True):
            yield Outcome(item, [hit.passage.number for hit in hits], [], False)


def _answered(searcher: Searcher, those: Sequence[EvalItem]) -> Iterator[Outcome]:
    assistant = Assistant(Settings(), searcher)
    for item in those:
        answer = assistant.ask(item.question, masked=item.masked)
        cited = [citation.number for citation in answer.citations if citation.status == "supported"]
        yield Outcome(item, [hit.passage.number for hit in answer.hits], cited, answer.abstained)

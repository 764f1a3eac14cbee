"""The published figures of baselines.toml, measured anew by the command that each names."""

import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval import metrics
from eval.run import Plan, Run, Runner
from index.embedder import Progress
from index.searcher import Searcher
from qa import models

BASELINES = Path(__file__).with_name("baselines.toml")


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    command: str
    measure: str
    expected: float
    tolerance: float
    figure: metrics.Figure
    lower_is_better: bool

    @property
    def kept(self) -> bool:
        missed = self.expected - self.figure.value
        return (-missed if self.lower_is_better else missed) <= self.tolerance


def check(
    searcher: Searcher, quick: bool = False, progress: Progress | None = None
) -> Iterator[Result]:
    """Each baseline with what it is now; `quick` takes only the plain way, silent."""
    rows = tomllib.loads(BASELINES.read_text(encoding="utf-8"))["baseline"]
    measured: dict[str, dict[str, metrics.Figure]] = {}
    loaded: dict[str, models.Model | None] = {}
    for row in rows:
        plan = parse(row["command"])
        if quick and (plan.model, plan.way) != (models.NONE, "reranked"):
            continue
        if row["command"] not in measured:
            if plan.model not in loaded:
                loaded[plan.model] = models.load(plan.model)
            run = _run(plan, searcher, loaded[plan.model], progress)
            measured[row["command"]] = metrics.summary(run.lines)
        yield _result(row, measured[row["command"]][row["measure"]])


def _result(row: dict[str, Any], figure: metrics.Figure) -> Result:
    return Result(
        row["name"],
        row["command"],
        row["measure"],
        row["expected"],
        row["tolerance"],
        figure,
        row.get("lower_is_better", False),
    )


def _run(
    plan: Plan, searcher: Searcher, model: models.Model | None, progress: Progress | None
) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        return Runner(plan, searcher, model).run(Path(folder), progress=progress)


def parse(command: str) -> Plan:
    """The plan of a command such as 'stickler eval run --set players --model none'."""
    words = shlex.split(command)[3:]
    placebo = "--placebo" in words
    named = [word for word in words if word != "--placebo"]
    values = dict(zip(named[::2], named[1::2], strict=True))
    plan = Plan(
        sets=tuple(values.pop("--set").split(",")),
        model=values.pop("--model", models.DEFAULT),
        way=values.pop("--way", "reranked"),
        placebo=placebo,
    )
    if values:
        raise ValueError(f"'{command}' has options that are not known here: {sorted(values)}.")
    return plan

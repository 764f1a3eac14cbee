"""Re-measures the published figures of baselines.toml with the commands that they name."""

import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval import items, metrics
from eval.run import Plan, Run, Runner
from index.editions import Rulebook
from index.embedder import Progress
from qa import models
from qa.resources import Resources

BASELINES = Path(__file__).with_name("baselines.toml")


@dataclass(frozen=True, slots=True)
class Result:
    """A published figure, and what it is now."""

    name: str
    command: str
    measure: str
    expected: float
    tolerance: float
    figure: metrics.Figure
    lower_is_better: bool

    @property
    def kept(self) -> bool:
        """False where the figure is worse than published by more than the tolerance."""
        missed = self.expected - self.figure.value
        return (-missed if self.lower_is_better else missed) <= self.tolerance


def check(
    resources: Resources, quick: bool = False, progress: Progress | None = None
) -> Iterator[Result]:
    """Each published figure, measured again.

    `quick` skips figures that need a language model or a non-default variant of search.
    """
    measured: dict[str, dict[str, metrics.Figure]] = {}
    for row in _rows():
        plan = parse(row["command"])
        if quick and (plan.model, plan.variant) != (models.NONE, "default"):
            continue
        if row["command"] not in measured:
            run = _run(plan, resources, progress)
            measured[row["command"]] = metrics.summary(run.records)
        yield _result(row, measured[row["command"]][row["measure"]])


def published(rulebook: Rulebook) -> dict[str, metrics.Figure]:
    """The figures that are plotted, by their short names, each with its interval."""
    figures = {}
    for row in _rows():
        if "plot" in row:
            [name] = parse(row["command"]).sets
            count = len(items.load(name, rulebook))
            right = round(row["expected"] * count)
            figures[row["plot"]] = metrics.mean([1.0] * right + [0.0] * (count - right))
    return figures


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(BASELINES.read_text(encoding="utf-8"))["baseline"]
    return rows


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


def _run(plan: Plan, resources: Resources, progress: Progress | None) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        return Runner(plan, resources).run(Path(folder), progress=progress)


def parse(command: str) -> Plan:
    """The plan of a command such as 'stickler eval run --set dev --model none'."""
    words = shlex.split(command)[3:]
    values = dict(zip(words[::2], words[1::2], strict=True))
    plan = Plan(
        sets=tuple(values.pop("--set").split(",")),
        model=values.pop("--model", models.DEFAULT),
        variant=values.pop("--variant", "default"),
        rules=values.pop("--rules", "found"),
    )
    if values:
        raise ValueError(f"'{command}' has options that are not known here: {sorted(values)}.")
    return plan

"""The published figures hold, and a worse one would be noticed."""

import tomllib
from dataclasses import replace

import pytest

from eval import check as checking
from eval import items, run
from eval.check import check, parse
from eval.run import Plan
from index.stages import ScoreWeights
from qa.resources import Resources


@pytest.mark.slow
def test_no_published_figure_that_is_quick_to_measure_is_missed(searcher, monkeypatch):
    """None compares an answer with the gold one, which would take a third of the time."""
    questions = items.questions
    without = {"gold_answer": None}
    monkeypatch.setattr(items, "questions", lambda p: [replace(i, **without) for i in questions(p)])
    results = list(check(Resources(searcher=searcher), quick=True))
    assert len(results) >= 10
    assert [str(result) for result in results if not result.kept] == []


@pytest.mark.slow
def test_a_worse_search_would_be_noticed(searcher, monkeypatch):
    few = items.dev()[:40]
    monkeypatch.setattr(items, "dev", lambda: few)
    monkeypatch.setitem(run.VARIANTS, "default", ScoreWeights(dense=-1, bm25=0))
    assert any(not result.kept for result in check(Resources(searcher=searcher), quick=True))


def test_a_baseline_names_the_command_that_measures_it():
    command = "stickler eval run --set outcome,verdict --model none --rules placebo --variant dense"
    assert parse(command) == Plan(("outcome", "verdict"), "none", rules="placebo", variant="dense")
    with pytest.raises(ValueError, match="--wrong"):
        parse("stickler eval run --set rule --wrong 3")


def test_every_published_figure_can_be_measured():
    rows = tomllib.loads(checking.BASELINES.read_text(encoding="utf-8"))["baseline"]
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        plan = parse(row["command"])
        assert set(plan.sets) <= set(items.REGISTRY)
        assert plan.variant in run.VARIANTS


def test_the_figures_that_are_plotted_are_the_published_ones(book):
    rows = {row["plot"]: row for row in checking._rows() if "plot" in row}
    figures = checking.published(book)
    assert list(figures) == list(rows)
    assert {"dev: found first", "test: cited", "unsettled: refused"} < set(figures)
    for name, figure in figures.items():
        assert figure.value == pytest.approx(rows[name]["expected"], abs=0.005)
        assert 0.01 < figure.high - figure.low < 0.2
    assert figures["dev: found first"].items == 556

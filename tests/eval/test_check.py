"""The published figures hold, and a lower one would be noticed."""

import pytest

from eval import check as checking
from eval import items, run
from eval.check import check, parse
from eval.run import Plan
from index.searcher import Weights


def test_no_published_figure_that_is_quick_to_measure_is_missed(searcher):
    results = list(check(searcher, quick=True))
    assert len(results) >= 10
    assert [str(result) for result in results if not result.kept] == []


def test_a_worse_search_would_be_noticed(searcher, monkeypatch):
    few = items.dev()[:40]
    monkeypatch.setattr(items, "dev", lambda: few)
    monkeypatch.setitem(run.WAYS, "reranked", Weights(dense=-1, lexical=0))
    assert any(not result.kept for result in check(searcher, quick=True))


def test_a_baseline_names_the_command_that_measures_it():
    command = "stickler eval run --set outcome,verdict --model none --placebo --way dense"
    assert parse(command) == Plan(("outcome", "verdict"), "none", placebo=True, way="dense")
    with pytest.raises(ValueError, match="--wrong"):
        parse("stickler eval run --set rule --wrong 3")


def test_every_published_figure_can_be_measured():
    import tomllib

    rows = tomllib.loads(checking.BASELINES.read_text(encoding="utf-8"))["baseline"]
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        plan = parse(row["command"])
        assert set(plan.sets) <= set(items.NAMES)
        assert plan.way in run.WAYS

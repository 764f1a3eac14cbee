"""stickler eval: from the examples to a report, as a user would go."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def built(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


def test_the_sets_are_built_where_they_are_wanted(result, tmp_path):
    made = result("eval", "build", "-o", str(tmp_path))
    assert (made["examples"], made["split by code"], made["verdict"]) == (47, 0, 92)
    assert {Path(file).name for file in made["files"]} == {
        f"{kind}.jsonl" for kind in ("rule", "outcome", "verdict", "free")
    }


def test_a_run_a_report_and_a_comparison(stickler, result, tmp_path):
    for name, way in (("a", "reranked"), ("b", "dense")):
        code, out, err = stickler(
            *("eval", "run", "--set", "rule,outcome", "--limit", "4", "--model", "none"),
            *("--way", way, "-o", str(tmp_path / name)),
        )
        assert code == 0, err
        assert "hit@10" in out
        assert "8/8" in err  # progress goes to standard error
    page, text = result("eval", "report", str(tmp_path / "a"))
    assert Path(page).name == "report.html"
    assert "| rule | hit@10 |" in Path(text).read_text(encoding="utf-8")
    rows = result("eval", "compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert {row["set"] for row in rows} == {"rule", "outcome"}


def test_own_questions_are_taken_in_and_run(stickler, result, tmp_path, home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(home))
    mine = tmp_path / "mine.jsonl"
    rows = [
        {"question": "can reach block a flyer?", "gold_rules": ["702.17b"]},
        {"question": "what beats what?", "gold_rules": ["9.9"]},
    ]
    mine.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    taken = result("eval", "add", str(mine))
    assert (taken["items"], len(taken["left_out"])) == (1, 1)
    code, out, _ = stickler("eval", "add", str(mine), "--name", "other")
    assert code == 0
    assert "Left out: mine-2" in out


def test_the_measures_of_free_answers_are_set_against_people(result):
    found = {row["measure"]: row for row in result("eval", "agree")}
    assert found["meaning near gold"]["answers"] == 60
    assert found["meaning near gold"]["told_apart"] > found["words shared with gold"]["told_apart"]

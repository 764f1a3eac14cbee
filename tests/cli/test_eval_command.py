"""stickler eval: from the examples to a report, as a user would use it."""

import json
from pathlib import Path

import pytest

from eval.run import VARIANTS


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
    for name, variant in (("a", "default"), ("b", "dense")):
        code, out, err = stickler(
            *("eval", "run", "--set", "rule,outcome", "--limit", "4", "--model", "none"),
            *("--variant", variant, "-o", str(tmp_path / name)),
        )
        assert code == 0, err
        assert "hit@10" in out
        assert "0/8" in err  # progress goes to standard error
    page, text = result("eval", "report", str(tmp_path / "a"))
    assert Path(page).name == "report.html"
    assert "| rule | hit@10 |" in Path(text).read_text(encoding="utf-8")
    rows = result("eval", "compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert {row["set"] for row in rows} == {"rule", "outcome"}


def test_own_questions_are_added_as_a_set(stickler, result, tmp_path, home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(home))
    mine = tmp_path / "mine.jsonl"
    rows = [
        {"question": "can reach block a flyer?", "gold_rules": ["702.17b"]},
        {"question": "what beats what?", "gold_rules": ["9.9"]},
    ]
    mine.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    added = result("eval", "add", str(mine))
    assert (added["items"], len(added["left_out"])) == (1, 1)
    code, out, _ = stickler("eval", "add", str(mine), "--name", "other")
    assert code == 0
    assert "Left out: mine-2" in out


@pytest.mark.slow
def test_the_measures_of_free_answers_are_compared_with_a_readers_judgement(result):
    found = {row["measure"]: row for row in result("eval", "agree")}
    assert found["similarity to gold"]["answers"] == 60
    assert found["similarity to gold"]["auc"] > found["token F1"]["auc"]


def test_an_error_says_what_to_do_in_the_words_of_the_command_line(stickler, tmp_path):
    for command, says in (
        (("eval", "report", str(tmp_path)), f"stickler eval run -o {tmp_path}"),
        (("eval", "run", "--set", "x", "-o", str(tmp_path)), "stickler eval add"),
        (("eval", "run", "--variant", "x", "-o", str(tmp_path)), "default, fused, dense, bm25"),
    ):
        code, _, err = stickler(*command)
        assert code == 1
        assert says in err
        assert len(err.strip().splitlines()) == 1


def test_the_help_names_every_variant_of_search(stickler):
    _, out, _ = stickler("eval", "run", "--help")
    assert all(name in out for name in VARIANTS)

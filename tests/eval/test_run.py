"""A run asks every item once, survives being killed, and says what it was made with."""

import json

import pytest

from eval import metrics, report
from eval.examiner import partner
from eval.items import load
from eval.run import Plan, Runner, open_run
from index import numbers
from index.errors import SticklerError

PLAN = Plan(("rule", "outcome", "verdict", "dev", "unanswerable"), "none", limit=6)


class Counting:
    """A model that says yes, and counts how often it is asked."""

    name, hash, context = "counting", "0", 4096

    def __init__(self, stop_after=None):
        self.asked, self.stop_after, self.prompts = 0, stop_after, []

    def count(self, text):
        return len(text) // 4

    def generate(self, prompts, limit):
        self.asked += len(prompts)
        self.prompts += prompts
        if self.stop_after is not None and self.asked > self.stop_after:
            raise KeyboardInterrupt
        return ["Yes. A." for _ in prompts]


@pytest.fixture(autouse=True)
def kept_embeddings(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


@pytest.fixture
def run(searcher, tmp_path):
    return Runner(PLAN, searcher).run(tmp_path / "run")


def test_a_run_has_one_line_an_item_and_a_summary(run):
    assert len(run.lines) == 30
    assert len({(line["set"], line["id"]) for line in run.lines}) == 30
    summary = json.loads((run.folder / "summary.json").read_text())
    assert summary["sets"]["dev"]["hit@10"]["items"] == 6
    assert summary["memory_mb"] > 0
    assert open_run(run.folder).lines == run.lines


def test_a_run_names_all_that_its_figures_depend_on(run):
    made = run.made_with
    for name in ("model", "model_hash", "settings", "prompts", "code", "items", "editions"):
        assert name in made
    assert made["editions"] == ["current"]
    assert set(made["items"]) == set(PLAN.sets)


def test_without_a_model_no_verdict_is_given_and_none_is_measured(run):
    assert "right, strict" not in metrics.by_item(run.of("verdict"))
    assert "right, strict" in metrics.by_item(run.of("outcome"))


def test_a_stopped_run_goes_on_where_it_was(searcher, tmp_path):
    plan = Plan(("dev",), "scripted", limit=20)
    stopped = Counting(stop_after=10)
    with pytest.raises(KeyboardInterrupt):
        Runner(plan, searcher, stopped).run(tmp_path / "run")
    path = tmp_path / "run" / "lines.jsonl"
    kept = path.read_bytes()
    assert kept.count(b"\n") == 8
    path.write_bytes(kept + b'{"set": "dev", "id": "torn')  # killed while writing
    again = Counting()
    run = Runner(plan, searcher, again).run(tmp_path / "run")
    assert len(run.lines) == 20
    assert again.asked <= 12
    assert path.read_bytes().startswith(kept)


def test_a_run_made_with_something_else_is_not_mixed_in(run, searcher):
    report.write(run)
    other = Plan(PLAN.sets, "none", limit=5)
    with pytest.raises(SticklerError, match=r"something else \(limit, items\)"):
        Runner(other, searcher).run(run.folder)
    assert len(Runner(other, searcher).run(run.folder, restart=True).lines) == 25


def test_a_folder_with_other_files_is_left_alone(searcher, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(SticklerError, match="other files"):
        Runner(PLAN, searcher).run(tmp_path)


def test_what_is_no_run_is_said(tmp_path):
    with pytest.raises(SticklerError, match="no evaluation run"):
        open_run(tmp_path)


def test_the_placebo_shows_another_questions_rules(searcher, tmp_path):
    plans = [Plan(("verdict",), "scripted", limit=12, placebo=placebo) for placebo in (False, True)]
    models = [Counting(), Counting()]
    for plan, model in zip(plans, models, strict=True):
        Runner(plan, searcher, model).run(tmp_path / str(plan.placebo))
    pairs = list(zip(*(model.prompts for model in models), strict=True))
    for true, placebo in pairs:
        assert true.user.split("Situation:")[1] == placebo.user.split("Situation:")[1]
        assert true.user.split("Situation:")[0] != placebo.user.split("Situation:")[0]


def test_a_claim_and_four_choices_reach_the_model(searcher, tmp_path):
    model = Counting()
    run = Runner(Plan(("verdict", "outcome"), "scripted", limit=2), searcher, model).run(tmp_path)
    claims = [prompt.user for prompt in model.prompts if "Claim:" in prompt.user]
    choices = [prompt.user for prompt in model.prompts if "\nA) " in prompt.user]
    assert len(claims) == len(choices) == 2
    assert {line["strict"] for line in run.of("verdict")} == {"yes"}


def test_an_unknown_set_or_way_is_said(searcher):
    with pytest.raises(SticklerError, match="no question set 'x'"):
        Runner(Plan(("x",), "none"), searcher)
    with pytest.raises(SticklerError, match="no way 'y'"):
        Runner(Plan(("rule",), "none", way="y"), searcher)


def test_a_report_is_one_page_that_needs_nothing_else(run):
    page, text = report.write(run)
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") >= 8
    assert "http" not in html.replace("http-equiv", "")
    assert "<script" not in html
    assert "| players | hit@10 |" in text.read_text(encoding="utf-8")


def test_a_report_shows_hostile_text_as_text(run):
    run.lines[0]["question"] = "<script>alert(1)</script>"
    run.lines[0]["found"], run.lines[0]["confidence"] = ["<b>702</b>"], 1.0
    html = report.html(run)
    assert "<script" not in html
    assert "<b>702" not in html


def test_runs_are_compared_item_by_item(run, searcher, tmp_path):
    worse = Runner(Plan(("dev",), "none", limit=6, way="dense"), searcher).run(tmp_path / "b")
    rows = {(name, what): d for name, what, d in report.compare(run, worse)}
    assert rows["dev", "hit@1"].items == 6
    assert {name for name, _ in rows} == {"dev"}
    other = Runner(Plan(("rule",), "none", limit=2), searcher).run(tmp_path / "c")
    with pytest.raises(SticklerError, match="share no items"):
        report.compare(worse, other)


def test_every_item_has_a_partner_for_the_placebo(book):
    for name in ("outcome", "verdict", "dev", "unanswerable"):
        those = load(name, book)
        for place, item in enumerate(those):
            other = partner(place, those)
            assert not _groups(item) & _groups(other)


def _groups(item):
    return {numbers.group(rule) for rule in item.gold_rules}

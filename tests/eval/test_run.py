"""A run asks every item once, resumes if interrupted, and says what it was made with."""

import copy
import json

import pytest
from fakes import EchoModel

from eval import items, metrics, report
from eval.examiner import partner
from eval.items import load
from eval.run import Plan, Runner, open_run
from index import numbers
from index.errors import Action, Remedy, SticklerError
from qa import compose
from qa.resources import Resources

PLAN = Plan(("rule", "outcome", "verdict", "dev", "unanswerable"), "none", limit=6)


def stopping_after(count):
    """A model that is interrupted when it is asked more than so many times."""
    asked = []

    def reply(prompt):
        asked.append(prompt)
        if len(asked) > count:
            raise KeyboardInterrupt
        return "Yes. A."

    return EchoModel(reply)


@pytest.fixture(autouse=True)
def kept_embeddings(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


@pytest.fixture(scope="module")
def runner(searcher):
    """Makes a runner of a plan, with a fake model where the plan names one."""

    def make(plan, model=None):
        return Runner(plan, Resources(searcher=searcher, load_model=lambda name: model))

    return make


@pytest.fixture(scope="module")
def run(runner, built_home, tmp_path_factory):
    """A finished run, which tests leave as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        return runner(PLAN).run(tmp_path_factory.mktemp("runs") / "run")


def test_a_run_has_one_record_an_item_and_a_summary(run):
    assert len(run.records) == 30
    assert len({(record["set"], record["id"]) for record in run.records}) == 30
    summary = json.loads((run.folder / "summary.json").read_text())
    assert summary["sets"]["dev"]["hit@10"]["items"] == 6
    assert summary["memory_mb"] > 0
    assert open_run(run.folder) == run


def test_a_run_names_all_that_its_figures_depend_on(run):
    made = run.made_with
    for name in ("model", "model_hash", "settings", "prompts", "code", "items", "editions"):
        assert name in made
    assert made["editions"] == ["current"]
    assert set(made["items"]) == set(PLAN.sets)


def test_without_a_model_no_verdict_is_given_and_none_is_measured(run):
    assert "right, strict" not in metrics.by_item(run.of("verdict"))
    assert "right, strict" in metrics.by_item(run.of("outcome"))


def test_an_interrupted_run_resumes(runner, tmp_path):
    plan = Plan(("dev",), "scripted", limit=20)
    with pytest.raises(KeyboardInterrupt):
        runner(plan, stopping_after(10)).run(tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    kept = path.read_bytes()
    assert kept.count(b"\n") == 9  # the header and the first chunk
    assert len(open_run(tmp_path / "run").records) == 8
    path.write_bytes(kept + b'{"set": "dev", "id": "torn')  # killed while writing
    again = EchoModel("Yes. A.")
    run = runner(plan, again).run(tmp_path / "run")
    assert len(run.records) == 20
    assert len(again.prompts) <= 12
    assert path.read_bytes().startswith(kept)


def test_a_finished_run_is_not_asked_again(run, runner):
    before = (run.folder / "records.jsonl").read_bytes()
    assert runner(PLAN).run(run.folder) == run
    assert (run.folder / "records.jsonl").read_bytes() == before


def test_a_run_made_with_something_else_is_not_mixed_in(runner, tmp_path):
    first, other = Plan(("rule",), "none", limit=3), Plan(("rule",), "none", limit=2)
    report.write(runner(first).run(tmp_path / "run"))
    with pytest.raises(SticklerError, match=r"other conditions \(limit, items\)") as caught:
        runner(other).run(tmp_path / "run")
    assert Remedy(Action.RESTART) in caught.value.remedies
    assert len(runner(other).run(tmp_path / "run", restart=True).records) == 2
    assert not (tmp_path / "run" / "report.html").exists()


def test_a_folder_with_other_files_is_left_alone(runner, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(SticklerError, match="other files"):
        runner(PLAN).run(tmp_path)


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(SticklerError, match="no evaluation run"):
        open_run(tmp_path)
    (tmp_path / "records.jsonl").write_text("something else\n")
    with pytest.raises(SticklerError, match="no evaluation run"):
        open_run(tmp_path)


def test_the_placebo_shows_another_questions_rules(runner, tmp_path):
    plans = [
        Plan(("verdict",), "scripted", limit=12, rules=rules) for rules in ("found", "placebo")
    ]
    models = [EchoModel("Yes."), EchoModel("Yes.")]
    for plan, model in zip(plans, models, strict=True):
        runner(plan, model).run(tmp_path / plan.rules)
    pairs = list(zip(*(model.prompts for model in models), strict=True))
    for true, placebo in pairs:
        assert true.user.split("Situation:")[1] == placebo.user.split("Situation:")[1]
        assert true.user.split("Situation:")[0] != placebo.user.split("Situation:")[0]


def test_the_gold_rules_are_shown_where_they_are_asked_for(runner, tmp_path):
    model = EchoModel("Yes.")
    runner(Plan(("dev",), "scripted", limit=4, rules="gold"), model).run(tmp_path)
    assert len(model.requests) == 4
    for request, item in zip(model.requests, items.dev(), strict=False):
        assert request.citable == item.gold_rules


@pytest.mark.parametrize("rules", ["gold", "placebo"])
def test_similar_questions_are_those_about_the_rules_shown(rules, runner, tmp_path, searcher):
    """The nearest to the question that is asked, whosever the rules are."""
    model = EchoModel("Yes.")
    runner(Plan(("dev",), "scripted", limit=24, rules=rules), model).run(tmp_path)
    seen = 0
    for request in model.requests:
        asked = request.prompt.user.rpartition("Question: ")[2]
        [vector] = searcher.embedder.encode_questions([asked])
        similar = searcher.similar_questions(vector, request.citable, 3)
        before = request.prompt.user.partition("Answered before:\n")[2]
        lines = before.partition("\n\nQuestion:")[0].splitlines()
        assert lines == [
            f"{each.question} {compose.with_number(each)}" for each in reversed(similar)
        ]
        seen += len(lines)
    assert seen or rules == "placebo"


def test_answered_questions_are_hidden_with_an_example_that_they_might_retell(runner, tmp_path):
    model = EchoModel("Yes.")
    runner(Plan(("free", "dev"), "scripted", limit=4), model).run(tmp_path)
    shown = ["Answered before:" in prompt.user for prompt in model.prompts]
    assert len(shown) > 4
    assert (any(shown[:4]), all(shown[4:])) == (False, True)


def test_a_claim_and_four_choices_reach_the_model(runner, tmp_path):
    model = EchoModel("Yes. A.")
    run = runner(Plan(("verdict", "outcome"), "scripted", limit=2), model).run(tmp_path)
    claims = [prompt.user for prompt in model.prompts if "Claim:" in prompt.user]
    choices = [prompt.user for prompt in model.prompts if "\nA) " in prompt.user]
    assert len(claims) == len(choices) == 2
    assert {record["strict"] for record in run.of("verdict")} == {"yes"}


def test_an_unknown_set_or_variant_is_an_error(runner):
    with pytest.raises(SticklerError, match="no question set 'x'"):
        runner(Plan(("x",), "none"))
    with pytest.raises(SticklerError, match="no search variant 'y'"):
        runner(Plan(("rule",), "none", variant="y"))


def test_a_report_is_one_page_that_needs_nothing_else(run):
    page, text = report.write(run)
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") >= 8
    assert "http" not in html.replace("http-equiv", "")
    assert "<script" not in html
    assert "| dev | hit@10 |" in text.read_text(encoding="utf-8")


def test_a_report_shows_hostile_text_as_text(run):
    hostile = copy.deepcopy(run)
    hostile.records[0]["question"] = "<script>alert(1)</script>"
    hostile.records[0]["found"], hostile.records[0]["confidence"] = ["<b>702</b>"], 1.0
    html = report.html(hostile)
    assert "<script" not in html
    assert "<b>702" not in html


def test_runs_are_compared_item_by_item(run, runner, tmp_path):
    worse = runner(Plan(("dev",), "none", limit=6, variant="dense")).run(tmp_path / "b")
    rows = {(name, what): d for name, what, d in report.compare(run, worse)}
    assert rows["dev", "hit@1"].items == 6
    assert {name for name, _ in rows} == {"dev"}
    other = runner(Plan(("rule",), "none", limit=2)).run(tmp_path / "c")
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

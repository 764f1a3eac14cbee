"""Evaluation runs on the page: started, stopped, listed, shown."""

import contextlib
import json
import threading

import pytest
from fakes import EchoModel, OrderedModel

from eval import items
from eval.run import open_run
from index.errors import SticklerError
from page.background_jobs import Stopped
from page.evaluation_jobs import Evaluations, list_runs, list_sets, open_listed_run, sample_evenly
from page.run_report import render_run
from page.service import Service
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
NO_MODEL = Settings(model=NONE)


def evaluate(service, name="dev", count=5, settings=NO_MODEL, stop=None):
    *_, last = Evaluations(service).run(name, count, settings, stop or threading.Event())
    return last.result


def service_with(searcher, model, settings):
    return Service(settings, resources=Resources(searcher=searcher, load_model=lambda _: model))


def test_a_run_lies_in_the_data_folder_and_is_listed_newest_first(service, home):
    first, second = evaluate(service), evaluate(service, "unanswerable")
    assert first.folder.parent == home / "runs"
    assert len(first.records) == 5
    assert [name for _, name in list_runs()] == [second.folder.name, first.folder.name]
    assert list_runs()[0][0].startswith("unanswerable, 5 items, none (")
    assert open_listed_run(first.folder.name).records == first.records


def test_a_small_run_takes_items_from_all_over_the_set():
    those = items.dev()
    picked = sample_evenly(those, 20)
    assert len({item.id for item in picked}) == 20
    assert len({item.gold_rules for item in picked}) > 10
    assert sample_evenly(those[:3], 20) == those[:3]


def test_the_report_has_figures_plots_and_what_went_wrong(service):
    run = evaluate(service, count=20)
    shown = render_run(run, service.resources.rulebook)
    assert '<th scope="row">hit@10</th>' in shown
    assert "right, strict" not in shown  # no model spoke
    assert shown.count("<svg") >= 2
    assert "of 20 items wrong (rule cited)" in shown
    assert '<a class="ref"' in shown
    assert "<mark><a" in shown  # a deciding rule that was found and not cited


def test_a_model_is_measured_where_it_speaks(searcher):
    settings = Settings(model="fake", show_generated=True)
    service = service_with(searcher, EchoModel("Yes."), settings)
    run = evaluate(service, "verdict", settings=settings)
    assert {record["raw"] for record in run.records} == {"Yes."}
    assert "right, lenient" in render_run(run, service.resources.rulebook)


def test_stopping_ends_a_run_between_items_and_keeps_what_there_is(searcher, home):
    stop = threading.Event()

    def reply(prompt):
        stop.set()
        return "Yes."

    settings = Settings(model="fake", show_generated=True)
    service = service_with(searcher, EchoModel(reply), settings)
    runs = Evaluations(service)
    with pytest.raises(Stopped):
        list(runs.run("dev", 40, settings, stop))
    (folder,) = (home / "runs").iterdir()
    assert len(open_run(folder).records) == 1
    assert [name for _, name in list_runs()] == [folder.name]
    *_, last = runs.run("dev", 5, NO_MODEL, threading.Event())  # the next may run
    assert last.result


def test_whoever_asks_has_a_turn_between_two_items(searcher):
    model, stop = OrderedModel(), threading.Event()
    settings = Settings(model="ordered", show_generated=True)
    service = service_with(searcher, model, settings)

    def run():
        with contextlib.suppress(Stopped):
            evaluate(service, count=40, settings=settings, stop=stop)

    rest = threading.Thread(target=run)
    rest.start()
    assert model.started.wait(20)
    for part in service.ask(FLYER, [], settings, threading.Event()):
        if "being answered before yours" in str(part):
            model.may_go.set()
    stop.set()
    rest.join(20)
    assert model.order[:2] == [1, "question"]


def test_a_model_that_cannot_be_loaded_is_not_measured(searcher, home):
    def load(name):
        raise SticklerError("It is not installed.")

    settings = Settings(show_generated=True)
    service = Service(settings, resources=Resources(searcher=searcher, load_model=load))
    with pytest.raises(SticklerError, match=r"^It is not installed\.$"):
        evaluate(service, settings=settings)
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("name", "count", "why"),
    [
        ("../x", 5, "no question set"),
        ("dev", 4, "choose 5 to 200"),
        ("verdict", 5, "needs a language model"),
    ],
)
def test_a_run_that_cannot_be_is_one_sentence(service, name, count, why):
    with pytest.raises(SticklerError, match=why):
        evaluate(service, name, count)


def test_runs_start_only_where_that_is_allowed(searcher):
    with pytest.raises(SticklerError, match="stickler eval run"):
        evaluate(Service(uploads=False, resources=Resources(searcher=searcher)))


def test_one_run_at_a_time(service):
    runs = Evaluations(service)
    first = runs.run("dev", 5, NO_MODEL, threading.Event())
    next(first)
    with pytest.raises(SticklerError, match="Another evaluation"):
        next(runs.run("dev", 5, NO_MODEL, threading.Event()))
    list(first)


def test_own_sets_are_offered_and_shown_as_text(service, tmp_path):
    hostile = "<script>alert(1)</script> does deathtouch work?"
    path = tmp_path / "mine.jsonl"
    path.write_text(
        json.dumps({"question": hostile, "gold_rules": ["510.1"]}) + "\n", encoding="utf-8"
    )
    items.add(path, "mine", service.resources.rulebook)
    assert list_sets()[-1] == ("mine: your own", "mine")
    assert f"dev: {items.REGISTRY['dev'].description}" in dict(list_sets())
    shown = render_run(evaluate(service, "mine"), service.resources.rulebook)
    assert "<script" not in shown
    assert "1 of 1 items wrong" in shown


@pytest.mark.parametrize("name", ["..", "../runs", "x", ""])
def test_only_runs_of_the_list_are_opened(name, service):
    with pytest.raises(SticklerError, match="That run no longer exists"):
        open_listed_run(name)

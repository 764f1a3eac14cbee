"""Evaluation runs on the page: begun, stopped, listed, shown."""

import contextlib
import json
import threading

import pytest
from slow import Slow

from eval import items
from eval.run import open_run
from index.errors import SticklerError
from page import evaluating, run_report
from page.evaluating import Evaluations
from page.service import Service
from page.background_jobs import Stopped
from qa.models import NONE
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
QUIET = Settings(model=NONE)


@pytest.fixture
def service(searcher):
    return Service(QUIET, searcher=searcher)


def ran(service, name="dev", count=5, settings=QUIET, stop=None):
    *_, last = Evaluations(service).evaluate(name, count, settings, stop or threading.Event())
    return last.result


def test_a_run_lies_in_the_data_folder_and_is_listed_newest_first(service, home):
    first, second = ran(service), ran(service, "unanswerable")
    assert first.folder.parent == home / "runs"
    assert len(first.lines) == 5
    assert [name for _, name in evaluating.listed()] == [second.folder.name, first.folder.name]
    assert evaluating.listed()[0][0].startswith("unanswerable, 5 items, none (")
    assert evaluating.opened(first.folder.name).lines == first.lines


def test_a_small_run_takes_items_from_all_over_the_set():
    those = items.dev()
    picked = evaluating.spread(those, 20)
    assert len({item.id for item in picked}) == 20
    assert len({item.gold_rules for item in picked}) > 10
    assert evaluating.spread(those[:3], 20) == those[:3]


def test_the_report_has_figures_plots_and_what_went_wrong(service):
    run = ran(service, count=10)
    shown = run_report.shown(run, service.book)
    assert '<th scope="row">hit@10</th>' in shown
    assert "right, strict" not in shown  # no model spoke
    assert shown.count("<svg") >= 2
    assert "of 10 went wrong (rule cited)" in shown
    assert '<a class="ref"' in shown
    assert "<mark><a" in shown  # a deciding rule that was found and not cited


def test_a_model_is_measured_where_it_speaks(searcher):
    settings = Settings(model="slow", show_generated=True)
    service = Service(settings, load=lambda name: Slow(), searcher=searcher)
    run = ran(service, "verdict", settings=settings)
    assert {line["raw"] for line in run.lines} == {"Yes."}
    assert "right, lenient" in run_report.shown(run, service.book)


def test_stopping_ends_a_run_between_items_and_keeps_what_there_is(searcher, home):
    stop = threading.Event()

    class Stopping(Slow):
        def generate(self, prompts, limit):
            stop.set()
            return super().generate(prompts, limit)

    settings = Settings(model="slow", show_generated=True)
    service = Service(settings, load=lambda name: Stopping(), searcher=searcher)
    runs = Evaluations(service)
    with pytest.raises(Stopped):
        list(runs.evaluate("dev", 40, settings, stop))
    (folder,) = (home / "runs").iterdir()
    assert len(open_run(folder).lines) == 1
    assert [name for _, name in evaluating.listed()] == [folder.name]
    assert list(runs.evaluate("dev", 5, QUIET, threading.Event()))[
        -1
    ].result  # the next may run


def test_whoever_asks_has_a_turn_between_two_items(searcher):
    order, first, waiting, stop = [], threading.Event(), threading.Event(), threading.Event()

    class Noting(Slow):
        def generate(self, prompts, limit):
            order.append(len(prompts))
            first.set()
            assert waiting.wait(20)
            return super().generate(prompts, limit)

        def stream(self, prompt, limit, stop):
            order.append("question")
            yield "Yes."

    model = Noting()
    settings = Settings(model="noting", show_generated=True)
    service = Service(settings, load=lambda name: model, searcher=searcher)

    def evaluate():
        with contextlib.suppress(Stopped):
            ran(service, count=40, settings=settings, stop=stop)

    rest = threading.Thread(target=evaluate)
    rest.start()
    assert first.wait(20)
    for part in service.ask(FLYER, [], settings, threading.Event()):
        if "being answered before yours" in str(part):
            waiting.set()
    stop.set()
    rest.join(20)
    assert order[:2] == [1, "question"]


def test_a_model_that_cannot_be_loaded_is_not_measured(searcher, home):
    def load(name):
        raise SticklerError("It is not installed.")

    settings = Settings(show_generated=True)
    service = Service(settings, load=load, searcher=searcher)
    with pytest.raises(SticklerError, match=r"^No language model could be loaded: It is not"):
        ran(service, settings=settings)
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("name", "count", "told"),
    [("../x", 5, "no question set"), ("dev", 4, "choose 5 to 200"), ("verdict", 5, "speaks")],
)
def test_a_run_that_cannot_be_is_one_sentence(service, name, count, told):
    with pytest.raises(SticklerError, match=told):
        ran(service, name, count)


def test_runs_start_only_where_that_is_allowed(searcher):
    with pytest.raises(SticklerError, match="stickler eval run"):
        ran(Service(uploads=False, searcher=searcher))


def test_one_run_at_a_time(service):
    runs = Evaluations(service)
    first = runs.evaluate("dev", 5, QUIET, threading.Event())
    next(first)
    with pytest.raises(SticklerError, match="Another evaluation"):
        next(runs.evaluate("dev", 5, QUIET, threading.Event()))
    list(first)


def test_own_sets_are_offered_and_shown_as_text(service, tmp_path):
    hostile = "<script>alert(1)</script> does deathtouch work?"
    path = tmp_path / "mine.jsonl"
    path.write_text(
        json.dumps({"question": hostile, "gold_rules": ["510.1"]}) + "\n", encoding="utf-8"
    )
    items.add(path, "mine", service.book)
    assert ("mine: your own", "mine") in evaluating.sets()
    shown = run_report.shown(ran(service, "mine"), service.book)
    assert "<script" not in shown
    assert "1 of 1 went wrong" in shown


@pytest.mark.parametrize("name", ["..", "../runs", "x", ""])
def test_only_runs_of_the_list_are_opened(name, service):
    with pytest.raises(SticklerError, match="no such run"):
        evaluating.opened(name)

"""What visitors share: loading in the background, settings that are allowed, turns, stopping."""

import threading
from dataclasses import dataclass, field

import pytest
from fakes import EchoModel, SlowModel
from texts import small_release

from index import store
from index.errors import Action, Remedy, SticklerError
from index.searcher import LONGEST_QUESTION
from page.service import Service, Waiting
from qa.answer import Answer
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
NO_MODEL = Settings(model=NONE)


def ask(service, question=FLYER, settings=NO_MODEL):
    """All that is told on the way to an answer, and the answer."""
    *on_the_way, last = service.ask(question, [], settings, threading.Event())
    return on_the_way, last


@dataclass
class Opening:
    """Lets the index be opened, or fail, when a test says so."""

    allowed: threading.Event = field(default_factory=threading.Event)
    errors: list[SticklerError] = field(default_factory=list)
    tries: int = 0


@pytest.fixture
def opening(searcher, monkeypatch):
    opening = Opening()

    def open_store(book, embedder, progress):
        opening.tries += 1
        progress(3, 10)
        assert opening.allowed.wait(30)
        progress(10, 10)
        if opening.errors:
            raise opening.errors.pop()
        return searcher.index

    monkeypatch.setattr(store, "open_store", open_store)
    return opening


def test_while_the_index_is_built_a_question_waits_and_all_else_works(opening):
    service = Service(NO_MODEL)
    stream = service.ask(FLYER, [], NO_MODEL, threading.Event())
    first = next(stream)
    assert first == Waiting("Rules: building the index, 3 of 10 passages …")
    assert not service.rules_state().ready
    assert service.settings_for(edition="2009-10-01").edition == "2009-10-01"
    assert service.find_rules("trample", "current") is None
    opening.allowed.set()
    *_, last = stream
    assert last.cited[0].number == "702.17b"
    assert service.rules_state().ready
    assert service.find_rules(FLYER, "current")[0] == "702.17b"
    ask(service)
    assert opening.tries == 1


def test_waiting_for_the_index_can_be_stopped(opening):
    service, stop = Service(NO_MODEL), threading.Event()
    stream = service.ask(FLYER, [], NO_MODEL, stop)
    next(stream)
    stop.set()
    assert list(stream) == []
    opening.allowed.set()


def test_a_failure_to_load_is_shown_and_tried_again_with_the_next_question(opening):
    opening.allowed.set()
    opening.errors.append(SticklerError("The index is damaged", Remedy(Action.BUILD_INDEX)))
    service = Service(NO_MODEL)
    with pytest.raises(SticklerError, match="damaged"):
        ask(service)
    assert service.rules_state().failed
    assert isinstance(ask(service)[1], Answer)
    assert service.rules_state().ready


def test_a_failure_that_is_a_mistake_of_ours_tells_only_its_kind(searcher, capfd):
    def load(name):
        raise KeyError("secret")

    settings = Settings(model="mine")
    service = Service(settings, resources=Resources(searcher=searcher, load_model=load))
    with pytest.raises(
        SticklerError, match=r"^Stickler failed \(KeyError\): see the server's terminal.$"
    ):
        ask(service, settings=settings)
    assert "secret" in capfd.readouterr().err


@pytest.mark.parametrize("question", ["", "  ", "x" * (LONGEST_QUESTION + 1)])
def test_an_empty_or_overlong_question_loads_nothing(question, opening):
    with pytest.raises(SticklerError):
        ask(Service(), question)
    assert opening.tries == 0


def test_a_model_is_loaded_once_and_at_most_two_stay(searcher):
    loaded = []

    def load(name):
        loaded.append(name)
        return SlowModel(1)

    service = Service(resources=Resources(searcher=searcher, load_model=load))
    for count, name in enumerate(("a", "a", "b", "a", "c", "a", "b")):
        ask(service, f"{FLYER} {count}", Settings(model=name))
    assert loaded == ["a", "b", "c", "b"]


def test_a_model_that_is_not_shown_is_not_loaded(searcher):
    def load(name):
        raise AssertionError(name)

    service = Service(resources=Resources(searcher=searcher, load_model=load))
    service.start()
    ask(service, settings=Settings(model="mine", show_generated=False))
    assert service.resources.find_model("mine") is None


@pytest.mark.parametrize(
    "model", ["x@http://10.0.0.1/v1", "/etc", "./model.gguf", "some/hub-model", "SMOLLM2-135m"]
)
def test_where_models_are_not_free_no_visitor_can_name_one(model, searcher):
    service = Service(any_model=False, resources=Resources(searcher=searcher))
    with pytest.raises(SticklerError, match="not available here"):
        service.settings_for(model=model)
    assert service.settings_for(model="none").model == "none"


@pytest.mark.parametrize(
    "wrong", [{"edition": "1999-01-01"}, {"max_citations": 99}, {"max_citations": 1}]
)
def test_settings_that_cannot_be_are_an_error(wrong, service):
    with pytest.raises(SticklerError):
        service.settings_for(**wrong)


def test_settings_that_are_left_out_are_as_the_page_was_started(searcher):
    started = Settings(model="slow", edition="2009-10-01", show_generated=True, max_citations=5)
    service = Service(started, resources=Resources(searcher=searcher))
    assert service.settings_for() == started


def test_texts_are_added_only_where_that_is_allowed(searcher, tmp_path):
    service = Service(uploads=False, resources=Resources(searcher=searcher))
    with pytest.raises(SticklerError, match="stickler rules add"):
        service.add_text(tmp_path / "x", lambda done, total: None)
    with pytest.raises(SticklerError, match="stickler rules add"):
        service.get_latest(lambda step: None, lambda done, total: None)


def test_the_latest_rules_answer_once_they_are_fetched_and_only_then(service, publisher):
    def get():
        return service.get_latest(lambda step: None, lambda done, total: None)

    before = service.resources.rulebook
    publisher.link("/rules.pdf")
    with pytest.raises(SticklerError, match="no link"):
        get()
    assert service.resources.rulebook is before
    publisher.publish("MagicCompRules 20250704.txt", small_release("July 4, 2025"))
    assert get().status == "added"
    assert ask(service, "702.2b")[1].cited[0].edition == "2025-07-04"
    loaded = service.resources.rulebook
    assert get().status == "loaded"
    assert service.resources.rulebook is loaded


def test_a_text_that_is_added_answers_while_a_job_goes_on_with_the_old_ones(service, tmp_path):
    job = service.load_assistant(Settings(model=NONE), threading.Event())
    with pytest.raises(StopIteration) as end:
        next(job)
    before = end.value.value
    path = tmp_path / "rules.txt"
    path.write_text(small_release("June 7, 2008"), encoding="utf-8")
    parsed = service.add_text(path, lambda done, total: None)
    assert parsed.edition == "2008-06-07"
    settings = service.settings_for(edition="2008-06-07")
    assert ask(service, "702.2b", settings)[1].cited[0].edition == "2008-06-07"
    assert "2008-06-07" not in before.resources.rulebook.editions


def test_many_threads_search_at_once_and_each_gets_its_own(service):
    questions = ["what is flying?", "how does trample work with deathtouch?", FLYER] * 4
    answers = {}

    def visit(place, question):
        answers[place] = ask(service, question)[1]

    threads = [threading.Thread(target=visit, args=pair) for pair in enumerate(questions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[place].question for place in range(len(questions))] == questions
    assert len(service.queue_for(NO_MODEL)) == 0


def test_a_known_answer_waits_for_nobody_and_for_no_model(searcher):
    model = EchoModel("Yes.")
    settings = Settings(model="mine")
    service = Service(resources=Resources(searcher=searcher, load_model=lambda name: model))
    ask(service, settings=settings)
    with service.queue_for(settings).join():
        on_the_way, known = ask(service, settings=settings)
    assert on_the_way == []
    assert (known.raw, len(model.requests)) == ("Yes.", 1)


def test_what_is_answered_while_the_model_is_on_its_way_is_not_kept(searcher, home):
    here = threading.Event()
    model = EchoModel("Yes.")

    def load(name):
        assert here.wait(30)
        return model

    service = Service(Settings(), resources=Resources(searcher=searcher, load_model=load))
    assert "so only the rules are quoted" in ask(service, settings=Settings())[1].reason
    assert not (home / "answers.sqlite").exists()
    here.set()
    service.resources.load_model(Settings().model).result()
    assert ask(service, settings=Settings())[1].raw == "Yes."
    assert (home / "answers.sqlite").exists()


def test_a_cache_that_cannot_be_used_is_said_once_on_the_terminal(service, home, capsys):
    (home / "answers.sqlite").write_bytes(b"damaged" * 1000)
    for _ in range(2):
        assert ask(service)[1].cited[0].number == "702.17b"
    said = capsys.readouterr().err
    assert said.count("Note: The answer cache") == 1
    assert "run 'stickler cache clear' on the server itself" in said

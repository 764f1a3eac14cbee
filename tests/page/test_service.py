"""What visitors share: loading in the background, settings that are allowed, turns, stopping."""

import threading

import pytest
from slow import Slow

from index.errors import SticklerError
from index.searcher import LONGEST_QUESTION
from page import asking, transcript, conversation
from page.queue import Queue
from page.service import Service, Waiting
from qa.answer import Answer
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"


def speaking(searcher, model, **more):
    settings = Settings(model="slow", show_generated=True)
    return Service(settings, load=lambda name: model, searcher=searcher, **more), settings


def test_a_question_before_search_is_loaded_waits_and_says_so(searcher, monkeypatch):
    opened = threading.Event()

    def late(self):
        assert opened.wait(30)
        return searcher

    monkeypatch.setattr(Service, "_open", late)
    service = Service()
    assert not service.state.ready
    stream = service.ask(FLYER, [], Settings(), threading.Event())
    first = next(stream)
    assert isinstance(first, Waiting)
    assert "Loading search" in first.words
    opened.set()
    *_, last = stream
    assert last.citations[0].number == "702.17b"
    assert service.state.ready


def test_a_failure_to_load_is_told_and_tried_again(searcher, monkeypatch):
    tries = []

    def first_fails(self):
        tries.append(1)
        if len(tries) == 1:
            raise SticklerError("The index is damaged: run 'stickler index build'.")
        return searcher

    monkeypatch.setattr(Service, "_open", first_fails)
    service = Service()
    with pytest.raises(SticklerError, match="damaged"):
        list(service.ask(FLYER, [], Settings(), threading.Event()))
    assert service.state.failed
    *_, last = service.ask(FLYER, [], Settings(), threading.Event())
    assert isinstance(last, Answer)


def test_where_the_embedded_model_cannot_be_loaded_the_rules_answer_and_a_note_says_why(searcher):
    def load(name):
        raise SticklerError("It is not installed: choose another with '--model'.")

    settings = Settings(show_generated=True)
    service = Service(settings, load=load, searcher=searcher)
    *_, (turn,) = asking.ask(service, FLYER, [], settings, "me")
    assert turn.failure == ""
    assert turn.answer.citations[0].number == "702.17b"
    assert turn.answer.model == "none"
    told = "No language model could be loaded: It is not installed: choose another in the settings."
    assert conversation.notes(turn) == [told]
    assert told in conversation.conversation([turn])


def test_another_model_that_cannot_be_loaded_is_an_error(searcher):
    def load(name):
        raise SticklerError(f"There is no file {name}: choose another --model.")

    settings = Settings(model="mine.gguf")
    service = Service(settings, load=load, searcher=searcher)
    *_, (turn,) = asking.ask(service, FLYER, [], settings, "me")
    assert turn.failure == "There is no file mine.gguf: choose another in the settings."
    assert turn.answer is None


def test_a_refusal_says_where_on_the_page_rules_are_added(searcher):
    service = Service(searcher=searcher)
    mulligan = "how many cards do I draw after a mulligan?"
    *_, (turn,) = asking.ask(service, mulligan, [], Settings(), "me")
    assert turn.answer.abstained
    for shown in (conversation.conversation([turn]), transcript.plain(turn.answer), transcript.as_json([turn])):
        assert "Add the full rules in the tab Rules, under Rules texts." in shown
        assert "stickler " not in shown


def test_a_model_is_loaded_once_and_at_most_two_stay(searcher):
    loaded = []

    def load(name):
        loaded.append(name)
        return Slow(1)

    service = Service(load=load, searcher=searcher)
    for name in ("a", "a", "b", "a", "c", "a", "b"):
        list(service.ask(FLYER, [], Settings(model=name), threading.Event()))
    assert loaded == ["a", "b", "c", "b"]


@pytest.mark.parametrize(
    "model", ["x@http://10.0.0.1/v1", "/etc", "./model.gguf", "some/hub-model", "SMOLLM2-135m"]
)
def test_where_models_are_not_free_no_visitor_can_name_one(model, searcher):
    service = Service(any_model=False, searcher=searcher)
    with pytest.raises(SticklerError, match="not offered here"):
        service.settings(model=model)
    assert service.settings(model="none").model == "none"


@pytest.mark.parametrize("wrong", [{"edition": "1999-01-01"}, {"cited": 99}, {"cited": 1}])
def test_settings_that_cannot_be_are_one_sentence(wrong, searcher):
    with pytest.raises(SticklerError):
        Service(searcher=searcher).settings(**wrong)


def test_what_is_not_said_is_as_the_page_was_started(searcher):
    started = Settings(model="slow", edition="2009-10-01", show_generated=True, max_citations=5)
    assert Service(started, searcher=searcher).settings() == started


@pytest.mark.parametrize("question", ["", "  ", "x" * (LONGEST_QUESTION + 1)])
def test_an_empty_or_overlong_question_loads_nothing(question):
    service = Service()
    with pytest.raises(SticklerError):
        list(service.ask(question, [], Settings(), threading.Event()))
    assert service._search is None


def test_stop_ends_the_model_and_keeps_the_evidence(searcher):
    model = Slow()
    service, settings = speaking(searcher, model)
    turns = asking.ask(service, FLYER, [], settings, "me")
    for now in turns:
        if now[-1].draft:
            service.stop("someone else")
            assert not model.ended.is_set()
            service.stop("me")
            break
    *_, last = turns
    assert model.ended.is_set()
    assert last[-1].stopped
    assert not last[-1].running
    assert last[-1].answer.citations
    assert not service._stops


def test_a_visitor_who_leaves_frees_the_model(searcher):
    model = Slow()
    service, settings = speaking(searcher, model)
    turns = asking.ask(service, FLYER, [], settings, "me")
    next(now for now in turns if now[-1].draft)
    turns.close()
    assert model.ended.is_set()
    assert not service._stops
    again = asking.ask(service, FLYER, [], Settings(), "me")
    assert list(again)[-1][-1].answer.citations


def test_the_second_waits_for_the_first_and_can_stop_waiting(searcher):
    service, settings = speaking(searcher, Slow())
    first = asking.ask(service, FLYER, [], settings, "first")
    next(now for now in first if now[-1].draft)
    second = asking.ask(service, FLYER, [], settings, "second")
    waiting = next(now[-1] for now in second if "before yours" in now[-1].waiting)
    assert waiting.waiting == "1 question is being answered before yours …"
    service.stop("second")
    assert list(second)[-1][-1].failure == "Stopped before there was an answer."
    first.close()


def test_too_many_are_told_that_it_is_busy():
    line = Queue(1, 2)
    with line.place() as first, line.place() as second:
        assert (first.ahead(0), second.ahead(0)) == (0, 1)
        with pytest.raises(SticklerError, match="busy: 2 questions are waiting"), line.place():
            pass
    with line.place() as next_one:
        assert next_one.ahead(0) == 0


def test_those_who_wait_are_served_in_order():
    line, served = Queue(1, 10), []

    def come(number):
        with line.place() as place:
            arrived.set()
            while place.ahead(1):
                pass
            served.append(number)

    with line.place():
        guests = []
        for number in range(5):
            arrived = threading.Event()
            guests.append(threading.Thread(target=come, args=(number,)))
            guests[-1].start()
            assert arrived.wait(10)
    for guest in guests:
        guest.join()
    assert served == list(range(5))


def test_a_conversation_keeps_only_its_last_turns(searcher):
    service = Service(searcher=searcher)
    turns = []
    for _ in range(asking.LONGEST + 3):
        turns = list(asking.ask(service, "702.19b", turns, Settings(model="none"), "me"))[-1]
    assert len(turns) == asking.LONGEST


def test_texts_are_added_only_where_that_is_allowed(searcher, tmp_path):
    with pytest.raises(SticklerError, match="stickler rules add"):
        Service(uploads=False, searcher=searcher).add(tmp_path / "x", lambda done, total: None)


def test_many_threads_search_at_once_and_each_gets_its_own(searcher):
    service = Service(searcher=searcher)
    questions = ["what is flying?", "how does trample work with deathtouch?", FLYER] * 4
    got = {}

    def ask(place, question):
        *_, last = service.ask(question, [], Settings(), threading.Event())
        got[place] = last.question

    threads = [threading.Thread(target=ask, args=pair) for pair in enumerate(questions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[place] for place in range(len(questions))] == questions

"""A question as a turn that grows: waiting, draft, answer, or why there is none."""

import pytest
from fakes import EchoModel, FailingModel, SlowModel

from index.errors import Action, Remedy, SticklerError
from page.ask_stream import ask_stream
from page.conversation import notes, render_conversation
from page.service import Service
from page.transcript import MAX_TURNS
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
SLOW = Settings(model="slow", show_generated=True)


@pytest.fixture
def model():
    return SlowModel()


@pytest.fixture
def slow_service(searcher, model):
    return Service(SLOW, resources=Resources(searcher=searcher, load_model=lambda name: model))


def ask(service, settings, session="me"):
    """The turn at its end."""
    *_, (turn,) = ask_stream(service, FLYER, [], settings, session)
    return turn


def failing(searcher, *remedies):
    def load(name):
        raise SticklerError(f"The model {name} is not installed", *remedies)

    return Service(resources=Resources(searcher=searcher, load_model=load))


def test_where_the_default_model_cannot_be_loaded_the_rules_answer_and_a_note_says_why(searcher):
    turn = ask(failing(searcher), Settings(show_generated=True))
    assert turn.failure == ""
    assert turn.answer.cited[0].number == "702.17b"
    assert turn.answer.model == NONE
    why = "The model qwen2.5-coder-1.5b is not installed."
    assert notes(turn) == [why]
    assert why in render_conversation([turn])


def test_another_model_that_cannot_be_loaded_is_an_error_in_the_words_of_the_page(searcher):
    service = failing(searcher, Remedy(Action.CHOOSE_MODEL))
    turn = ask(service, Settings(model="mine.gguf"))
    why = "The model mine.gguf is not installed: choose another in the settings."
    assert turn.failure == why
    assert turn.answer is None


def test_a_model_that_fails_leaves_the_rules_and_a_note(searcher):
    model = FailingModel("It can.")
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    turn = ask(Service(resources=resources), Settings(model="mine"))
    assert turn.answer.cited
    assert "The language model failed: The server went away: start it again." in notes(turn)


def test_stop_ends_the_model_and_keeps_the_evidence(slow_service, model):
    turns = ask_stream(slow_service, FLYER, [], SLOW, "me")
    for now in turns:
        if now[-1].draft:
            slow_service.stop("someone else")
            assert not model.ended.is_set()
            slow_service.stop("me")
            break
    *_, last = turns
    assert model.ended.is_set()
    assert last[-1].stopped
    assert not last[-1].running
    assert last[-1].answer.cited


def test_a_visitor_who_leaves_frees_the_model(slow_service, model):
    turns = ask_stream(slow_service, FLYER, [], SLOW, "me")
    next(now for now in turns if now[-1].draft)
    turns.close()
    assert model.ended.is_set()
    assert len(slow_service.queue_for(SLOW)) == 0
    assert ask(slow_service, Settings(model=NONE)).answer.cited


def test_while_the_model_reads_it_is_said_how_long_that_usually_takes(searcher):
    model = EchoModel("Creatures with reach can block creatures with flying.")
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    service = Service(Settings(model="fake"), resources=resources)

    def said(question):
        turns = ask_stream(service, question, [], service.defaults, "me")
        return {turn.waiting for (turn,) in turns}

    assert "The model is reading the rules …" in said(FLYER)
    assert len(service.answer_seconds) == 1
    service.answer_seconds.extend([6.8, 7.4])
    again = said("Can a creature with reach block a creature with flying?")
    assert "The model is reading the rules … An answer usually takes 7 seconds." in again


def test_the_second_waits_for_the_first_and_can_stop_waiting(slow_service):
    first = ask_stream(slow_service, FLYER, [], SLOW, "first")
    next(now for now in first if now[-1].draft)
    second = ask_stream(slow_service, FLYER, [], SLOW, "second")
    waiting = next(now[-1] for now in second if "before yours" in now[-1].waiting)
    assert waiting.waiting == "1 question is being answered before yours …"
    slow_service.stop("second")
    assert list(second)[-1][-1].failure == "Stopped before there was an answer."
    first.close()


def test_a_conversation_keeps_only_its_last_turns(service):
    turns = []
    for _ in range(MAX_TURNS + 3):
        *_, turns = ask_stream(service, "702.19b", turns, Settings(model=NONE), "me")
    assert len(turns) == MAX_TURNS

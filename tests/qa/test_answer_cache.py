"""The same question is answered at once; anything that an answer depends on makes it another."""

import multiprocessing
import os
import sqlite3
import threading
from dataclasses import replace

import pytest
from fakes import EchoModel, FailingModel

import qa.answer_cache
from index.errors import SticklerError
from qa.answer_cache import FROM_CACHE, AnswerCache, clear, contents, place
from qa.assistant import Assistant
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

REACH = "Can a creature with reach block my flyer?"
SILENT = Settings(model=NONE)


@pytest.fixture(autouse=True)
def home(built_home, tmp_path, monkeypatch):
    """A data folder of its own with the embeddings that are known."""
    (tmp_path / "cache").symlink_to(built_home / "cache")
    monkeypatch.setenv("STICKLER_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def assistant(searcher):
    return Assistant(SILENT, Resources(searcher=searcher))


def speaking(searcher, model, **settings):
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    return Assistant(Settings(model="fake", **settings), resources)


def ask(assistant, question=REACH, before=(), cache=None):
    *_, last = (cache or AnswerCache()).ask_stream(assistant, question, before)
    return last


def test_the_second_answer_is_the_first_without_a_search(assistant, monkeypatch):
    first = ask(assistant)
    assert FROM_CACHE not in first.timings
    monkeypatch.setattr(Assistant, "ask_stream", None)
    second = ask(assistant)
    assert FROM_CACHE in second.timings
    assert replace(second, timings={}) == replace(first, timings={})


def test_the_model_is_not_asked_twice_and_its_words_are_all_there(searcher):
    model = EchoModel(
        "Yes. A creature with flying can’t be blocked except by creatures with reach."
    )
    assistant = speaking(searcher, model)
    first, second = ask(assistant), ask(assistant)
    assert len(model.requests) == 1
    assert first.generated
    assert (second.raw, second.generated, second.text) == (first.raw, first.generated, first.text)


def test_another_question_setting_or_edition_is_asked_anew(assistant):
    ask(assistant)
    cache = AnswerCache()
    for other in (
        Assistant(replace(SILENT, edition="2009-10-01"), assistant.resources),
        Assistant(replace(SILENT, max_citations=5), assistant.resources),
    ):
        assert cache.find(other, REACH) is None
    assert cache.find(assistant, REACH + " ") is None
    assert cache.find(assistant, REACH) is not None


def test_other_weights_of_the_model_of_the_same_name_are_asked_anew(searcher):
    ask(speaking(searcher, EchoModel("Yes.")))
    other = EchoModel("No.")
    other.hash = "1"
    assert ask(speaking(searcher, other)).raw == "No."


def test_other_code_prompts_or_table_talk_is_asked_anew(assistant, home, monkeypatch):
    ask(assistant)
    monkeypatch.setattr(qa.answer_cache, "_code", lambda: "other")
    assert AnswerCache().find(assistant, REACH) is None
    monkeypatch.undo()
    monkeypatch.setenv("STICKLER_HOME", str(home))
    qa.answer_cache._own_words.cache_clear()
    (home / "vocabulary.toml").write_text('[talk]\nflyer = "flying"\n', encoding="utf-8")
    assert AnswerCache().find(assistant, REACH) is None
    qa.answer_cache._own_words.cache_clear()


def test_one_changed_word_of_the_rules_makes_other_rules(book):
    edition = next(iter(book.editions.values()))
    number, rule = next(iter(edition.by_number.items()))
    changed = replace(
        edition, by_number={**edition.by_number, number: replace(rule, text="Changed.")}
    )
    same = replace(edition, by_number=dict(edition.by_number))
    assert changed.digest != edition.digest == same.digest
    assert book.current.digest != edition.digest


def test_a_follow_up_depends_on_what_it_leans_on(assistant):
    first = ask(
        assistant, "and if it also has deathtouch?", ["does trample need to kill blockers?"]
    )
    assert first.standalone_question
    cache = AnswerCache()
    assert cache.find(assistant, "and if it also has deathtouch?") is None
    other = cache.find(assistant, "and if it also has deathtouch?", ["can reach block flying?"])
    assert other is None
    again = cache.find(
        assistant, "and if it also has deathtouch?", ["does trample need to kill blockers?"]
    )
    assert again.standalone_question == first.standalone_question


def test_a_refusal_is_kept_and_what_the_book_gives_at_once_is_not(assistant):
    assert ask(assistant, "how many cards does a deck need?").abstained
    assert FROM_CACHE in ask(assistant, "how many cards does a deck need?").timings
    ask(assistant, "702.19b")
    assert contents().answers == 1


def test_an_answer_that_was_stopped_is_not_kept(searcher):
    assistant, stop = speaking(searcher, EchoModel("Yes. " * 20)), threading.Event()
    for part in AnswerCache().ask_stream(assistant, REACH, stop=stop):
        if isinstance(part, str):
            stop.set()
    assert not place().exists()
    stream = AnswerCache().ask_stream(assistant, REACH)
    next(stream)
    stream.close()  # a visitor who left
    assert not place().exists()


def test_an_answer_whose_model_failed_or_is_not_there_is_not_kept(searcher):
    ask(speaking(searcher, FailingModel("Yes.")))
    default = Assistant(Settings(), Resources(searcher=searcher))
    assert "has not been downloaded yet" in ask(default).reason
    assert ask(default, "how many cards does a deck need?").abstained
    assert not place().exists()


def test_the_answers_of_a_server_are_not_kept(searcher):
    name = "fake@http://127.0.0.1:1/v1"
    resources = Resources(searcher=searcher, load_model=lambda _: EchoModel("Yes."))
    ask(Assistant(Settings(model=name), resources))
    assert not place().exists()


def test_a_model_file_is_told_by_its_content_before_it_is_loaded(tmp_path):
    path = tmp_path / "model.gguf"
    resources = Resources()
    assert resources.model_hash(str(path)) is None
    path.write_bytes(b"one")
    one = resources.model_hash(str(path))
    path.write_bytes(b"two")
    assert None is not one != resources.model_hash(str(path))


def test_no_question_can_be_read_in_the_file(assistant):
    ask(assistant)
    with sqlite3.connect(place()) as database:
        [(value,)] = database.execute("SELECT value FROM answer")
    assert REACH.encode() not in qa.answer_cache.zlib.decompress(value)


def test_the_oldest_answers_make_room(assistant, monkeypatch):
    monkeypatch.setattr(qa.answer_cache, "MAX_ANSWERS", 2)
    for question in ("does reach block flying?", "does flying block reach?", REACH):
        ask(assistant, question)
    assert contents().answers == 2
    assert AnswerCache().find(assistant, "does reach block flying?") is None
    assert AnswerCache().find(assistant, REACH) is not None


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\0" + b"\1" * 90])
def test_a_damaged_file_is_said_once_and_the_question_is_answered(assistant, damage):
    place().write_bytes(damage)
    said = []
    cache = AnswerCache(said.append)
    assert ask(assistant, cache=cache).cited[0].number == "702.17b"
    assert ask(assistant, cache=cache).cited[0].number == "702.17b"
    [problem] = said
    assert isinstance(problem, SticklerError)
    assert str(place()) in problem.message
    with pytest.raises(SticklerError, match="cannot be used"):
        contents()
    assert clear() == len(damage)
    ask(assistant)
    assert contents().answers == 1


def test_a_damaged_answer_is_written_anew(assistant):
    ask(assistant)
    for value in (b"torn", qa.answer_cache.zlib.compress(b"{}"), b"", None):
        with sqlite3.connect(place()) as database:
            database.execute("UPDATE answer SET value = ?", (value,))
        assert FROM_CACHE not in ask(assistant).timings
    assert FROM_CACHE in ask(assistant).timings


def test_a_place_that_cannot_be_written_is_said_once(assistant):
    place().mkdir()
    said = []
    cache = AnswerCache(said.append)
    for _ in range(2):
        assert ask(assistant, cache=cache).cited
    assert len(said) == 1


def write_many(home, name):
    os.environ["STICKLER_HOME"] = home
    for at in range(200):
        AnswerCache()._write(f"{name} {at}".encode(), b"value")


def test_two_processes_write_at_once_and_one_may_be_killed(home):
    context = multiprocessing.get_context("spawn")
    one, two = (context.Process(target=write_many, args=(str(home), name)) for name in "ab")
    one.start()
    two.start()
    one.join(60)
    two.kill()
    two.join(60)
    with sqlite3.connect(place()) as database:
        [check] = database.execute("PRAGMA integrity_check").fetchone()
        kept = {row[0] for row in database.execute("SELECT key FROM answer")}
    assert check == "ok"
    assert {f"a {at}".encode() for at in range(200)} <= kept

"""Models in transformers: prepared once, streaming, stopped at once."""

import os
import threading
import time

import pytest

from index import files
from index.errors import SticklerError
from qa.models import DEFAULT, Prompt, embedded, load
from qa.models.local import Local

SYSTEM = "You are a helpful assistant. Answer in one sentence."
CAPITAL = Prompt(SYSTEM, "What is the capital of France?")
STORY = Prompt(SYSTEM, "Tell me a very long story about a dragon.")


@pytest.fixture(scope="module")
def model(built_home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        return Local(DEFAULT)


def test_the_embedded_model_knows_the_capital_of_france(model):
    (answer,) = model.generate([CAPITAL], 30)
    assert "Paris" in answer


def test_streaming_gives_what_generating_gives(model):
    assert (
        "".join(model.stream(CAPITAL, 30, threading.Event())).strip()
        == model.generate([CAPITAL], 30)[0]
    )
    # The fixed part of the prompt is now cached: it must change nothing.
    assert (
        "".join(model.stream(STORY, 30, threading.Event())).strip()
        == model.generate([STORY], 30)[0]
    )


def test_answers_come_in_the_order_of_the_prompts(model):
    capital, story = model.generate([CAPITAL, STORY], 20)
    assert "Paris" in capital
    assert capital != story


@pytest.mark.parametrize("how", ["event", "closed"])
def test_a_stopped_stream_leaves_the_model_idle_within_a_second(model, how):
    stop = threading.Event()
    stream = model.stream(STORY, 2000, stop)
    next(stream)
    if how == "event":
        stop.set()
        list(stream)
    else:
        stream.close()
    time.sleep(1)
    before = sum(os.times()[:2])
    time.sleep(1)
    assert sum(os.times()[:2]) - before < 0.5


def test_tokens_are_counted_and_weights_have_a_hash(model):
    assert model.count("one two three") == 3
    assert len(model.hash) == 16
    assert model.context >= 2048


def test_a_prepared_folder_is_whole_or_not_there(model, built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    ready = embedded.folder()
    assert {path.name for path in ready.iterdir()} >= {"model.safetensors", "config.json"}
    assert [path.name for path in ready.parent.glob(".making-*")] == []
    assert files.fingerprint(ready) == model.hash


@pytest.mark.parametrize("name", ["./nowhere", "~/nowhere-at-all", "/nowhere/at/all"])
def test_a_folder_that_is_not_there_is_said_at_once(name):
    with pytest.raises(SticklerError, match="no such folder"):
        load(name)


def test_a_folder_without_a_model_is_said_in_a_sentence(tmp_path):
    with pytest.raises(SticklerError, match="cannot be loaded"):
        load(str(tmp_path))


def test_no_model_is_a_model_too():
    assert load("none") is None

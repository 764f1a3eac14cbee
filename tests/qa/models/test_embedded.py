"""The embedded default: llama.cpp where it is installed, else transformers, both prepared once."""

import importlib.util

import pytest

from qa.models import DEFAULT, Prompt, embedded, load
from qa.models.gguf import Gguf
from qa.models.local import Local

CAPITAL = Prompt("Answer in one sentence.", "What is the capital of France?")


@pytest.fixture(autouse=True)
def prepared(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


def test_the_default_runs_in_llama_cpp_under_its_own_name():
    model = load(DEFAULT)
    assert isinstance(model, Gguf)
    assert model.name == DEFAULT
    assert "Paris" in model.generate([CAPITAL], 30)[0]


def test_without_llama_cpp_the_default_runs_in_transformers(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else found(name)
    )
    model = load(DEFAULT)
    assert isinstance(model, Local)
    assert model.name == DEFAULT


def test_what_is_prepared_is_whole_and_made_once():
    ready = embedded.file()
    made = ready.stat().st_mtime_ns
    assert embedded.file() == ready
    assert ready.stat().st_mtime_ns == made
    assert list(ready.parent.glob(".making-*")) == []

"""Engines that answer a batch: this process, or the workers of a cluster (ray_engine.py)."""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import index
import prompts
import qa
from index import files
from index.errors import SticklerError
from qa.assistant import Assistant
from qa.models import NONE
from qa.settings import Settings

# Questions answered together: the most that an interruption can lose.
_CHUNK_WITH_MODEL, _CHUNK_WITHOUT_MODEL = 16, 256


class Outcome(NamedTuple):
    """The outcome of a question in a batch: the answer's JSON, or why there is none."""

    question: str
    answer: dict[str, Any] | None
    error: str | None = None


class Engine(Protocol):
    """Answers questions, in this process or on a cluster."""

    chunk: int

    def made_with(self) -> dict[str, str]:
        """Everything that an answer depends on."""

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        """The outcomes of each chunk, in any order."""


class LocalEngine:
    """Answers in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.chunk = chunk_size(assistant.settings)

    def made_with(self) -> dict[str, str]:
        return made_with(self._assistant)

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        for chunk in chunks:
            yield answered(self._assistant, chunk)


def answered(assistant: Assistant, questions: Sequence[str]) -> list[Outcome]:
    """The outcomes of a chunk; if it fails, it is halved until the failing question is isolated."""
    try:
        answers = assistant.ask_many(questions)
    except Exception as error:
        if len(questions) > 1:
            half = len(questions) // 2
            return answered(assistant, questions[:half]) + answered(assistant, questions[half:])
        known = isinstance(error, SticklerError)
        why = str(error) if known else f"Stickler failed ({type(error).__name__}: {error})."
        return [Outcome(questions[0], None, why)]
    return [Outcome(q, a.to_json()) for q, a in zip(questions, answers, strict=True)]


def made_with(assistant: Assistant) -> dict[str, str]:
    """Everything that an answer depends on; if any of it changes, a journal is not resumed."""
    assistant.load()
    model, searcher = assistant.model, assistant.resources.searcher
    index_made = searcher.index.manifest
    own_words = files.data_folder() / "vocabulary.toml"
    rules = [index_made["format"], index_made["scheme"], index_made["documents"]]
    words = own_words.read_text(encoding="utf-8") if own_words.exists() else ""
    return {
        "settings": assistant.settings.hash,
        "model": model.name if model else NONE,
        "weights": model.hash if model else "",
        "embedder": searcher.embedder.hash,
        "documents": hashlib.sha256(json.dumps([rules, words]).encode()).hexdigest()[:16],
        "code": f"{importlib.metadata.version('stickler')} {files.code(index, qa, prompts)}",
    }


def chunk_size(settings: Settings) -> int:
    return _CHUNK_WITH_MODEL if settings.uses_model else _CHUNK_WITHOUT_MODEL

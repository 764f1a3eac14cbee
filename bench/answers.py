"""Answering, against the raw engine on the same prompt; and the first answer of a new process.

Run as: python -m bench.answers. It needs the default language model: stickler model get.
"""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measure import best, command, head, memory_mb, row
from qa.assistant import Assistant
from qa.models import DEFAULT, Generation, Model, Probabilities, Request, catalog, load
from qa.resources import Resources
from qa.settings import Settings

QUESTION = "Can a creature with reach block my flyer?"
_LLAMA = """
import json, sys, xllamacpp
setup = xllamacpp.CommonParams()
setup.model.path, setup.n_ctx, setup.verbosity = sys.argv[1], 4096, -1
server = xllamacpp.Server(setup)
body = {"messages": json.loads(sys.argv[2]), "temperature": 0, "max_tokens": int(sys.argv[3])}
server.handle_chat_completions({**body, "stream": True}, lambda event: False)
"""


class _Recording:
    """A model that records the last request."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.context, self.hash = model.name, model.context, model.hash
        self.request: Request | None = None

    def count(self, text: str) -> int:
        return self._model.count(text)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        return self._model.generate(requests)

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        self.request = request
        return self._model.stream(request, stop)


def main() -> None:
    head("Answers with the default language model")
    loaded = load(DEFAULT)
    assert loaded is not None
    model = _Recording(loaded)
    assistant = Assistant(Settings(), Resources(load_model=lambda name: model))
    assistant.ask(QUESTION)
    request = model.request
    assert request is not None

    def raw() -> Iterator[Probabilities | str]:
        return loaded.stream(request, threading.Event())

    def first_piece() -> None:
        stream = assistant.ask_stream(QUESTION)
        next(part for part in stream if isinstance(part, str))
        stream.close()  # type: ignore[attr-defined]

    mine, engine = best(first_piece, lambda: next(part for part in raw() if isinstance(part, str)))
    reference = f"engine, {engine * 1e3:.0f} ms"
    row("first token", f"{mine * 1e3:.0f} ms", reference, mine / engine, "1.1")
    mine, engine = best(lambda: assistant.ask(QUESTION), lambda: list(raw()))
    row("whole answer", f"{mine:.2f} s", f"engine, {engine:.2f} s", mine / engine, "1.1")
    print(f"\nMemory with both models loaded: {memory_mb():.0f} MB")
    new_process(request)


def new_process(request: Request) -> None:
    """The first answer of a process, against raw llama.cpp with the same prompt."""
    head("First answer of a new process")
    ask = [str(Path(sys.executable).with_name("stickler")), "ask", QUESTION]
    messages = json.dumps(request.prompt.messages)
    raw = [sys.executable, "-c", _LLAMA, str(catalog.find(DEFAULT)), messages, str(request.limit)]
    mine, engine = best(lambda: command(*ask), lambda: command(*raw), rounds=3)
    row("stickler ask", f"{mine:.1f} s", f"raw llama.cpp, {engine:.1f} s", mine / engine, "1.1")


if __name__ == "__main__":
    main()

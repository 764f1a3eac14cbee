"""Answering, compared with the raw engine on the same prompt; the first answer of a new process.

Run as: python -m bench.answers. It needs the default language model: stickler model get.
"""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measure import best, command, head, memory_mb, numbered, row
from qa import verdict
from qa.assistant import Assistant
from qa.models import DEFAULT, NONE, Generation, Model, Probabilities, Request, catalog, load
from qa.models.gguf import GgufModel
from qa.resources import Resources
from qa.settings import Settings

QUESTION = "Can a creature with reach block my flyer?"
_LLAMA = """
import json, sys, xllamacpp
setup = xllamacpp.CommonParams()
setup.model.path, setup.n_ctx, setup.verbosity = sys.argv[1], 4096, -1
setup.no_extra_bufts = True
server = xllamacpp.Server(setup)
body = {"messages": json.loads(sys.argv[2]), "temperature": 0, "max_tokens": int(sys.argv[3])}
server.handle_chat_completions({**body, "stream": True}, lambda event: False)
"""

_EVIDENCE = """
import os, sys
from cli.assistant import make_settings, open_assistant, start_loading
from index.embedder import DEFAULT
assistant = open_assistant(make_settings(sys.argv[1], DEFAULT, None, True))
start_loading(assistant)
stream = assistant.ask_stream(sys.argv[2])
next(stream)
os._exit(0)
"""


class _Recording:
    """A model that records the last request."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.context, self.hash = model.name, model.context, model.hash
        self.tuned = model.tuned
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
    assert isinstance(loaded, GgufModel)
    model = _Recording(loaded)
    assistant = Assistant(Settings(), Resources(load_model=lambda name: model))
    answer = assistant.ask(QUESTION)
    request = model.request
    assert request is not None
    # The opening is forced, not generated.
    opening = verdict.opening(verdict.Verdict(answer.verdict)) if answer.verdict else ""  # type: ignore[arg-type]
    written = loaded.count((answer.raw or "").removeprefix(opening))

    def first_piece() -> None:
        stream = assistant.ask_stream(QUESTION)
        next(part for part in stream if not isinstance(part, str) and part.verdict)
        stream.close()  # type: ignore[attr-defined]

    def whole() -> None:
        assistant.ask(QUESTION)

    mine, engine = best(first_piece, lambda: raw(loaded, request, 1), rounds=3)
    reference = f"raw llama.cpp, {engine:.2f} s"
    row("verdict, from the first token", f"{mine:.2f} s", reference, mine / engine, "1.1")
    mine, engine = best(whole, lambda: raw(loaded, request, written), rounds=3)
    row("whole answer", f"{mine:.2f} s", f"raw llama.cpp, {engine:.2f} s", mine / engine, "1.1")
    with busy_core():
        (busy,) = best(whole, rounds=2)
    row("whole answer, one core busy", f"{busy:.2f} s", f"idle, {mine:.2f} s", busy / mine, "2.5")
    size = loaded.path.stat().st_size / (1 << 20)
    row("memory", f"{memory_mb():.0f} MB", f"file, {size:.0f} MB", memory_mb() / size, "+1 GiB")
    new_process(request)


def raw(model: GgufModel, request: Request, count: int) -> None:
    """Generate `count` tokens with llama.cpp itself, with the prompt's fixed part cached."""
    fixed, _ = model._frame(request.prompt)
    for prompt, limit in ((fixed, 0), (model._prompt(request.prompt), count)):
        body = {"prompt": prompt, "n_predict": limit, "id_slot": 0, "temperature": 0}
        model._engine.handle_completions({**body, "stream": True}, lambda event: False)


@contextlib.contextmanager
def busy_core() -> Iterator[None]:
    """Another process keeps one core busy."""
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def new_process(request: Request) -> None:
    """The first answer of a process, against raw llama.cpp with the same prompt.

    Raw llama.cpp reads all of it; ours has the fixed part from an earlier process.
    """
    head("First answer of a new process")
    stickler, questions = str(Path(sys.executable).with_name("stickler")), numbered(QUESTION)
    messages = json.dumps(request.prompt.messages)
    raw = [sys.executable, "-c", _LLAMA, str(catalog.find(DEFAULT)), messages, str(request.limit)]
    mine, engine = best(
        lambda: command(stickler, "ask", next(questions)), lambda: command(*raw), rounds=3
    )
    row("stickler ask", f"{mine:.1f} s", f"raw llama.cpp, {engine:.1f} s", mine / engine, "1.1")
    loading, alone = best(
        *(
            lambda name=name: command(sys.executable, "-c", _EVIDENCE, name, QUESTION)
            for name in (DEFAULT, NONE)
        )
    )
    row(
        "the rules, while the model loads",
        f"{loading:.1f} s",
        f"--model none, {alone:.1f} s",
        loading / alone,
        "1.1",
    )


if __name__ == "__main__":
    main()

"""Answering, against the raw engine on the same prompt; and the first answer of a new process.

Run as: python -m bench.answers
"""

import sys
import threading
from functools import partial
from pathlib import Path

from bench.measure import best, command, head, memory_mb, row
from qa.assistant import Assistant
from qa.models import Model, Prompt, embedded
from qa.resources import Resources
from qa.settings import Settings

QUESTION = "Can a creature with reach block my flyer?"
_TRANSFORMERS = """
import torch, sys
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
chat = [{"role": "system", "content": sys.argv[2]}, {"role": "user", "content": sys.argv[3]}]
inputs = tokenizer.apply_chat_template(
    chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
model.generate(**inputs, max_new_tokens=80, do_sample=False)
"""
_LLAMA = """
import sys, xllamacpp
setup = xllamacpp.CommonParams()
setup.model.path, setup.n_ctx, setup.verbosity = sys.argv[1], 4096, -1
server = xllamacpp.Server(setup)
chat = [{"role": "system", "content": sys.argv[2]}, {"role": "user", "content": sys.argv[3]}]
server.handle_chat_completions(
    {"messages": chat, "temperature": 0, "max_tokens": 80, "stream": True}, lambda event: False)
"""


class _Recording:
    """A model that records the last prompt."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.prompt = Prompt("", "")

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> object:
        self.prompt = prompt
        return self._model.stream(prompt, limit, stop)


def main() -> None:
    head("Answers with sentences of the embedded model (--show-generated)")
    model = _Recording(embedded.load())
    resources = Resources(load_model=lambda name: model)  # type: ignore[arg-type,return-value]
    assistant = Assistant(Settings(show_generated=True), resources)
    assistant.ask(QUESTION)

    def raw_first() -> None:
        next(iter(model.stream(model.prompt, 80, threading.Event())))  # type: ignore[call-overload]

    def first_piece() -> None:
        stream = assistant.ask_stream(QUESTION)
        next(part for part in stream if isinstance(part, str))
        stream.close()  # type: ignore[attr-defined]

    mine, raw = best(first_piece, raw_first)
    row("first token", f"{mine * 1e3:.0f} ms", f"engine, {raw * 1e3:.0f} ms", mine / raw, "1.1")
    mine, raw = best(
        lambda: assistant.ask(QUESTION),
        lambda: list(model.stream(model.prompt, 80, threading.Event())),  # type: ignore[call-overload]
    )
    row("whole answer", f"{mine:.2f} s", f"engine, {raw:.2f} s", mine / raw, "1.1")
    print(f"\nMemory with both models loaded: {memory_mb():.0f} MB")
    head("First answer of a new process")
    raw_commands = {
        "transformers": [sys.executable, "-c", _TRANSFORMERS, str(embedded.folder())],
        "llama.cpp": [sys.executable, "-c", _LLAMA, str(embedded.file())],
    }
    for options in ([], ["--show-generated"]):
        ask = [str(Path(sys.executable).with_name("stickler")), "ask", *options, QUESTION]
        steps = [ask, *([*raw, *model.prompt] for raw in raw_commands.values())]
        mine, *raws = best(*(partial(command, *step) for step in steps), rounds=3)
        for engine, raw in zip(raw_commands, raws, strict=True):
            what, reference = "stickler ask " + " ".join(options), f"raw {engine}, {raw:.1f} s"
            row(what, f"{mine:.1f} s", reference, mine / raw, "1.1")


if __name__ == "__main__":
    main()

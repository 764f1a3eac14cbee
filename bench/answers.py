"""Answering, against the raw engine on the same prompt; and a first answer from a cold start.

Run as: python -m bench.answers
"""

import subprocess
import sys
import threading
from pathlib import Path

from bench.measure import best, head, memory_mb, row
from qa.answer import Assistant
from qa.models import Prompt
from qa.settings import Settings

QUESTION = "Can a creature with reach block my flyer?"
_RAW = """
import torch, sys
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
chat = [{"role": "system", "content": sys.argv[2]}, {"role": "user", "content": sys.argv[3]}]
inputs = tokenizer.apply_chat_template(
    chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
model.generate(**inputs, max_new_tokens=80, do_sample=False)
"""


class _Listening:
    """The model itself, noting what it is asked."""

    def __init__(self, model: object) -> None:
        self._model = model
        self.prompt = Prompt("", "")

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> object:
        self.prompt = prompt
        return self._model.stream(prompt, limit, stop)  # type: ignore[attr-defined]


def main() -> None:
    head("Answers with the embedded model speaking (--words)")
    first = Assistant(Settings(words=True))
    first.load()
    model = _Listening(first._loaded[0])
    assistant = Assistant(Settings(words=True), first.searcher, model)  # type: ignore[arg-type]
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
    folder = first._loaded[0]._folder  # type: ignore[union-attr]
    raw_command = [sys.executable, "-c", _RAW, folder, *model.prompt]
    for options in ([], ["--words"]):
        command = [str(Path(sys.executable).with_name("stickler")), "ask", *options, QUESTION]
        mine, raw = best(lambda c=command: _run(c), lambda: _run(raw_command), rounds=3)  # type: ignore[misc]
        what = "stickler ask " + " ".join(options)
        row(what, f"{mine:.1f} s", f"raw load and generate, {raw:.1f} s", mine / raw, "1.1")


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()

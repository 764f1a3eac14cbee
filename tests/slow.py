"""A model for tests of plumbing: it says a word every now and then until it is stopped."""

import threading
from collections.abc import Iterator, Sequence

from qa.models import Prompt


class Slow:
    name = "slow"
    context = 2048
    hash = "slow"

    def __init__(self, words: int = 5000) -> None:
        self._words = words
        self.ended = threading.Event()

    def reset(self) -> None:
        self.ended.clear()

    def count(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        return ["Yes."] * len(prompts)

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        try:
            for _ in range(self._words):
                if stop.wait(0.02):
                    return
                yield "word "
        finally:
            self.ended.set()

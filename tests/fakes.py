"""Language models for tests of the plumbing around a model: each implements `qa.models.Model`."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence

from index.errors import SticklerError
from qa.models import Prompt

Reply = str | Sequence[str] | Callable[[Prompt], str]


class EchoModel:
    """Replies with a fixed text, a list of texts in turn, or a function of the prompt.

    Without a reply it repeats the prompt. `prompts` records all that it was given.
    """

    context = 2048
    hash = "0"

    def __init__(self, reply: Reply | None = None, name: str = "fake") -> None:
        self.name = name
        self.prompts: list[Prompt] = []
        self._reply = reply

    def count(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        return [self._next_reply(prompt) for prompt in prompts]

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        """The reply word by word, until `stop` is set."""
        for piece in re.findall(r"\s*\S+\s*$|\s*\S+", self._next_reply(prompt)):
            if stop.is_set():
                return
            yield piece

    def _next_reply(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        match self._reply:
            case None:
                return prompt.user
            case str() as reply:
                return reply
            case Sequence() as replies:
                return replies[(len(self.prompts) - 1) % len(replies)]
            case reply:
                return reply(prompt)


class SlowModel(EchoModel):
    """Streams a word every 20 ms until it is stopped; `ended` is set when a stream has ended."""

    def __init__(self, words: int = 5000, name: str = "slow") -> None:
        super().__init__("Yes.", name)
        self._words = words
        self.ended = threading.Event()

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        self.prompts.append(prompt)
        try:
            for _ in range(self._words):
                if stop.wait(0.02):
                    return
                yield "word "
        finally:
            self.ended.set()


class FailingModel(EchoModel):
    """Raises a SticklerError; a stream first yields `reply`, if there is one."""

    def __init__(
        self,
        reply: Reply = "",
        error: str = "The server went away: start it again.",
        name: str = "fake",
    ) -> None:
        super().__init__(reply, name)
        self._error = error

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        self.prompts += prompts
        raise SticklerError(self._error)

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        yield from super().stream(prompt, limit, stop)
        raise SticklerError(self._error)

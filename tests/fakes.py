"""Language models for tests of the plumbing around a model: each implements `qa.models.Model`."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence

from index.errors import SticklerError
from qa.models import Generation, Probabilities, Prompt, Request, collect

Reply = str | Sequence[str] | Callable[[Prompt], str]


class EchoModel:
    """Replies with a fixed text, a list of texts in turn, or a function of the prompt.

    Without a reply it repeats the prompt. `prompts` records all that it was given, `requests` how.
    With `probabilities` it tells them, and its answers begin with the opening that comes of them.
    """

    context = 2048
    tuned = False
    hash = "0"

    def __init__(
        self,
        reply: Reply | None = None,
        name: str = "fake",
        probabilities: Probabilities | None = None,
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._reply = reply
        self._probabilities = probabilities

    @property
    def prompts(self) -> list[Prompt]:
        return [request.prompt for request in self.requests]

    def count(self, text: str) -> int:
        return len(text.split())

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        return [collect(EchoModel.stream(self, each, threading.Event())) for each in requests]

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        """The probabilities, then the reply word by word, until `stop` is set."""
        self.requests.append(request)
        if request.options and self._probabilities is not None:
            yield self._probabilities
            yield request.opening(self._probabilities)
        for piece in re.findall(r"\s*\S+\s*$|\s*\S+", self._next_reply(request.prompt)):
            if stop.is_set():
                return
            yield piece

    def _next_reply(self, prompt: Prompt) -> str:
        match self._reply:
            case None:
                return prompt.user
            case str() as reply:
                return reply
            case Sequence() as replies:
                return replies[(len(self.requests) - 1) % len(replies)]
            case reply:
                return reply(prompt)


class SlowModel(EchoModel):
    """Streams a word every 20 ms until it is stopped; `ended` is set when a stream has ended."""

    def __init__(self, words: int = 5000, name: str = "slow") -> None:
        super().__init__("Yes.", name)
        self._words = words
        self.ended = threading.Event()

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        self.requests.append(request)
        try:
            for _ in range(self._words):
                if stop.wait(0.02):
                    return
                yield "word "
        finally:
            self.ended.set()


class OrderedModel(EchoModel):
    """Notes in `order` what it was asked for; a batch `started`, and waits until it `may_go`."""

    def __init__(self) -> None:
        super().__init__("Yes.", "ordered")
        self.order: list[int | str] = []
        self.started, self.may_go = threading.Event(), threading.Event()

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        self.order.append(len(requests))
        self.started.set()
        assert self.may_go.wait(20)
        return super().generate(requests)

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        self.order.append("question")
        return super().stream(request, stop)


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

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        self.requests += requests
        raise SticklerError(self._error)

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        yield from super().stream(request, stop)
        raise SticklerError(self._error)

"""Long work behind the page: in a thread of its own, told as it goes on, stopped when asked to.

Its parts wait in line with everybody's questions, so that whoever asks gets a turn between them.
"""

import contextlib
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from index.errors import SticklerError
from page.queue import Busy
from page.service import Service, Waiting
from qa.answer import Assistant
from qa.settings import Settings

_POLL = 0.2  # seconds between two looks
_BUSY = 1.0  # seconds until a full line is tried again
_LEFT = 10.0  # seconds that work has to end in once nobody looks any more
T = TypeVar("T")


class Stopped(Exception):
    """The work was stopped before its end, with so much of it done."""

    def __init__(self, done: int = 0, total: int = 0) -> None:
        super().__init__(f"stopped at {done} of {total}")
        self.done, self.total = done, total


@dataclass(frozen=True, slots=True)
class Progress(Generic[T]):
    """How far work is; the last of it holds what came of it."""

    done: int
    total: int
    words: str  # what is being waited for
    result: T | None = None


class Work(Generic[T]):
    """Something being done: how far it is, and what is being waited for."""

    def __init__(self, service: Service, settings: Settings, stop: threading.Event) -> None:
        self.service, self.settings, self.stop = service, settings, stop
        self.done = self.total = 0
        self.words = "Starting …"

    def tell(self, done: int, total: int) -> None:
        self.done, self.total, self.words = done, total, ""

    def goes_on(self) -> None:
        """Raises where the work was stopped."""
        if self.stop.is_set():
            raise Stopped(self.done, self.total)

    def assistant(self) -> Assistant:
        """What answers, waited for."""
        waiting = self.service.assistant(self.settings, self.stop)
        try:
            while True:
                self._say(next(waiting))
        except StopIteration as end:
            if end.value is None:
                raise Stopped from None
            found: Assistant = end.value
            return found

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """A turn among those who ask, waited for however long the line is."""
        with contextlib.ExitStack() as stack:
            line = self.service.queue(self.settings)
            while True:
                self.goes_on()
                try:
                    place = stack.enter_context(line.place())
                    break
                except Busy:
                    self.stop.wait(_BUSY)
            while place.ahead(_POLL):
                self.goes_on()
            yield

    def _say(self, waiting: Waiting) -> None:
        self.words = waiting.words

    def steps(self, do: Callable[[], T]) -> Iterator[Progress[T]]:
        """Do it, telling now and then how far it is, and last what it returned.

        It is over when this is: whoever stops looking stops the work.
        """
        ended = threading.Event()
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(do())
            except BaseException as error:
                if not isinstance(error, Stopped | SticklerError):
                    traceback.print_exc()
                errors.append(error)
            finally:
                ended.set()

        threading.Thread(target=run, daemon=True).start()
        try:
            while not ended.wait(_POLL):
                yield Progress(self.done, self.total, self.words)
        finally:
            if not ended.is_set():
                self.stop.set()
                ended.wait(_LEFT)
        for error in errors:
            if isinstance(error, Stopped | SticklerError):
                raise error
            raise SticklerError(
                f"Stickler failed ({type(error).__name__}): see its terminal."
            ) from error
        yield Progress(self.total, self.total, "", results[0])

"""Long jobs started on the page: each runs in its own thread, reports progress and can be stopped.

Their parts wait in the same queues as questions, so that other visitors get a turn in between.
"""

import contextlib
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from index.errors import SticklerError
from page.errors import as_stickler_error
from page.queue import Busy, Place
from page.service import Service
from qa.assistant import Assistant
from qa.settings import Settings

_POLL = 0.2  # seconds between two looks
_RETRY_SECONDS = 1.0  # seconds until a full queue is tried again
_GRACE_SECONDS = 10.0  # seconds that a job gets to finish once nobody is watching
T = TypeVar("T")


class Stopped(Exception):
    """The job was stopped early; `done` of `total` was finished."""

    def __init__(self, done: int = 0, total: int = 0) -> None:
        super().__init__(f"stopped at {done} of {total}")
        self.done, self.total = done, total


@dataclass(frozen=True, slots=True)
class Progress(Generic[T]):
    """A job's progress; the last one contains the result."""

    done: int
    total: int
    message: str  # what is being waited for
    result: T | None = None


class BackgroundJob(Generic[T]):
    """A job with a result of type T, its progress and what it is waiting for."""

    def __init__(self, service: Service, settings: Settings, stop: threading.Event) -> None:
        self.service, self.settings, self.stop = service, settings, stop
        self.done = self.total = 0
        self.message = "Starting …"

    def report(self, done: int, total: int) -> None:
        """Note how far the job is."""
        self.done, self.total, self.message = done, total, ""

    def check_stopped(self) -> None:
        """Raise Stopped if the job was stopped."""
        if self.stop.is_set():
            raise Stopped(self.done, self.total)

    def load_assistant(self) -> Assistant:
        """Wait until the assistant is loaded; raises Stopped if the job is stopped meanwhile."""
        loading = self.service.load_assistant(self.settings, self.stop)
        while True:
            try:
                self.message = next(loading).message
            except StopIteration as end:
                if end.value is None:
                    raise Stopped from None
                assistant: Assistant = end.value
                return assistant

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn in the queue, however long it is."""
        with contextlib.ExitStack() as stack:
            place = self._join_queue(stack)
            while place.wait(_POLL):
                self.check_stopped()
            yield

    def _join_queue(self, stack: contextlib.ExitStack) -> Place:
        while True:
            self.check_stopped()
            try:
                return stack.enter_context(self.service.queue_for(self.settings).join())
            except Busy:
                self.stop.wait(_RETRY_SECONDS)

    def run(self, work: Callable[[], T]) -> Iterator[Progress[T]]:
        """Do the work in a thread; yields its progress now and then, and last its result.

        Closing the iterator stops the job.
        """
        ended = threading.Event()
        results: list[T] = []
        errors: list[BaseException] = []

        def in_thread() -> None:
            try:
                results.append(work())
            except BaseException as error:
                if not isinstance(error, Stopped | SticklerError):
                    traceback.print_exc()
                errors.append(error)
            finally:
                ended.set()

        threading.Thread(target=in_thread, daemon=True).start()
        try:
            while not ended.wait(_POLL):
                yield Progress(self.done, self.total, self.message)
        finally:
            if not ended.is_set():
                self.stop.set()
                ended.wait(_GRACE_SECONDS)
        for error in errors:
            raise error if isinstance(error, Stopped) else as_stickler_error(error)
        yield Progress(self.total, self.total, "", results[0])

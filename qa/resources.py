"""Everything a process loads, each part once: rulebook, index, embedder, out-of-scope data, models.

One object owns them all. It is created once per process and passed to whatever answers: the page, a
batch, an evaluation, a command. Search and language models load in their own threads when first
requested, so that they can load in parallel.

>>> resources = Resources()
>>> Assistant(Settings(), resources).ask("can a flyer be blocked by reach?")
"""

import atexit
import contextlib
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from index import library, store
from index.editions import Rulebook
from index.embedder import DEFAULT as EMBEDDER
from index.embedder import Embedder, Progress
from index.errors import SticklerError
from index.searcher import Searcher
from index.stages import ScoreWeights
from qa import models
from qa.out_of_scope import OutOfScope

_MAX_MODELS = 2  # language models in memory at once
_SHUTDOWN_WAIT = 15.0  # seconds that the process waits for its loaders when it ends
SHUTDOWN = threading.Event()  # set when the process ends: loaders should stop
T = TypeVar("T")


class Resources:
    """Loads what answering needs. `progress` is called while an index is being built."""

    def __init__(
        self,
        embedder: str = EMBEDDER,
        progress: Progress | None = None,
        load_model: Callable[[str], models.Model | None] = models.load,
        searcher: Searcher | None = None,
    ) -> None:
        self.embedder = searcher.embedder if searcher else Embedder(embedder)
        self._progress = progress
        self._load_model = load_model
        self._lock = threading.Lock()
        self._rulebook = searcher.rulebook if searcher else None
        self._search = _finished(searcher) if searcher else None
        self._out_of_scope: dict[str, OutOfScope] = {}
        self._models: dict[str, Future[models.Model | None]] = {}

    @property
    def rulebook(self) -> Rulebook:
        with self._lock:
            if self._rulebook is None:
                self._rulebook = library.load()
            return self._rulebook

    @property
    def searcher(self) -> Searcher:
        return self.load_search().result()

    def out_of_scope(self, edition: str) -> OutOfScope:
        """The topics that an edition does not cover, ready to be compared with questions."""
        book = self.rulebook.edition(edition)
        if edition not in self._out_of_scope:
            self._out_of_scope[edition] = OutOfScope(book, self.embedder, self._progress)
        return self._out_of_scope[edition]

    def model(self, name: str) -> models.Model | None:
        """A language model by its setting; None for 'none'."""
        return None if name == models.NONE else self.load_model(name).result()

    def model_hash(self, name: str) -> str | None:
        """Identifies a model's weights without loading them; None if that is not possible."""
        future = self._models.get(name)
        loaded = future.result() if future and future.done() and not future.exception() else None
        if loaded is None or "://" in name:
            return models.weights_hash(name)
        return loaded.hash

    def load_search(self, retry: bool = False) -> Future[Searcher]:
        """Search, loading or loaded; `retry` starts again if loading has failed."""
        with self._lock:
            if self._search is None or (retry and _failed(self._search)):
                self._search = _started(self._open_search)
            return self._search

    def load_model(self, name: str, retry: bool = False) -> Future[models.Model | None]:
        """A model, loading or loaded; the least recently used one is dropped."""
        with self._lock:
            future = self._models.pop(name, None)
            if future is None or (retry and _failed(future)):
                while len(self._models) >= _MAX_MODELS:
                    self._models.pop(next(iter(self._models)))
                future = _started(lambda: self._load_model(name))
            self._models[name] = future
            return future

    def find_model(self, name: str) -> Future[models.Model | None] | None:
        """A model's loading state; None if it has not been requested yet."""
        return self._models.get(name)

    def reload(self, progress: Progress | None = None) -> None:
        """Pick up added documents; until that is done, the old index answers."""

        def load() -> Searcher:
            book = library.load()
            index = store.open_store(book, self.embedder, _unless_ending(progress))
            return Searcher(book, index, self.embedder)

        searcher = _started(load).result()
        with self._lock:
            self._rulebook, self._search, self._out_of_scope = (
                searcher.rulebook,
                _finished(searcher),
                {},
            )

    def snapshot(self) -> "Resources":
        """The parts in their current state, unaffected by a later `reload`."""
        return self._sharing(self._out_of_scope, self.searcher)

    def with_score_weights(self, weights: ScoreWeights) -> "Resources":
        """The same parts, but searched with other weights."""
        return self._sharing(self._out_of_scope, self.searcher.with_score_weights(weights))

    def _sharing(self, out_of_scope: dict[str, OutOfScope], searcher: Searcher) -> "Resources":
        other = Resources(progress=self._progress, load_model=self._load_model, searcher=searcher)
        other._lock, other._models, other._out_of_scope = self._lock, self._models, out_of_scope
        return other

    def _open_search(self) -> Searcher:
        book = self.rulebook
        index = store.open_store(book, self.embedder, _unless_ending(self._progress))
        searcher = Searcher(book, index, self.embedder)
        _ = self.embedder.model  # loaded now, not with the first question
        return searcher


def _unless_ending(progress: Progress | None) -> Progress:
    """Reports progress, and ends the work where the process ends."""

    def report(done: int, total: int) -> None:
        if SHUTDOWN.is_set():
            raise SticklerError("Stickler ended while it was loading")
        if progress:
            progress(done, total)

    return report


def _failed(future: "Future[T]") -> bool:
    return future.done() and future.exception() is not None


def _finished(result: T) -> "Future[T]":
    future: Future[T] = Future()
    future.set_result(result)
    return future


_loaders: set[threading.Thread] = set()


def _started(work: Callable[[], T]) -> "Future[T]":
    """Run `work` in a thread that does not keep the program from exiting."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            if not (isinstance(error, SticklerError) or SHUTDOWN.is_set()):
                traceback.print_exc()
            future.set_exception(error)
        finally:
            _loaders.discard(threading.current_thread())

    thread = threading.Thread(target=run, daemon=True, name="stickler-loader")
    _loaders.add(thread)
    thread.start()
    return future


@atexit.register
def _let_loaders_end() -> None:
    """Wait for loaders to stop: a thread killed inside PyTorch aborts the whole process."""
    SHUTDOWN.set()
    until = time.monotonic() + _SHUTDOWN_WAIT
    with contextlib.suppress(KeyboardInterrupt):  # whoever asks again does not want to wait
        for thread in tuple(_loaders):
            thread.join(max(0.0, until - time.monotonic()))

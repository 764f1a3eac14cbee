"""What all visitors share: rulebook, search and models, loaded in the background, and turns.

Nothing here grows with visitors: models are few, and of a question only its stop event is kept,
as long as it is being answered.
"""

import contextlib
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from index import library, rerank, store
from index.editions import Rulebook
from index.embedder import Embedder, Progress
from index.errors import SticklerError
from index.rulebook import ParsedDocument
from index.searcher import Searcher, check
from page.errors import here
from page.queue import Queue
from qa import compose, models
from qa.answer import Answer, Assistant
from qa.settings import Settings

_MOST_MODELS = 2  # in memory at once
_POLL = 0.2  # seconds between two looks at what is waited for
LEAST_CITED, MOST_CITED = 2, 8  # one rule less is cited where the answer is clear
T = TypeVar("T")


class Waiting(NamedTuple):
    """Why there is no answer yet."""

    words: str


@dataclass(frozen=True, slots=True)
class State:
    words: str
    ready: bool = False
    failed: bool = False


class Service:
    """One for a running page. `any_model` lets visitors name models, `uploads` lets them add texts:
    both are for the machine's own user, since a model's name may be a folder or an address."""

    def __init__(
        self,
        defaults: Settings | None = None,
        any_model: bool = True,
        uploads: bool = True,
        load: Callable[[str], models.Model | None] = models.load,
        searcher: Searcher | None = None,
    ) -> None:
        self.defaults = defaults or Settings()
        self.any_model = any_model
        self.uploads = uploads
        self._load = load
        self._lock = threading.Lock()
        self._book: Rulebook | None = searcher.book if searcher else None
        self._search: Future[Searcher] | None = _done(searcher) if searcher else None
        self._models: dict[str, Future[models.Model | None]] = {}
        self._doing = ""
        self._adding = threading.Lock()
        self._stops: dict[str, set[threading.Event]] = {}
        # A model of this machine answers one after the other, a server several at once.
        self._queues = {"quiet": Queue(2, 40), "local": Queue(1, 20), "server": Queue(8, 40)}

    @property
    def book(self) -> Rulebook:
        with self._lock:
            if self._book is None:
                self._book = library.load()
            return self._book

    def start(self) -> None:
        """Load search, and the model if it speaks, in the background; again where that failed."""
        with self._lock:
            failed = self._search and self._search.done() and self._search.exception()
            if self._search is None or failed:
                self._doing = "Loading search"
                self._search = _begun(self._open)
        if self.defaults.speaks:
            self._model(self.defaults.model)

    @property
    def state(self) -> State:
        """What can be said of it now, in a few words."""
        search = self._search
        if search is None or not search.done():
            return State(f"{self._doing or 'Starting'} …")
        if error := search.exception():
            return State(_sentence(error), failed=True)
        if loading := [name for name, future in self._models.items() if not future.done()]:
            return State(f"Loading {', '.join(loading)} …")
        return State("Ready", ready=True)

    def settings(
        self, model: str = "", edition: str = "", cited: int = 0, words: bool | None = None
    ) -> Settings:
        """The settings of one question; what is not said is as the page was started."""
        wanted = replace(
            self.defaults,
            model=model.strip() or self.defaults.model,
            edition=edition or self.defaults.edition,
            words=self.defaults.show_generated if words is None else words,
            cited=cited or self.defaults.max_citations,
        )
        if not LEAST_CITED <= wanted.max_citations <= MOST_CITED:
            raise SticklerError(
                f"Cannot cite {wanted.max_citations} rules: choose {LEAST_CITED} to {MOST_CITED}."
            )
        if not self.any_model and wanted.model not in self.model_names:
            raise SticklerError(
                f"The model '{wanted.model[:60]}' is not offered here: choose one of "
                f"{', '.join(self.model_names)}."
            )
        self.book.edition(wanted.edition)  # one that is not there is said at once
        return replace(wanted, top_k=max(wanted.top_k, wanted.max_citations + 4))

    @property
    def model_names(self) -> list[str]:
        return list(dict.fromkeys([self.defaults.model, models.DEFAULT, models.NONE]))

    @contextlib.contextmanager
    def stoppable(self, session: str) -> Iterator[threading.Event]:
        """An event that `stop` sets, and that is set in any case once the answer is left."""
        event = threading.Event()
        with self._lock:
            self._stops.setdefault(session, set()).add(event)
        try:
            yield event
        finally:
            event.set()
            with self._lock:
                self._stops[session].discard(event)
                if not self._stops[session]:
                    del self._stops[session]

    def stop(self, session: str) -> None:
        """End what a visitor is being answered; also where the visitor left."""
        with self._lock:
            for event in self._stops.get(session, ()):
                event.set()

    def ask(
        self, question: str, before: Sequence[str], settings: Settings, stop: threading.Event
    ) -> Generator[Answer | str | Waiting, None, None]:
        """As `Assistant.ask_stream`, with what is being waited for."""
        check(question)
        with self.queue(settings).place() as place:
            while ahead := place.ahead(_POLL):
                many = "1 question is" if ahead == 1 else f"{ahead} questions are"
                yield Waiting(f"{many} being answered before yours …")
                if stop.is_set():
                    return
            assistant = yield from self.assistant(settings, stop)
            if assistant is not None:
                yield from assistant.ask_stream(question, before, stop=stop)

    def assistant(
        self, settings: Settings, stop: threading.Event
    ) -> Generator[Waiting, None, Assistant | None]:
        """What answers with these settings, waited for; nothing where it was stopped."""
        searcher = yield from self._awaited(self._searching(), stop)
        model = notice = None
        if settings.speaks and settings.model != models.NONE:
            try:
                model = yield from self._awaited(self._model(settings.model), stop)
            except SticklerError as error:
                notice = here(models.done_without(settings.model, error))
        if stop.is_set() or searcher is None:
            return None
        return Assistant(settings, searcher, model, notice=notice, add=here(compose.ADD))

    def queue(self, settings: Settings) -> Queue:
        """Where those wait who ask with these settings."""
        return self._queues[_kind(settings)]

    def found(self, query: str, edition: str, k: int = 10) -> list[str] | None:
        """The best rules' numbers; None while search is not loaded yet."""
        future = self._search
        if future is None or not future.done() or future.exception():
            return None
        return [hit.passage.number for hit in future.result().unread.search(query, k, edition)]

    def searcher(self, seconds: float | None = None) -> Searcher:
        """The search, waited for."""
        try:
            return self._searching().result(seconds)
        except TimeoutError:
            raise SticklerError(f"{self.state.words} Try again in a moment.") from None

    def add(self, path: Path, progress: Progress) -> ParsedDocument:
        """Take in a rules text and search it too; the page goes on with the old ones meanwhile."""
        if not self.uploads:
            raise SticklerError("Texts cannot be added here: use 'stickler rules add FILE'.")
        if not self._adding.acquire(blocking=False):
            raise SticklerError("Another text is being added: wait for it to end.")
        try:
            before = self.searcher()
            _, parsed = library.add_text(path.read_bytes(), path.name)
            book = library.load()
            index = store.open_store(book, before.embedder, progress)
            searcher = Searcher(book, index, before.embedder, reranker=before.reranker)
            with self._lock:
                self._book, self._search = book, _done(searcher)
            return parsed
        finally:
            self._adding.release()

    def _open(self) -> Searcher:
        book, embedder = self.book, Embedder(self.defaults.embedder)
        reader = rerank.named(self.defaults.reranker)
        index = store.open_store(book, embedder, self._note)
        self._doing = "Loading search"
        searcher = Searcher(book, index, embedder, reranker=reader)
        searcher.search("warm up", 1)  # loads the models of search
        return searcher

    def _note(self, done: int, total: int) -> None:
        self._doing = f"Building the index: {done} of {total} passages"

    def _searching(self) -> Future[Searcher]:
        self.start()
        assert self._search is not None
        return self._search

    def _model(self, name: str) -> Future[models.Model | None]:
        """A model being loaded or there; the one that was used longest ago makes room."""
        with self._lock:
            future = self._models.pop(name, None)
            if future is None or (future.done() and future.exception()):
                while len(self._models) >= _MOST_MODELS:
                    self._models.pop(next(iter(self._models)))
                future = _begun(lambda: self._load(name))
            self._models[name] = future
            return future

    def _awaited(
        self, future: "Future[T]", stop: threading.Event
    ) -> Generator[Waiting, None, T | None]:
        """Waits, saying for what; gives nothing where it was stopped."""
        while not stop.is_set():
            try:
                return future.result(_POLL)
            except TimeoutError:
                yield Waiting(self.state.words)
            except SticklerError:
                raise
            except Exception as error:
                raise SticklerError(_sentence(error)) from error
        return None


def _kind(settings: Settings) -> str:
    if not settings.speaks or settings.model == models.NONE:
        return "quiet"
    return "server" if "://" in settings.model else "local"


def _sentence(error: BaseException) -> str:
    if isinstance(error, SticklerError):
        return str(error)
    return f"Stickler failed ({type(error).__name__}): see its terminal."


def _done(result: T) -> "Future[T]":
    future: Future[T] = Future()
    future.set_result(result)
    return future


def _begun(work: Callable[[], T]) -> Future[T]:
    """Do it in a thread that does not keep the program from ending."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            if not isinstance(error, SticklerError):
                traceback.print_exc()
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future

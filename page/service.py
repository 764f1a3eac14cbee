"""What all visitors share: loaded resources, queues, and stopping.

Nothing here grows with the number of visitors: there are few models, and for a question only its
stop event is kept, while it is being answered.
"""

import contextlib
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from index import latest, library
from index.editions import CURRENT
from index.embedder import Progress
from index.errors import SticklerError
from index.latest import Latest
from index.rulebook import ParsedDocument
from index.searcher import Searcher, check
from page import status
from page.errors import as_stickler_error
from page.queue import Queue
from page.remedies import phrase
from page.status import Done, State
from qa import models
from qa.answer import Answer
from qa.answer_cache import AnswerCache
from qa.assistant import Assistant
from qa.models import catalog, download
from qa.resources import SHUTDOWN, Resources
from qa.settings import Settings

_POLL = 0.2  # seconds between two looks at what is waited for
_NOT_READY = "The model was not ready yet, so only the rules are quoted. Ask again once it is."
_RECENT = 9  # answers of a model that tell how long one usually takes
MIN_CITATIONS, MAX_CITATIONS = 2, 8  # one rule fewer is cited if the answer is clear


class Waiting(NamedTuple):
    """Why there is no answer yet."""

    message: str


class Service:
    """One per running page. `any_model` lets visitors name models, `uploads` add documents:
    both are for the machine's own user, since a model's name may be a folder or an address."""

    def __init__(
        self,
        defaults: Settings | None = None,
        any_model: bool = True,
        uploads: bool = True,
        resources: Resources | None = None,
    ) -> None:
        self.defaults = defaults or Settings()
        self.any_model = any_model
        self.uploads = uploads
        self.resources = resources or Resources(
            self.defaults.embedder, self._show_progress, self._fetch_and_load
        )
        self.answer_seconds: deque[float] = deque(maxlen=_RECENT)  # of the model's last answers
        self._cache = AnswerCache(_print_note)
        self._indexed: Done = (0, 0)  # passages
        self._fetched: dict[str, Done] = {}  # bytes of a model
        self._offered = ""  # the publisher's newest edition, if someone asked for it
        self._adding = threading.Lock()
        self._lock = threading.Lock()
        self._stop_events: dict[str, set[threading.Event]] = {}
        # A model of this machine answers one after the other, a server several at once.
        self._queues = {"no model": Queue(2, 40), "local": Queue(1, 20), "server": Queue(8, 40)}

    def start(self) -> None:
        """Load search, and the model if it is used, in the background."""
        self.resources.load_search()
        if self.defaults.uses_model:
            self.resources.load_model(self.defaults.model)

    def model_state(self, name: str) -> State:
        """The state of a model; asking does not load it."""
        fetched = self._fetched.get(name, (0, 0))
        return status.model_state(name, self.resources.find_model(name), fetched)

    def rules_state(self, edition: str = CURRENT) -> State:
        """The state of search and, once it is loaded, which rules it covers."""
        search = self.resources.load_search()
        return status.rules_state(search, self._indexed, edition, self._offered)

    def settings_for(
        self,
        model: str = "",
        edition: str = "",
        max_citations: int = 0,
        show_generated: bool | None = None,
    ) -> Settings:
        """A visitor's settings; anything not given defaults to the page's own settings."""
        wanted = replace(
            self.defaults,
            model=model.strip() or self.defaults.model,
            edition=edition or self.defaults.edition,
            max_citations=max_citations or self.defaults.max_citations,
            show_generated=(
                self.defaults.show_generated if show_generated is None else show_generated
            ),
        )
        if not MIN_CITATIONS <= wanted.max_citations <= MAX_CITATIONS:
            raise SticklerError(
                f"Cannot cite {wanted.max_citations} rules: choose {MIN_CITATIONS} to "
                f"{MAX_CITATIONS}."
            )
        if not self.any_model and wanted.model not in self.model_names:
            raise SticklerError(
                f"The model '{wanted.model[:60]}' is not available here: choose one of "
                f"{', '.join(self.model_names)}."
            )
        self.resources.rulebook.edition(wanted.edition)  # an unknown one is an error at once
        return replace(wanted, top_k=max(wanted.top_k, wanted.max_citations + 4))

    @property
    def model_names(self) -> list[str]:
        """The models that every visitor may choose."""
        return list(dict.fromkeys([self.defaults.model, models.DEFAULT, models.NONE]))

    @contextlib.contextmanager
    def stop_event(self, session: str) -> Iterator[threading.Event]:
        """An event that `stop` sets, and that is always set when the block is left."""
        event = threading.Event()
        with self._lock:
            self._stop_events.setdefault(session, set()).add(event)
        try:
            yield event
        finally:
            event.set()
            with self._lock:
                self._stop_events[session].discard(event)
                if not self._stop_events[session]:
                    del self._stop_events[session]

    def stop(self, session: str) -> None:
        """Stop answering a visitor, for instance one who has left."""
        with self._lock:
            for event in self._stop_events.get(session, ()):
                event.set()

    def ask(
        self, question: str, before: Sequence[str], settings: Settings, stop: threading.Event
    ) -> Generator[Answer | str | Waiting, None, None]:
        """As `Assistant.ask_stream`, in turn, and with what is being waited for."""
        check(question)
        known = self._cache.find(Assistant(settings, self.resources), question, before)
        if known is not None:
            yield known
            return
        with self.queue_for(settings).join() as place:
            while ahead := place.wait(_POLL):
                many = "1 question is" if ahead == 1 else f"{ahead} questions are"
                yield Waiting(f"{many} being answered before yours …")
                if stop.is_set():
                    return
            if self._model_on_its_way(settings):
                yield from self._ask_without_model(question, before, settings, stop)
                return
            assistant = yield from self.load_assistant(settings, stop)
            if assistant is not None:
                yield from self._cache.ask_stream(assistant, question, before, stop)

    def _ask_without_model(
        self, question: str, before: Sequence[str], settings: Settings, stop: threading.Event
    ) -> Generator[Answer | str | Waiting, None, None]:
        """Quote only the rules and say why; the model may be ready for the next question."""
        without = replace(settings, show_generated=False)
        assistant = yield from self.load_assistant(without, stop)
        if assistant is None:
            return
        for part in assistant.ask_stream(question, before, stop=stop):
            if isinstance(part, Answer) and not part.abstained:
                part = replace(part, reason=_NOT_READY)
            yield part

    def _model_on_its_way(self, settings: Settings) -> bool:
        """True while a model of the catalogue is being fetched or loaded: nobody waits for it."""
        if not settings.uses_model or settings.model not in catalog.catalog():
            return False
        return not self.resources.load_model(settings.model, retry=True).done()

    def _fetch_and_load(self, name: str) -> models.Model | None:
        """Load a model; one of the catalogue that is not on this machine is fetched first."""
        known = catalog.catalog().get(name)
        if known is not None and catalog.find(name) is None:

            def show_progress(done: int, total: int) -> None:
                self._fetched[name] = done, total

            show_progress(0, known.size)
            try:
                download.get(known, show_progress, stop=SHUTDOWN)
            finally:
                del self._fetched[name]
        return models.load(name)

    def load_assistant(
        self, settings: Settings, stop: threading.Event
    ) -> Generator[Waiting, None, Assistant | None]:
        """The assistant for these settings, with everything loaded; None if stopped meanwhile.

        Anything that failed to load is retried. If the default model fails, the assistant
        answers without it and says why.
        """
        search = self.resources.load_search(retry=True)
        yield from _wait(search, stop, lambda: f"Rules: {self.rules_state().message} …")
        if stop.is_set():
            return None
        resources = self.resources.snapshot()
        if settings.uses_model:
            name = settings.model
            model = self.resources.load_model(name, retry=True)
            yield from _wait(model, stop, lambda: f"Model: {self.model_state(name).message} …")
        return None if stop.is_set() else Assistant(settings, resources)

    def queue_for(self, settings: Settings) -> Queue:
        """The queue for questions with these settings."""
        if not settings.uses_model:
            return self._queues["no model"]
        return self._queues["server" if "://" in settings.model else "local"]

    def find_rules(self, query: str, edition: str, k: int = 10) -> list[str] | None:
        """The best rules' numbers; None while search is not loaded."""
        search = self.resources.load_search()
        if not search.done() or search.exception():
            return None
        [found] = search.result().search([query], k, edition)
        return [hit.passage.number for hit in found.hits]

    def wait_for_searcher(self, seconds: float | None = None) -> Searcher:
        """The search; SticklerError where it is not loaded within so many seconds."""
        try:
            return self.resources.load_search(retry=True).result(seconds)
        except TimeoutError:
            raise SticklerError(
                f"Rules: {self.rules_state().message}. Try again in a moment."
            ) from None

    def add_text(self, path: Path, progress: Progress) -> ParsedDocument:
        """Add a rules document and search it too; until that is done, the old index answers."""
        with self._adding_rules():
            _, parsed = library.add_text(path.read_bytes(), path.name)
            self.resources.reload(progress)
            return parsed

    def get_latest(self, tell: Callable[[str], None], progress: Progress) -> Latest:
        """As `add_text`, for the newest rules of their publisher; `tell` hears what is done."""
        with self._adding_rules():
            found = latest.get(tell=tell, offered=self._note_offer)
            if found.parsed is not None:
                self.resources.reload(progress)
            return found

    @contextlib.contextmanager
    def _adding_rules(self) -> Iterator[None]:
        """Only those who may add texts, one after the other, once search is loaded."""
        if not self.uploads:
            raise SticklerError("Documents cannot be added here: use 'stickler rules add FILE'.")
        if not self._adding.acquire(blocking=False):
            raise SticklerError("Another document is being added: wait for it to finish.")
        try:
            self.wait_for_searcher()
            yield
        finally:
            self._adding.release()

    def _note_offer(self, edition: str) -> None:
        self._offered = edition

    def _show_progress(self, done: int, total: int) -> None:
        self._indexed = done, total


def _wait(
    loading: "Future[Any]", stop: threading.Event, describe: Callable[[], str]
) -> Iterator[Waiting]:
    """Say what is being loaded until it is, or until stopped.

    A SticklerError is left to whoever uses the part; any other failure is raised as one.
    """
    while not loading.done() and not stop.is_set():
        wait([loading], _POLL)
        if not loading.done():
            yield Waiting(describe())
    error = loading.exception() if loading.done() else None
    if error is not None and not isinstance(error, SticklerError):
        raise as_stickler_error(error)


def _print_note(problem: SticklerError) -> None:
    """Print it on the server's terminal, since visitors can do nothing about it."""
    print(f"Note: {problem.sentence(phrase)}", file=sys.stderr)  # noqa: T201

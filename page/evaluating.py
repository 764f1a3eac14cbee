"""Evaluation runs of the page: begun, stopped and listed."""

import contextlib
import datetime
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from eval import items
from eval.items import EvalItem
from eval.run import Plan, Run, Runner, open_run
from index import files
from index.errors import SticklerError
from page.service import Service
from page.background_jobs import Progress, Work
from qa.models import NONE
from qa.settings import Settings

LEAST, USUAL, MOST = 5, 20, 200  # items of a run
_LISTED = 30  # runs
_CALLED = {
    "rule": "which rule does an example illustrate?",
    "outcome": "which outcome is right?",
    "verdict": "is a claim right?",
    "free": "the examples' situations, answered freely",
    "dev": "questions in players' words",
    "dev-held-out": "the half of them that no threshold was set on",
    "test": "harder ones about the same rules, with which nothing was chosen",
    "unanswerable": "questions that the rules do not settle",
    "examples": "the examples as they stand",
}


def sets() -> list[tuple[str, str]]:
    """Every set as (what it is called, its name), a user's own ones last."""
    named = [
        (f"{name}: {_CALLED[name]}" if name in _CALLED else name, name) for name in items.NAMES
    ]
    own = sorted(path.stem for path in (files.home() / "sets").glob("*.jsonl"))
    return [*named, *((f"{name}: your own", name) for name in own)]


class Evaluation(Work[Run]):
    """A run whose items each wait for their turn among those who ask."""

    def run(self, name: str, count: int, folder: Path) -> Run:
        assistant = self.assistant()
        speaks = self.settings.speaks and self.settings.model != NONE
        model = self.settings.model if speaks else NONE
        if name == "verdict" and not speaks:
            raise SticklerError(
                "The set verdict asks a model that speaks: turn one on in the settings."
            )
        if assistant.notice:  # what is measured has to be there
            raise SticklerError(assistant.notice)
        plan = Plan((name,), model, self.settings.embedder, self.settings.reranker, count)
        runner = Runner(plan, assistant.searcher, assistant.model)
        runner.items[name] = spread(items.load(name, assistant.book), count)
        with contextlib.ExitStack() as item:

            def step(done: int, total: int) -> None:  # called before each item, and at the end
                item.close()
                self.tell(done, total)
                if done < total:
                    self.goes_on()
                    item.enter_context(self.turn())

            return runner.run(folder, progress=step, together=1)


def spread(those: Sequence[EvalItem], count: int) -> list[EvalItem]:
    """So many of a set, from all over it: its first ones are all about the same few rules."""
    step = max(1.0, len(those) / count)
    return [those[int(place * step)] for place in range(min(count, len(those)))]


class Evaluations:
    """One at a time: it takes what others' questions leave."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._one = threading.Lock()

    def evaluate(
        self, name: str, count: int, settings: Settings, stop: threading.Event
    ) -> Iterator[Progress[Run]]:
        if not self._service.uploads:
            raise SticklerError("Runs cannot be started here: use 'stickler eval run'.")
        if name not in (known for _, known in sets()):
            raise SticklerError(f"There is no question set '{name[:40]}': choose one of the list.")
        if not LEAST <= count <= MOST:
            raise SticklerError(f"Cannot run {count} items: choose {LEAST} to {MOST}.")
        if not self._one.acquire(blocking=False):
            raise SticklerError("Another evaluation is running: wait for it to end.")
        try:
            work = Evaluation(self._service, settings, stop)
            yield from work.steps(lambda: work.run(name, count, _folder(name)))
        finally:
            self._one.release()


def _folder(name: str) -> Path:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return _runs() / f"{now}-{name}"


def _runs() -> Path:
    return files.home() / "runs"


def listed() -> list[tuple[str, str]]:
    """The last runs as (what it is called, its folder's name), newest first."""
    folders = _runs().iterdir() if _runs().is_dir() else iter(())
    found = []
    for folder in sorted((each for each in folders if each.is_dir()), reverse=True):
        with contextlib.suppress(SticklerError):  # not a run, or one of another time
            run = open_run(folder)
            if run.lines:
                found.append((_called(run), folder.name))
        if len(found) == _LISTED:
            break
    return found


def _called(run: Run) -> str:
    when = datetime.datetime.fromtimestamp(run.folder.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    return f"{', '.join(run.sets)}, {len(run.lines)} items, {run.made_with['model']} ({when})"


def opened(name: str) -> Run:
    """One of the runs that are listed."""
    if name not in (known for _, known in listed()):
        raise SticklerError("There is no such run any more: choose another.")
    return open_run(_runs() / name)

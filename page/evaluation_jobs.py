"""Evaluation runs of the page: started, stopped and listed."""

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
from page.background_jobs import BackgroundJob, Progress
from page.service import Service
from qa.models import NONE
from qa.settings import Settings

MIN_ITEMS, DEFAULT_ITEMS, MAX_ITEMS = 5, 20, 200  # of a run
_MAX_LISTED = 30  # runs


def list_sets() -> list[tuple[str, str]]:
    """Every set as (label, name), a user's own ones last."""
    shipped = [(f"{one.name}: {one.description}", one.name) for one in items.REGISTRY.values()]
    return [*shipped, *((f"{name}: your own", name) for name in items.added())]


class EvaluationJob(BackgroundJob[Run]):
    """A run whose items each wait for their turn among those who ask."""

    def evaluate(self, name: str, count: int, folder: Path) -> Run:
        """Ask so many items of a set; the records lie in the folder."""
        model = self.settings.model if self.settings.uses_model else NONE
        if name == "verdict" and model == NONE:
            raise SticklerError(
                "The set verdict needs a language model: turn one on in the settings."
            )
        resources = self.load_assistant().resources
        runner = Runner(Plan((name,), model, self.settings.embedder, count), resources)
        runner.items[name] = sample_evenly(items.load(name, resources.rulebook), count)
        with contextlib.ExitStack() as item:

            def before_item(done: int, total: int) -> None:  # called at the end, too
                item.close()
                self.report(done, total)
                if done < total:
                    self.check_stopped()
                    item.enter_context(self.turn())

            return runner.run(folder, progress=before_item, chunk_size=1)


def sample_evenly(those: Sequence[EvalItem], count: int) -> list[EvalItem]:
    """A sample of `count` items spread over the set, whose first items share the same few rules."""
    step = max(1.0, len(those) / count)
    return [those[int(place * step)] for place in range(min(count, len(those)))]


class Evaluations:
    """Runs one evaluation at a time, with the capacity that visitors' questions leave."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._running = threading.Lock()

    def run(
        self, name: str, count: int, settings: Settings, stop: threading.Event
    ) -> Iterator[Progress[Run]]:
        """Start a run of so many items of a set; yields its progress and last the run."""
        if not self._service.uploads:
            raise SticklerError("Runs cannot be started here: use 'stickler eval run'.")
        if name not in (known for _, known in list_sets()):
            raise SticklerError(
                f"There is no question set '{name[:40]}': choose one from the list."
            )
        if not MIN_ITEMS <= count <= MAX_ITEMS:
            raise SticklerError(f"Cannot run {count} items: choose {MIN_ITEMS} to {MAX_ITEMS}.")
        if not self._running.acquire(blocking=False):
            raise SticklerError("Another evaluation is running: wait for it to end.")
        try:
            job = EvaluationJob(self._service, settings, stop)
            yield from job.run(lambda: job.evaluate(name, count, _new_folder(name)))
        finally:
            self._running.release()


def _new_folder(name: str) -> Path:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return _runs_folder() / f"{now}-{name}"


def _runs_folder() -> Path:
    return files.data_folder() / "runs"


def list_runs() -> list[tuple[str, str]]:
    """The last runs as (label, folder's name), newest first."""
    folders = _runs_folder().iterdir() if _runs_folder().is_dir() else iter(())
    found = []
    for folder in sorted((each for each in folders if each.is_dir()), reverse=True):
        with contextlib.suppress(SticklerError):  # not a run, or one of another version
            run = open_run(folder)
            if run.records:
                found.append((_label(run), folder.name))
        if len(found) == _MAX_LISTED:
            break
    return found


def _label(run: Run) -> str:
    when = datetime.datetime.fromtimestamp(run.folder.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    return f"{', '.join(run.sets)}, {len(run.records)} items, {run.made_with['model']} ({when})"


def open_listed_run(name: str) -> Run:
    """One of the runs that are listed, by its folder's name."""
    if name not in (known for _, known in list_runs()):
        raise SticklerError("That run no longer exists: choose another.")
    return open_run(_runs_folder() / name)

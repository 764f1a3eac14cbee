"""A file of questions put to the service: looked at, answered in turns, and shown as it goes."""

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from index.errors import SticklerError
from page.errors import here
from page.service import Service
from page.background_jobs import Progress, Work
from qa.answer import Assistant
from qa.batch.run import Counts, Job, answered, made_with, problem, run
from qa.journal import Outcome
from qa.models import NONE
from qa.settings import Settings
from qa.batch.tables import Row, input_format, reader
from qa.batch.tables.columns import Finder
from qa.batch.tables.fields import Result

FORMATS = {
    "CSV": ".csv",
    "Excel": ".xlsx",
    "JSON lines": ".jsonl",
    "Parquet": ".parquet",
    "Markdown": ".md",
}
MOST_QUESTIONS = 20_000  # of a file; the command takes more
SHOWN = 6  # answers of a preview
_SPEAKING, _SILENT = 2, 16  # questions of a chunk: how long someone who asks may have to wait


@dataclass(frozen=True, slots=True)
class Look:
    """What a file holds."""

    columns: list[str]
    column: str | None  # the one with the questions, where that is clear
    rows: int


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a batch."""

    out: Path
    counts: Counts


class QueuedEngine(Work[Written]):
    """Answers chunk by chunk; in between, others who ask have their turn."""

    def __init__(self, service: Service, settings: Settings, stop: threading.Event) -> None:
        super().__init__(service, settings, stop)
        speaks = settings.speaks and settings.model != NONE
        self.chunk = _SPEAKING if speaks else _SILENT
        self.journal: Path | None = None  # where the answers so far are
        self._loaded: Assistant | None = None

    def made_with(self) -> dict[str, str]:
        return made_with(self._ready())

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        assistant = self._ready()
        for chunk in chunks:
            with self.turn():
                outcomes = answered(assistant, chunk)
            yield outcomes
            self.goes_on()

    def _ready(self) -> Assistant:
        if self._loaded is None:
            self._loaded = self.assistant()
        return self._loaded


def look(path: Path) -> Look:
    """Read a file once: its columns, and how many rows have something in them."""
    finder, rows = Finder(), 0
    with said_here(path):
        read = reader(str(input_format(path.name, None)))
        for record in read(path, None):
            rows += finder.row(record) is not None
            if rows > MOST_QUESTIONS:
                raise SticklerError(
                    f"{path.name} holds more than {MOST_QUESTIONS} questions: split it, or use "
                    "'stickler batch'."
                )
    if not rows:
        raise SticklerError(f"{path.name} holds no questions: write at least one.")
    return Look(finder.seen, finder.column, rows)


@contextlib.contextmanager
def said_here(*paths: Path) -> Iterator[None]:
    """An error's sentence with a file's name alone: where it lies is nobody's business."""
    try:
        yield
    except SticklerError as error:
        words = str(error)
        for path in paths:
            words = words.replace(str(path.parent) + os.sep, "")
        raise SticklerError(here(words)) from None


def answer(
    engine: QueuedEngine, upload: Path, column: str | None, ending: str, folder: Path
) -> Iterator[Progress[Written]]:
    """Answer a file in a visitor's folder; what an earlier try has answered there is kept."""
    try:
        source = _kept(upload, folder)
    except OSError:
        raise SticklerError("The file is no longer here: choose it again.") from None

    def work() -> Written:
        # Each state of questions, settings and rules has a place of its own, so that coming back
        # to one finds what was answered with it.
        made = json.dumps([engine.made_with(), source.parent.name], sort_keys=True)
        place = folder / hashlib.sha256(made.encode()).hexdigest()[:16]
        place.mkdir(exist_ok=True)
        out = place / f"{upload.stem}-answers{ending}"
        engine.journal = out.with_name(f".{out.name}.journal")
        for before in place.glob(".*.journal"):  # of another format
            before.rename(engine.journal)
        job = Job(str(source), out, column=column, keep=True)
        with said_here(source, out):
            return Written(out, run(job, engine, engine.tell, lambda _: None))

    yield from engine.steps(work)


def _kept(upload: Path, folder: Path) -> Path:
    """A copy of the upload, which Gradio removes after a while, under its content's name."""
    with upload.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    copy = folder / f"in-{digest}" / upload.name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(upload, copy)
    return copy


def listed(
    service: Service, questions: Sequence[str], settings: Settings, stop: threading.Event
) -> list[dict[str, Any]]:
    """A few questions answered at once, each as a line of a batch has it."""
    rows = [Row(f"q{place}", each.strip(), {}) for place, each in enumerate(questions, 1)]
    engine = QueuedEngine(service, settings, stop)
    wrong = {row.question: why for row in rows if (why := problem(row))}
    asked = list(dict.fromkeys(row.question for row in rows if row.question not in wrong))
    chunks = (asked[at : at + engine.chunk] for at in range(0, len(asked), engine.chunk))
    found = {each.question: each for outcomes in engine.answers(chunks) for each in outcomes}
    results = [
        Result(row, None, wrong[row.question])
        if row.question in wrong
        else Result(row, found[row.question].answer, found[row.question].error)
        for row in rows
    ]
    return [result.to_json() for result in results]


def first_answers(journal: Path | None) -> list[Outcome]:
    """The first answers that a batch has written down."""
    if journal is None or not journal.exists():
        return []
    with journal.open("rb") as file:
        lines = [line for line in islice(file, 1, SHOWN + 1) if line.endswith(b"\n")]
    return [Outcome(**json.loads(line)) for line in lines]

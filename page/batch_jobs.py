"""A file of questions put to the service: inspected, answered chunk by chunk, and previewed."""

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
from page.background_jobs import BackgroundJob, Progress
from page.service import Service
from qa.assistant import Assistant
from qa.batch.engines import Outcome, answered, made_with
from qa.batch.run import Counts, Job, problem, run
from qa.batch.tables import Row, input_format, reader
from qa.batch.tables.columns import Finder
from qa.batch.tables.fields import Result
from qa.settings import Settings

FORMATS = {
    "CSV": ".csv",
    "Excel": ".xlsx",
    "JSON lines": ".jsonl",
    "Parquet": ".parquet",
    "Markdown": ".md",
}
MAX_QUESTIONS = 20_000  # of a file; the command takes more
PREVIEWED = 6  # answers
_WITH_MODEL, _WITHOUT_MODEL = 2, 16  # questions of a chunk: how long someone else may have to wait


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a file holds."""

    columns: list[str]
    column: str | None  # the one with the questions, where that is clear
    rows: int


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The file that a batch wrote, and how its rows ended."""

    out: Path
    counts: Counts


class QueuedEngine(BackgroundJob[BatchResult]):
    """Answers chunk by chunk, so that other visitors get a turn in between."""

    def __init__(self, service: Service, settings: Settings, stop: threading.Event) -> None:
        super().__init__(service, settings, stop)
        self.chunk = _WITH_MODEL if settings.uses_model else _WITHOUT_MODEL
        self.journal: Path | None = None  # where the answers so far are
        self._loaded: Assistant | None = None

    def made_with(self) -> dict[str, str]:
        """All that an answer depends on."""
        return made_with(self._assistant())

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        """What came of each chunk, each waited for in the queue."""
        assistant = self._assistant()
        for chunk in chunks:
            with self.turn():
                outcomes = answered(assistant, chunk)
            yield outcomes
            self.check_stopped()

    def _assistant(self) -> Assistant:
        """One assistant for the whole batch: a text that is added meanwhile changes nothing."""
        if self._loaded is None:
            self._loaded = self.load_assistant()
        return self._loaded


def inspect_file(path: Path) -> FileSummary:
    """Read a file once: its columns, and how many rows have something in them."""
    finder, rows = Finder(), 0
    with folders_hidden(path):
        read = reader(str(input_format(path.name, None)))
        for record in read(path, None):
            rows += finder.row(record) is not None
            if rows > MAX_QUESTIONS:
                raise SticklerError(
                    f"{path.name} contains more than {MAX_QUESTIONS} questions: split it, or use "
                    "'stickler batch'."
                )
    if not rows:
        raise SticklerError(f"{path.name} contains no questions: add at least one.")
    return FileSummary(finder.seen, finder.column, rows)


@contextlib.contextmanager
def folders_hidden(*paths: Path) -> Iterator[None]:
    """Remove folder names from error messages: visitors must not see server paths."""

    def hide(text: str) -> str:
        for path in paths:
            text = text.replace(str(path.parent) + os.sep, "")
        return text

    try:
        yield
    except SticklerError as error:
        remedies = [hide(each) if isinstance(each, str) else each for each in error.remedies]
        raise SticklerError(hide(error.message), *remedies) from None


def answer_file(
    engine: QueuedEngine, upload: Path, column: str | None, ending: str, folder: Path
) -> Iterator[Progress[BatchResult]]:
    """Answer a file in a visitor's folder; answers from an earlier attempt are kept."""
    try:
        source = _copy(upload, folder)
    except OSError:
        raise SticklerError("The file is no longer available: choose it again.") from None

    def work() -> BatchResult:
        # Each state of questions, settings and rules has a place of its own, so that coming back
        # to one finds what was answered with it.
        state = json.dumps([engine.made_with(), source.parent.name], sort_keys=True)
        place = folder / hashlib.sha256(state.encode()).hexdigest()[:16]
        place.mkdir(exist_ok=True)
        out = place / f"{upload.stem}-answers{ending}"
        engine.journal = out.with_name(f".{out.name}.journal")
        for earlier in place.glob(".*.journal"):  # of another format
            earlier.rename(engine.journal)
        job = Job(str(source), out, column=column, keep=True)
        with folders_hidden(source, out):
            return BatchResult(out, run(job, engine, engine.report, lambda _: None))

    yield from engine.run(work)


def _copy(upload: Path, folder: Path) -> Path:
    """A copy of the upload, which Gradio removes later, in a folder named by its content."""
    with upload.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    copy = folder / f"in-{digest}" / upload.name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(upload, copy)
    return copy


def answer_list(
    service: Service, questions: Sequence[str], settings: Settings, stop: threading.Event
) -> list[dict[str, Any]]:
    """A few questions answered at once, each as a line of a batch has it."""
    rows = [Row(f"q{place}", each.strip(), {}) for place, each in enumerate(questions, 1)]
    problems = {row.question: why for row in rows if (why := problem(row))}
    asked = list(dict.fromkeys(row.question for row in rows if row.question not in problems))
    engine = QueuedEngine(service, settings, stop)
    chunks = (asked[at : at + engine.chunk] for at in range(0, len(asked), engine.chunk))
    outcomes = {text: Outcome(text, None, why) for text, why in problems.items()}
    outcomes |= {each.question: each for those in engine.answers(chunks) for each in those}
    return [
        Result(row, outcomes[row.question].answer, outcomes[row.question].error).to_json()
        for row in rows
    ]


def read_first_answers(journal: Path | None) -> list[Outcome]:
    """The first answers that a batch has written down."""
    if journal is None or not journal.exists():
        return []
    with journal.open("rb") as file:
        lines = [line for line in islice(file, 1, PREVIEWED + 1) if line.endswith(b"\n")]
    return [Outcome(**json.loads(line)) for line in lines]

"""The command that answers a file of questions: stickler batch.

Run as: stickler batch questions.csv -o answers.csv
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.assistant import make_settings, open_assistant
from cli.options import EditionName, EmbedderName, ModelName, ShowGenerated
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from qa.assistant import Assistant
    from qa.batch.engines import Engine
    from qa.batch.run import Counts

app = typer.Typer()


class EngineName(StrEnum):
    PLAIN = "plain"
    RAY = "ray"


@app.command()
def batch(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A file of questions, or - for standard input.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="A file that ends in .jsonl, .json, .csv, .tsv, .parquet, .xlsx or .md.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format", help="The format of IN: text, csv, tsv, jsonl, json, parquet or xlsx."
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The column that holds the questions.")
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            "--fields",
            help="Fields to write, such as id,text,error; 'input' stands for all columns of IN.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Answer at most this many questions.")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard the answers of an interrupted run.")
    ] = False,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    show_generated: ShowGenerated = True,
    engine: Annotated[
        EngineName, typer.Option("--engine", help="plain: this process; ray: a Ray cluster.")
    ] = EngineName.PLAIN,
    address: Annotated[
        str | None,
        typer.Option(
            "--address", help="Address of a Ray cluster; default: start one on this machine."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Number of Ray workers; default: one per core."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print progress and counts as JSON Lines on standard error."),
    ] = False,
) -> None:
    """Answer a file of questions; if interrupted, run the same command again to resume."""
    from qa.batch.run import Job, run

    if engine is EngineName.PLAIN and (address or workers):
        raise SticklerError("--address and --workers are for a Ray cluster: add '--engine ray'.")
    assistant = open_assistant(make_settings(model, embedder, edition, show_generated))
    job = Job(source, out, format, column, fields, limit, restart)
    progress: _ProgressBar | _JsonLines = _JsonLines() if as_json else _ProgressBar()
    with contextlib.ExitStack() as stack:
        stack.callback(progress.close)
        chosen = stack.enter_context(_open_engine(engine, assistant, address, workers))
        try:
            counts = run(job, chosen, progress.update, progress.note)
        except KeyboardInterrupt:
            progress.close()
            progress.note("Stopped: run the same command again to resume.")
            raise SystemExit(1) from None
    progress.finish(counts, out)
    if counts.failed:
        raise SystemExit(1)


@contextlib.contextmanager
def _open_engine(
    name: EngineName, assistant: "Assistant", address: str | None, workers: int | None
) -> Iterator["Engine"]:
    """What answers: this assistant, or those of a Ray cluster with the same settings."""
    if name is EngineName.RAY:
        from qa.batch.ray_engine import RayEngine

        with RayEngine(assistant.settings, address, workers) as engine:
            yield engine
    else:
        from qa.batch.engines import LocalEngine

        yield LocalEngine(assistant)


class _ProgressBar:
    """Progress for people: a bar with rate and time left, then a summary."""

    def __init__(self) -> None:
        self._bar: Any = None

    def update(self, done: int, total: int) -> None:
        from tqdm import tqdm

        if self._bar is None:
            # What an earlier run answered, `initial`, does not count as this one's speed.
            interval = 0.1 if sys.stderr.isatty() else 10.0  # seconds; in a log each is a line
            self._bar = tqdm(
                desc="Answering",
                total=total,
                initial=done,
                unit="q",
                file=sys.stderr,
                mininterval=interval,
            )
        self._bar.update(done - self._bar.n)

    def note(self, text: str) -> None:
        typer.echo(text, err=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def finish(self, counts: "Counts", out: Path) -> None:
        self.note(
            f"Answered {counts.answered}, abstained {counts.abstained}, failed {counts.failed}, "
            f"reused {counts.reused}, empty lines skipped {counts.empty}: {out}"
        )
        if counts.silent:
            self.note(
                f"{counts.silent} answers only quote rules because the language model failed; "
                "their field 'reason' says why."
            )
        if counts.cut:
            cells = "1 cell is" if counts.cut == 1 else f"{counts.cut} cells are"
            self.note(
                f"{cells} too long for a spreadsheet and marked as cut off: write .csv or "
                ".jsonl to keep everything."
            )


class _JsonLines:
    """Progress for programs: a line of JSON for each event."""

    def __init__(self) -> None:
        self._start: tuple[float, int] | None = None  # when, and how many were done by then

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        self._start = self._start or (now, done)
        seconds, answered = now - self._start[0], done - self._start[1]
        rate = answered / seconds if answered and seconds else None
        self._print(
            "progress",
            done=done,
            total=total,
            a_second=rate and round(rate, 2),
            seconds_left=rate and round((total - done) / rate, 1),
        )

    def note(self, text: str) -> None:
        self._print("note", text=text)

    def close(self) -> None:
        pass

    def finish(self, counts: "Counts", out: Path) -> None:
        self._print("end", **asdict(counts), output=str(out))

    def _print(self, event: str, **details: Any) -> None:
        typer.echo(json.dumps({"event": event, **details}), err=True)

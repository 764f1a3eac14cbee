"""The command that answers a file of questions: stickler batch IN -o OUT."""

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

from index import library
from index.editions import CURRENT
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.rerank import DEFAULT as RERANKER
from cli.terminal import EditionName, EmbedderName, RerankerName, progress_bar
from cli.ask import ModelName, Words
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from qa.batch.run import Counts, Engine
    from qa.settings import Settings

app = typer.Typer()


class EngineName(StrEnum):
    PLAIN = "plain"
    RAY = "ray"


@app.command()
def batch(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, or - for standard input.")],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Ends in .jsonl, .json, .csv, .tsv, .parquet, .xlsx or .md.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option("--format", help="text, csv, tsv, jsonl, json, parquet or xlsx."),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The column that holds the questions.")
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            "--fields",
            help="What to write, like id,text,citations,error; 'input' is all that was carried.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many of the first questions.")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Forget what an interrupted run answered.")
    ] = False,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    reranker: RerankerName = RERANKER,
    words: Words = None,
    engine: Annotated[
        EngineName, typer.Option("--engine", help="ray: on a Ray cluster.")
    ] = EngineName.PLAIN,
    address: Annotated[
        str | None, typer.Option("--address", help="A Ray cluster's; default: one of its own.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Ray processes; default: one a core.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Progress and counts as JSON lines on standard error.")
    ] = False,
) -> None:
    """Answer a file of questions; interrupted, the same command goes on where it was."""
    from qa.batch.run import Job, run
    from qa.settings import Settings

    settings = Settings(model, embedder, reranker, edition or CURRENT, show_generated=words)
    library.load().edition(settings.edition)  # an edition that is not there is said at once
    if engine is EngineName.PLAIN and (address or workers):
        raise SticklerError("--address and --workers are for a Ray cluster: add '--engine ray'.")
    job = Job(source, out, format, column, fields, limit, restart)
    progress: _Bar | _Lines = _Lines() if as_json else _Bar()
    with contextlib.ExitStack() as stack:
        stack.callback(progress.close)
        chosen = stack.enter_context(_engine(engine, settings, address, workers))
        try:
            counts = run(job, chosen, progress.tell, progress.note)
        except KeyboardInterrupt:
            progress.close()
            progress.note("Stopped: run the same command again to go on.")
            raise SystemExit(1) from None
    progress.close()
    progress.end(counts, out)
    if counts.failed:
        raise SystemExit(1)


@contextlib.contextmanager
def _engine(
    name: EngineName, settings: "Settings", address: str | None, workers: int | None
) -> Iterator["Engine"]:
    if name is EngineName.RAY:
        from qa.batch.ray_engine import RayEngine

        with RayEngine(settings, address, workers) as engine:
            yield engine
    else:
        from qa.answer import Assistant
        from qa.batch.run import LocalEngine

        yield LocalEngine(Assistant(settings, progress=progress_bar("Embedding")))


class _Bar:
    """Progress for people: a bar with rate and time left, then a sentence."""

    def __init__(self) -> None:
        self._bar: Any = None

    def tell(self, done: int, total: int) -> None:
        from tqdm import tqdm

        if self._bar is None:
            # What an earlier run answered, `initial`, does not count as this one's speed.
            often = 0.1 if sys.stderr.isatty() else 10.0  # seconds; a log takes a line each time
            self._bar = tqdm(
                desc="Answering",
                total=total,
                initial=done,
                unit="q",
                file=sys.stderr,
                mininterval=often,
            )
        self._bar.update(done - self._bar.n)

    def note(self, text: str) -> None:
        typer.echo(text, err=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def end(self, counts: "Counts", out: Path) -> None:
        self.note(
            f"Answered {counts.answered}, abstained {counts.abstained}, failed {counts.failed}, "
            f"reused {counts.reused}, empty lines skipped {counts.empty}: {out}"
        )
        if counts.silent:
            self.note(
                f"{counts.silent} answers are the rules alone: the language model failed, and "
                "their field reason says why."
            )
        if counts.cut:
            cells = "1 cell is" if counts.cut == 1 else f"{counts.cut} cells are"
            self.note(
                f"{cells} longer than a spreadsheet holds, cut off and marked so: write .csv or "
                ".jsonl to have it all."
            )


class _Lines:
    """Progress for programs: a line of JSON each."""

    def __init__(self) -> None:
        self._begun: tuple[float, int] | None = None

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        self._begun = self._begun or (now, done)
        seconds, asked = now - self._begun[0], done - self._begun[1]
        rate = asked / seconds if asked and seconds else None
        self._line(
            "progress",
            done=done,
            total=total,
            a_second=rate and round(rate, 2),
            seconds_left=rate and round((total - done) / rate, 1),
        )

    def note(self, text: str) -> None:
        self._line("note", text=text)

    def close(self) -> None:
        pass

    def end(self, counts: "Counts", out: Path) -> None:
        self._line("end", **asdict(counts), output=str(out))

    def _line(self, event: str, **told: Any) -> None:
        typer.echo(json.dumps({"event": event, **told}), err=True)

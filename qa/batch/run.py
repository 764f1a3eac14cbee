"""A file of questions in, a file of answers out, and nothing lost on the way.

The input is read three times, never all at once: to check and count it, to answer it, and to write
the results. Answers go to a journal beside the output, keyed by question; after any interruption,
the same command resumes from there. The output is written to a temporary file and renamed.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from index.errors import Action, Remedy, SticklerError
from index.searcher import check
from qa.batch.engines import Engine
from qa.batch.tables import Row, columnar, fields, output_format, writers
from qa.batch.tables.fields import Result
from qa.batch.tables.place import Places
from qa.batch.tables.source import Source, Survey, open_source
from qa.journal import Journal

Tell = Callable[[int, int], None]  # rows done, rows in all


@dataclass(frozen=True, slots=True)
class Job:
    """What a batch is asked to do."""

    source: str  # a file, or - for standard input
    out: Path
    format: str | None = None
    column: str | None = None
    fields: str | None = None
    limit: int | None = None
    restart: bool = False
    keep: bool = False  # keep the journal, so that another run can write another format


@dataclass(frozen=True, slots=True)
class Counts:
    """The result of a batch, in rows; `reused` and `silent` rows also count as answered."""

    answered: int = 0
    abstained: int = 0
    failed: int = 0
    reused: int = 0  # the same question as in an earlier row
    empty: int = 0  # skipped
    silent: int = 0  # answered from the rules alone because the language model failed
    cut: int = 0  # cells, not rows, that were too long for a cell of the output


def run(job: Job, engine: Engine, tell: Tell, note: Callable[[str], None]) -> Counts:
    """Run the job; `tell` is called with progress, `note` with messages for the user."""
    out = job.out.expanduser().resolve()
    form = output_format(out)
    places = Places(out)
    places.check(job.source)
    with places.locked():
        source = open_source(job.source, job.format, job.column, job.limit, places.copy)
        state = source.state()
        survey = source.survey()
        layout = _layout(job, form, source, survey)
        identity = {**engine.made_with(), "input": source.fingerprint}
        journal = Journal(places.journal, identity, job.restart)
        try:
            if journal.kept:
                note(f"Resuming: {journal.kept} answers are left from an earlier run.")
            if journal.damaged:
                note(f"{journal.damaged} lines of {journal.path} are damaged and asked again.")
            _ask(source, journal, engine, survey.rows, tell)
            if source.state() != state:
                raise SticklerError(
                    f"{job.source} was changed while its questions were being answered",
                    Remedy(Action.RESTART),
                )
            results = _Results(source, journal)
            cut = places.put(writers.WRITERS[form], results, layout)
            if not job.keep:
                journal.remove()
        finally:
            journal.close()
    return replace(results.counts, empty=survey.empty, cut=cut)


def _layout(job: Job, format: str, source: Source, survey: Survey) -> writers.Layout:
    """What to write; raises an error before any question is asked if it cannot be written."""
    chosen = fields.columns(job.fields, list(survey.columns), format not in writers.WHOLE)
    writers.check_size(format, survey.rows, len(chosen or ()))
    both = source.format == format == "parquet"
    return writers.Layout(chosen, survey.columns, columnar.types(source.path) if both else {})


def _ask(source: Source, journal: Journal, engine: Engine, total: int, tell: Tell) -> None:
    done = 0

    def chunks() -> Iterator[list[str]]:
        nonlocal done
        chunk: list[str] = []
        for row in source.rows():
            if row is None:
                continue
            if problem(row) or not journal.claim(row.question):
                done += 1
                continue
            chunk.append(row.question)
            if len(chunk) == engine.chunk:
                tell(done, total)
                yield chunk
                chunk = []
        tell(done, total)
        if chunk:
            yield chunk

    for outcomes in engine.answers(chunks()):
        journal.add([outcome._asdict() for outcome in outcomes])
        done += len(outcomes)
        tell(done, total)
    tell(total, total)


def problem(row: Row) -> str | None:
    """Why a row's question cannot be asked, or None."""
    if row.error:
        return row.error
    if "\0" in row.question:
        return "The question contains a NUL character: remove it."
    try:
        row.question.encode()
        check(row.question)
    except UnicodeEncodeError:
        return "The question contains half a character (a lone surrogate): remove it."
    except SticklerError as error:
        return str(error)
    return None


class _Results:
    """Every row with its outcome, in the input's order; also counts them."""

    def __init__(self, source: Source, journal: Journal) -> None:
        self._source, self._journal = source, journal
        self.counts = Counts()

    def __iter__(self) -> Iterator[Result]:
        counts = asdict(Counts())
        for row in self._source.rows():
            if row is None:
                continue
            why = problem(row)
            found, before = (None, False) if why else self._journal.find(row.question)
            if found is None:
                lost = "Its answer is lost: the journal was damaged while it was in use."
                found = {"error": why or lost}
            answer = found.get("answer")
            silent = answer and answer["reason"] and not answer["abstained"]
            kind = "abstained" if answer and answer["abstained"] else "answered"
            counts["failed" if answer is None else kind] += 1
            counts["reused"] += before
            counts["silent"] += bool(silent)
            yield Result(row, answer, found.get("error"))
        self.counts = Counts(**counts)

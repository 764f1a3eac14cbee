"""A file of questions in, a file of answers out, and nothing lost on the way.

The input is read three times, never whole: to check and count it, to ask, and to write. Answers go
to a journal beside the output, keyed by their question; the same command goes on from there after
any interruption. The output is written beside its place and renamed.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

import index
import prompts
import qa
from index import files, rerank
from index.errors import SticklerError
from index.search import check
from qa.answer import Assistant
from qa.journal import Journal, Outcome
from qa.models import NONE
from qa.settings import Settings
from qa.tables import Row, columnar, fields, output_format, writers
from qa.tables.fields import Result
from qa.tables.place import Places
from qa.tables.source import Source, Survey, open_source

# Questions of a chunk, what an interruption can lose: a model speaks, reads rules, does neither.
_SPEAKING, _READING, _SILENT = 64, 32, 256

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
    keep: bool = False  # the journal, for another run that writes another format


@dataclass(frozen=True, slots=True)
class Counts:
    """How a batch ended, in rows; `reused` and `silent` are among those answered."""

    answered: int = 0
    abstained: int = 0
    failed: int = 0
    reused: int = 0  # the same question as in an earlier row
    empty: int = 0  # skipped
    silent: int = 0  # answered from the rules alone because the language model failed
    cut: int = 0  # cells, not rows: they were longer than a cell of the output can be


class Engine(Protocol):
    """What answers: this process, or many of a cluster."""

    chunk: int

    def made_with(self) -> dict[str, str]:
        """All that an answer depends on."""

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        """What came of each chunk, in any order."""


class Here:
    """Answers in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.chunk = chunk_of(assistant.settings)

    def made_with(self) -> dict[str, str]:
        return made_with(self._assistant)

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        for chunk in chunks:
            yield answered(self._assistant, chunk)


def run(job: Job, engine: Engine, tell: Tell, note: Callable[[str], None]) -> Counts:
    """Do the job; `tell` hears of progress, `note` of what the user should know."""
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
                note(f"Going on: {journal.kept} answers are there from the run before.")
            if journal.damaged:
                note(f"{journal.damaged} lines of {journal.path} are damaged: asked again.")
            _ask(source, journal, engine, survey.rows, tell)
            if source.state() != state:
                raise SticklerError(
                    f"{job.source} was changed while its questions were answered: run the command "
                    "again with --restart."
                )
            results = _Results(source, journal)
            cut = places.put(writers.WRITERS[form], results, layout)
            if not job.keep:
                journal.remove()
        finally:
            journal.close()
    return replace(results.counts, empty=survey.empty, cut=cut)


def answered(assistant: Assistant, questions: Sequence[str]) -> list[Outcome]:
    """What comes of a chunk; where it fails, halves of it are tried until the culprit is alone."""
    try:
        answers = assistant.ask_many(questions)
    except Exception as error:
        if len(questions) > 1:
            half = len(questions) // 2
            return answered(assistant, questions[:half]) + answered(assistant, questions[half:])
        known = isinstance(error, SticklerError)
        why = str(error) if known else f"Stickler failed ({type(error).__name__}: {error})."
        return [Outcome(questions[0], None, why)]
    return [Outcome(q, a.to_json()) for q, a in zip(questions, answers, strict=True)]


def made_with(assistant: Assistant) -> dict[str, str]:
    """All that an answer depends on: another of these, and a journal is not gone on with."""
    assistant.load()
    model, index_made = assistant.model, assistant.searcher.index.manifest
    own_words = files.home() / "vocabulary.toml"
    rules = [index_made["format"], index_made["scheme"], index_made["documents"]]
    words = own_words.read_text(encoding="utf-8") if own_words.exists() else ""
    return {
        "settings": assistant.settings.hash,
        "model": model.name if model else NONE,
        "weights": model.hash if model else "",
        "embedder": assistant.searcher.embedder.hash,
        "reranker": reader.hash if (reader := assistant.searcher.reranker) else "",
        "documents": hashlib.sha256(json.dumps([rules, words]).encode()).hexdigest()[:16],
        "code": f"{importlib.metadata.version('stickler')} {files.code(index, qa, prompts)}",
    }


def chunk_of(settings: Settings) -> int:
    if settings.speaks and settings.model != NONE:
        return _SPEAKING
    return _SILENT if settings.reranker == rerank.NONE else _READING


def _layout(job: Job, format: str, source: Source, survey: Survey) -> writers.Layout:
    """What is written; what cannot be is said here, before a question is asked."""
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
        journal.add(outcomes)
        done += len(outcomes)
        tell(done, total)
    tell(total, total)


def problem(row: Row) -> str | None:
    """Why a row cannot be asked."""
    if row.error:
        return row.error
    if "\0" in row.question:
        return "The question holds a NUL character: take it out."
    try:
        row.question.encode()
        check(row.question)
    except UnicodeEncodeError:
        return "The question holds half a character (a lone surrogate): take it out."
    except SticklerError as error:
        return str(error)
    return None


class _Results:
    """Every row with what came of it, in the input's order, and counted."""

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
                found = Outcome(row.question, None, why or lost)
            answer = found.answer
            silent = answer and answer["reason"] and not answer["abstained"]
            kind = "abstained" if answer and answer["abstained"] else "answered"
            counts["failed" if answer is None else kind] += 1
            counts["reused"] += before
            counts["silent"] += bool(silent)
            yield Result(row, answer, found.error)
        self.counts = Counts(**counts)

"""A cache of earlier answers, so that a repeated question is answered at once.

The key covers everything an answer depends on: the question as it was understood, the settings, the
rules of its edition, the weights of both models, and the code with its prompts. `ask` and the page
use the cache; a batch has its own journal, and an evaluation never uses it.

>>> *_, answer = AnswerCache().ask_stream(Assistant(Settings()), "can reach block flying?")
"""

import hashlib
import importlib.metadata
import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import index
import prompts
import qa
from index import files
from index.errors import Action, Remedy, SticklerError
from index.expansion import AnsweredQuestion
from index.hits import Hit
from index.passages import Passage
from qa import lookup
from qa.answer import Answer
from qa.assistant import Assistant
from qa.citations import Citation
from qa.conversation import standalone
from qa.models import BOOK, NONE
from qa.open_condition import Branch, OpenCondition
from qa.settings import Settings
from qa.timing import Stopwatch

MAX_ANSWERS = 2000  # about 4 kB each; the oldest are dropped
FROM_CACHE = "cache_ms"  # the timing that only an answer from the cache has
_WAIT = 2.0  # seconds for another process that is writing
_TABLE = "CREATE TABLE IF NOT EXISTS answer (place INTEGER PRIMARY KEY AUTOINCREMENT, "
_TABLE += "key BLOB UNIQUE, value BLOB)"


class Contents(NamedTuple):
    """What the cache holds."""

    path: Path
    answers: int
    size: int  # bytes


class AnswerCache:
    """The answers of all processes that share a data folder, in one SQLite file.

    A file that is damaged or not writable is not an error: `notice` is called once, and the
    question is answered without the cache.
    """

    def __init__(self, notice: Callable[[SticklerError], None] = lambda problem: None) -> None:
        self._notice = notice
        self._told = False

    def find(
        self, assistant: Assistant, question: str, before: Sequence[str] = ()
    ) -> Answer | None:
        """The cached answer to this question, asked after those in `before`, if there is one."""
        stopwatch = Stopwatch()
        key = _key(assistant, question, before)
        value = self._read(key) if key else None
        if value is None:
            return None
        try:
            answer = _unpacked(value, question, standalone(question, before))
        except (zlib.error, ValueError, KeyError, TypeError):
            return None  # damaged: it will be overwritten
        stopwatch.lap(FROM_CACHE)
        return replace(answer, timings=stopwatch.timings())

    def ask_stream(
        self,
        assistant: Assistant,
        question: str,
        before: Sequence[str] = (),
        stop: threading.Event | None = None,
    ) -> Iterator[Answer | str]:
        """Like `Assistant.ask_stream`; a cached answer is yielded complete."""
        if (known := self.find(assistant, question, before)) is not None:
            yield known
            return
        stop = stop or threading.Event()
        last: Answer | str = ""
        for last in assistant.ask_stream(question, before, stop=stop):
            yield last
        if isinstance(last, Answer) and not stop.is_set() and _is_whole(last, assistant.settings):
            key = _key(assistant, question, before)
            if key:
                self._write(key, _packed(last))

    def _read(self, key: bytes) -> bytes | None:
        path = place()
        if not path.exists():
            return None
        try:
            with closing(sqlite3.connect(path, timeout=_WAIT)) as database:
                row = database.execute("SELECT value FROM answer WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._tell(error)
            return None
        return row[0] if row and isinstance(row[0], bytes) else None

    def _write(self, key: bytes, value: bytes) -> None:
        path = place()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, timeout=_WAIT)) as database, database:
                database.execute(_TABLE)
                database.execute(
                    "INSERT OR REPLACE INTO answer (key, value) VALUES (?, ?)", (key, value)
                )
                database.execute(
                    "DELETE FROM answer WHERE place <= (SELECT max(place) FROM answer) - ?",
                    (MAX_ANSWERS,),
                )
        except (OSError, sqlite3.Error) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            self._notice(_unusable(error))


def place() -> Path:
    """The file that holds the cache."""
    return files.data_folder() / "answers.sqlite"


def contents() -> Contents:
    """How much the cache holds; SticklerError where it cannot be read."""
    path = place()
    if not path.exists():
        return Contents(path, 0, 0)
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT)) as database:
            [count] = database.execute("SELECT count(*) FROM answer").fetchone()
    except sqlite3.Error as error:
        raise _unusable(error) from None
    return Contents(path, int(count), path.stat().st_size)


def clear() -> int:
    """Delete the cache, damaged or not; returns the bytes freed."""
    path = place()
    freed = path.stat().st_size if path.exists() else 0
    with files.explained(path):
        # First delete the journal of a killed process, so that it is not applied to a new file.
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    return freed


def _unusable(error: Exception) -> SticklerError:
    return SticklerError(
        f"The answer cache {place()} cannot be used ({error})",
        Remedy(Action.CLEAR_CACHE),
        "make its folder writable",
    )


def _key(assistant: Assistant, question: str, before: Sequence[str]) -> bytes | None:
    """The key of an answer; None for one that is not cached.

    That is a look-up, which is instant anyway, or a model whose weights cannot be identified.
    """
    settings, resources = assistant.settings, assistant.resources
    understood = standalone(question, before)
    if lookup.rules(understood or question, assistant.edition):
        return None
    weights = resources.model_hash(settings.model) if settings.uses_model else ""
    if weights is None:
        return None
    depends_on = [
        question,
        understood,
        settings.hash,
        weights,
        resources.embedder.hash,
        assistant.edition.digest,
        _own_words(files.data_folder() / "vocabulary.toml"),
        _code(),
    ]
    return hashlib.sha256(json.dumps(depends_on).encode()).digest()


@cache
def _own_words(path: Path) -> str:
    """The user's own vocabulary, read once per process."""
    return path.read_bytes().hex() if path.is_file() else ""


@cache
def _code() -> str:
    return f"{importlib.metadata.version('stickler')} {files.code(index, qa, prompts)}"


def _is_whole(answer: Answer, settings: Settings) -> bool:
    """False if a model should have answered and did not, or if the rules were only looked up."""
    failed = answer.reason is not None and not answer.abstained
    silent = settings.uses_model and answer.model == NONE
    return not failed and not silent and answer.model != BOOK


def _packed(answer: Answer) -> bytes:
    """An answer without its question, compressed with a checksum that reveals damage."""
    fields = asdict(replace(answer, question="", standalone_question=None, timings={}))
    return zlib.compress(json.dumps(fields).encode())


def _unpacked(value: bytes, question: str, understood: str | None) -> Answer:
    fields: dict[str, Any] = json.loads(zlib.decompress(value))
    asked = {"question": question, "standalone_question": understood}
    citations = tuple(_citation(each) for each in fields["citations"])
    hits = tuple(_hit(each) for each in fields["hits"])
    condition = _open_condition(fields["open_condition"])
    similar = tuple(AnsweredQuestion(**each) for each in fields["similar_questions"])
    found = {"citations": citations, "hits": hits, "open_condition": condition}
    return Answer(**{**fields, **asked, **found, "similar_questions": similar})


def _citation(fields: dict[str, Any]) -> Citation:
    span = fields["span"]
    return Citation(**{**fields, "span": tuple(span) if span else None})


def _open_condition(fields: dict[str, Any] | None) -> OpenCondition | None:
    if fields is None:
        return None
    return OpenCondition(fields["name"], tuple(Branch(**each) for each in fields["branches"]))


def _hit(fields: dict[str, Any]) -> Hit:
    passage = Passage(**fields["passage"])
    return Hit(**{**fields, "passage": passage, "via": tuple(fields["via"])})

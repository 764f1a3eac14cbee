"""What a batch has answered so far: one line an answer, flushed to the disk chunk by chunk.

The first line says what the answers were made with. A line that a kill, a full disk or a power cut
tore off is dropped on the next reading. Answers stay on disk; where each lies is looked up in a
small database, on disk as well, so that a million of them take no memory.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, NamedTuple

from index.errors import Action, Remedy, SticklerError
from qa.batch.tables.fields import line
from qa.batch.tables.place import sync_folder

FORMAT = 1
_LONGEST = 1 << 26  # bytes of a line
# What the first line holds, as a sentence calls it.
_CALLED = {
    "settings": "settings",
    "model": "model",
    "weights": "weights of the model",
    "embedder": "embedding model",
    "documents": "rules texts",
    "code": "version of Stickler",
    "input": "questions",
}


class Outcome(NamedTuple):
    """What became of a question: the answer's JSON, or why there is none."""

    question: str
    answer: dict[str, Any] | None
    error: str | None = None


class Journal:
    """The answers of one batch, each question once."""

    def __init__(self, path: Path, made_with: Mapping[str, str], restart: bool = False) -> None:
        self.path = path
        self.kept = 0  # answers of an earlier run
        self.damaged = 0  # lines of it that cannot be read, and so are asked again
        self._index = sqlite3.connect("", isolation_level=None)  # a file of its own, gone with it
        self._index.execute("PRAGMA journal_mode = OFF")
        self._index.execute(
            "CREATE TABLE answer (key BLOB PRIMARY KEY, place INTEGER, told INTEGER) WITHOUT ROWID"
        )
        with _explained(path):
            if restart:
                path.unlink(missing_ok=True)
            self._end = self._resumed(made_with) if path.exists() else 0
            self._file = path.open("ab", buffering=0)
            self._reading: IO[bytes] = path.open("rb")
            if not self._end:
                self._append([{"stickler": "batch", "format": FORMAT, "made_with": made_with}])
                sync_folder(path.parent)

    def claim(self, question: str) -> bool:
        """True where the question is still to be asked, and from then on no more."""
        added = self._index.execute(
            "INSERT OR IGNORE INTO answer VALUES (?, NULL, 0)", (_key(question),)
        )
        return added.rowcount == 1

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Keep what came of a chunk; when this returns, it is on the disk."""
        places = self._append([outcome._asdict() for outcome in outcomes])
        self._index.executemany(
            "INSERT OR REPLACE INTO answer VALUES (?, ?, 0)",
            [(_key(o.question), place) for o, place in zip(outcomes, places, strict=True)],
        )

    def find(self, question: str) -> tuple[Outcome | None, bool]:
        """What came of a question, and whether it was found before."""
        key = _key(question)
        row = self._index.execute("SELECT place, told FROM answer WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] is None:
            return None, False
        place, told = row
        if not told:
            self._index.execute("UPDATE answer SET told = 1 WHERE key = ?", (key,))
        with _explained(self.path):
            self._reading.seek(place)
            outcome = _outcome(self._reading.readline())
        return (outcome if outcome and outcome.question == question else None), bool(told)

    def close(self) -> None:
        for each in (self._file, self._reading, self._index):
            each.close()

    def remove(self) -> None:
        """The output is in place: nothing is left to go on with."""
        self.close()
        with _explained(self.path):
            self.path.unlink(missing_ok=True)

    def _append(self, lines: Sequence[Mapping[str, Any]]) -> list[int]:
        data = [line(each).encode() + b"\n" for each in lines]
        places = [self._end + before for before in accumulate(map(len, data), initial=0)]
        self._end = places.pop()
        with _explained(self.path):
            # Without a buffer: what a full disk refused must not wait to be written on closing.
            left = memoryview(b"".join(data))
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        return places

    def _resumed(self, made_with: Mapping[str, str]) -> int:
        """Read what an earlier run left, cut off what is torn, and say where to go on."""
        with self.path.open("rb") as file:
            first = file.readline(_LONGEST)
            if not first.endswith(b"\n"):
                end = 0  # torn before the first answer
            else:
                self._check(first, made_with)
                end = self._read(file)
        if end < self.path.stat().st_size:
            os.truncate(self.path, end)
        return end

    def _read(self, file: IO[bytes]) -> int:
        end = file.tell()
        while (data := file.readline(_LONGEST)).endswith(b"\n"):
            outcome = _outcome(data)
            if outcome is None:
                self.damaged += 1
            elif outcome.error is None:  # what failed is asked again
                key = _key(outcome.question)
                self._index.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, 0)", (key, end))
                self.kept += 1
            end += len(data)
        return end

    def _check(self, first: bytes, made_with: Mapping[str, str]) -> None:
        try:
            header = json.loads(first)
            before, form = header["made_with"], header["format"]
            assert header["stickler"] == "batch"
        except (ValueError, LookupError, TypeError, AssertionError):
            raise SticklerError(
                f"{self.path} is no journal of a batch",
                "move it away",
                Remedy(Action.RESTART),
            ) from None
        changed = [name for name in made_with if before.get(name) != made_with[name]]
        if changed or form != FORMAT:
            what = ", ".join(_CALLED.get(name, name) for name in changed) or "form of the journal"
            raise SticklerError(
                f"An interrupted run left {self.path}, but since then something else is in use "
                f"({what})",
                "put that back",
                Remedy(Action.RESTART),
            )


def _key(question: str) -> bytes:
    return hashlib.sha256(question.encode()).digest()[:16]


def _outcome(data: bytes) -> Outcome | None:
    try:
        return Outcome(**json.loads(data))
    except (ValueError, TypeError):
        return None


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SticklerError(
            f"Could not write {path} ({error.strerror or error}): make room there, then run the "
            "same command again; what was answered so far is kept."
        ) from error

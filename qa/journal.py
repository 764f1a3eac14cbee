"""The journal of a long job: one record per line, flushed to disk chunk by chunk.

Batches, evaluations and calibrations each keep one and resume from it if interrupted. The first
line says what the records depend on. A line left incomplete by a crash, a full disk or a power cut
is dropped when the journal is read again. Records stay on disk; their offsets are kept in a small
database, also on disk, so that even a million of them take hardly any memory.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from index.errors import Action, Remedy, SticklerError
from qa.batch.tables.fields import line
from qa.batch.tables.place import sync_folder

FORMAT = 2
_LONGEST = 1 << 26  # bytes of a line
# What the first line holds, as a sentence calls it.
_CALLED = {
    "settings": "settings",
    "model": "model",
    "weights": "weights of the model",
    "embedder": "embedding model",
    "documents": "rules documents",
    "code": "version of Stickler",
    "input": "questions",
}

Record = dict[str, Any]


class Journal:
    """The records of one job, each key once.

    `made_with` is what the records depend on: a journal made with anything else is refused, unless
    `restart` throws it away. `key` names the fields that make up a record's key. A record whose
    field `error` is set counts as missing when the job is resumed.
    """

    def __init__(
        self,
        path: Path,
        made_with: Mapping[str, Any],
        restart: bool = False,
        key: Sequence[str] = ("question",),
    ) -> None:
        self.path = path
        self.kept = 0  # records of an earlier run
        self.damaged = 0  # its unreadable lines, whose records are created again
        self._key = key
        self._index = sqlite3.connect("", isolation_level=None)  # a temporary file
        self._index.execute("PRAGMA journal_mode = OFF")
        self._index.execute(
            "CREATE TABLE record (key BLOB PRIMARY KEY, place INTEGER, found INTEGER) WITHOUT ROWID"
        )
        with _explained(path):
            if restart:
                path.unlink(missing_ok=True)
            self._end = self._resume(made_with) if path.exists() else 0
            self._file = path.open("ab", buffering=0)
            self._reading: IO[bytes] = path.open("rb")
            if not self._end:
                self._append([{"stickler": "journal", "format": FORMAT, "made_with": made_with}])
                sync_folder(path.parent)

    def claim(self, *key: str) -> bool:
        """True the first time for a key that has no record yet, False from then on."""
        added = self._index.execute(
            "INSERT OR IGNORE INTO record VALUES (?, NULL, 0)", (_digest(key),)
        )
        return added.rowcount == 1

    def add(self, records: Sequence[Record]) -> None:
        """Append the records of a chunk; when this returns, they are on disk."""
        places = self._append(records)
        self._index.executemany(
            "INSERT OR REPLACE INTO record VALUES (?, ?, 0)",
            [(self._digest(one), place) for one, place in zip(records, places, strict=True)],
        )

    def find(self, *key: str) -> tuple[Record | None, bool]:
        """The record of a key, if there is one, and whether it was found before."""
        digest = _digest(key)
        row = self._index.execute(
            "SELECT place, found FROM record WHERE key = ?", (digest,)
        ).fetchone()
        if row is None or row[0] is None:
            return None, False
        place, before = row
        if not before:
            self._index.execute("UPDATE record SET found = 1 WHERE key = ?", (digest,))
        with _explained(self.path):
            self._reading.seek(place)
            record = _parse(self._reading.readline())
        return (record if self._digest(record) == digest else None), bool(before)

    def close(self) -> None:
        for each in (self._file, self._reading, self._index):
            each.close()

    def remove(self) -> None:
        """Close and delete it: the job is done."""
        self.close()
        with _explained(self.path):
            self.path.unlink(missing_ok=True)

    def _digest(self, record: Record | None) -> bytes | None:
        """What the key of a record is looked up by; None where a line is no record."""
        try:
            return _digest([record[name] for name in self._key]) if record else None
        except (KeyError, TypeError):
            return None

    def _append(self, records: Sequence[Mapping[str, Any]]) -> list[int]:
        data = [line(each).encode() + b"\n" for each in records]
        places = [self._end + before for before in accumulate(map(len, data), initial=0)]
        self._end = places.pop()
        with _explained(self.path):
            # Unbuffered: data rejected by a full disk must not be written later, on closing.
            left = memoryview(b"".join(data))
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        return places

    def _resume(self, made_with: Mapping[str, Any]) -> int:
        """Read an earlier run, drop an incomplete last line, return the offset to append at."""
        end = 0
        with self.path.open("rb") as file:
            first = file.readline(_LONGEST)
            if first.endswith(b"\n"):
                self._check(first, made_with)
                end = len(first)
                for data, record in _lines(file):
                    self._take_in(record, end)
                    end += len(data)
        if end < self.path.stat().st_size:
            os.truncate(self.path, end)
        return end

    def _take_in(self, record: Record | None, place: int) -> None:
        digest = self._digest(record)
        if record is None or digest is None:
            self.damaged += 1
        elif record.get("error") is None:
            self._index.execute("INSERT OR REPLACE INTO record VALUES (?, ?, 0)", (digest, place))
            self.kept += 1

    def _check(self, first: bytes, made_with: Mapping[str, Any]) -> None:
        try:
            before = _made_with(first)
        except ValueError:
            raise SticklerError(
                f"{self.path} is not a journal of this version of Stickler",
                "move it away",
                Remedy(Action.RESTART),
            ) from None
        now = json.loads(line(made_with))
        changed = [_CALLED.get(name, name) for name in now if before.get(name) != now[name]]
        if changed:
            raise SticklerError(
                f"{self.path} is from a run with other conditions ({', '.join(changed)})",
                "restore them",
                Remedy(Action.RESTART),
            )


def read(path: Path) -> tuple[dict[str, Any], list[Record]]:
    """What a journal was made with, and its records so far; the file is left as it is.

    OSError where it cannot be read, ValueError where it is no journal.
    """
    with path.open("rb") as file:
        made_with = _made_with(file.readline(_LONGEST))
        return made_with, [record for _, record in _lines(file) if record is not None]


def _made_with(first: bytes) -> dict[str, Any]:
    header = _parse(first) or {}
    if header.get("stickler") != "journal" or header.get("format") != FORMAT:
        raise ValueError("it is no journal")
    made_with: dict[str, Any] = header["made_with"]
    return made_with


def _lines(file: IO[bytes]) -> Iterator[tuple[bytes, Record | None]]:
    """Every whole line that is left of a file, with the record that it holds, if it holds one."""
    while (data := file.readline(_LONGEST)).endswith(b"\n"):
        yield data, _parse(data)


def _parse(data: bytes) -> Record | None:
    try:
        record = json.loads(data)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _digest(key: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(key).encode()).digest()[:16]


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SticklerError(
            f"Could not write {path} ({error.strerror or error})",
            "free some disk space and run it again; the answers so far are kept",
        ) from error

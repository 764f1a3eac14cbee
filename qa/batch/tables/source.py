"""A file of questions, or standard input: opened, recognised, counted, and read repeatedly.

Standard input is copied to a file first, because the input is read several times.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from index.errors import Action, Remedy, SticklerError
from qa.batch.tables import MOST_COLUMNS, Row, delimited, input_format, objects, reader
from qa.batch.tables.columns import Finder, known, listed
from qa.batch.tables.encoding import lines, opened

_CHUNK = 1 << 20  # bytes
_KINDS = {bool: "bool", int: "int", float: "float"}


@dataclass(frozen=True)
class Survey:
    """What a first reading of the whole input tells."""

    rows: int
    empty: int
    columns: dict[str, set[str]]  # those that are carried, and which kinds of values each has


@dataclass
class Source:
    name: str  # as the user wrote it
    path: Path  # what is read: the file, or the copy of standard input
    format: str
    column: str | None = None
    limit: int | None = None
    _finder: Finder = field(default_factory=Finder)

    def rows(self) -> Iterator[Row | None]:
        """The rows in order; None stands for one that is empty."""
        self._finder = Finder(self.column)
        given = 0
        try:
            for record in reader(self.format)(self.path, self.column):
                row = self._finder.row(record)
                yield row
                given += row is not None
                if given == self.limit:
                    return
        except OSError as error:
            raise _unopened(self.name, error) from None

    @cached_property
    def fingerprint(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]

    def state(self) -> tuple[int, int, int]:
        """Changes whenever the file does."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise _unopened(self.name, error) from None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def survey(self) -> Survey:
        """Count the rows and collect the columns; raises an error if the file is unusable."""
        count = empty = 0
        columns: dict[str, set[str]] = {}
        for row in self.rows():
            if row is None:
                empty += 1
                continue
            count += 1
            if len(columns) <= MOST_COLUMNS:
                for name, value in row.carried.items():
                    if value is not None:
                        columns.setdefault(name, set()).add(_kind(value))
                    else:
                        columns.setdefault(name, set())
        if not count:
            also = f", only {empty} empty lines" if empty else ""
            raise SticklerError(f"{self.name} contains no questions{also}: add at least one.")
        if self._finder.column is None and self._finder.seen:
            what = f"no column '{self.column}'" if self.column else "no column with questions"
            raise SticklerError(
                f"{self.name} has {what}, only {listed(self._finder.seen)}",
                Remedy(Action.CHOOSE_COLUMN),
            )
        return Survey(count, empty, columns)


def open_source(
    name: str, format: str | None, column: str | None, limit: int | None, copy: Path
) -> Source:
    """Open a source; `copy` is where standard input, or a pipe, is stored temporarily."""
    chosen = input_format(name, format) if name == "-" or format else None
    if name == "-":
        if sys.stdin.isatty():
            raise SticklerError("There are no questions: pipe them in, or name a file.")
        _copied(sys.stdin.buffer, copy)
        path = copy
    else:
        path = Path(name).expanduser()
        try:
            mode = path.stat().st_mode
            with path.open("rb") as file:
                if stat.S_ISFIFO(mode):
                    _copied(file, copy)
                    path = copy
                elif not stat.S_ISREG(mode):
                    raise SticklerError(f"{name} is not a file: name a file of questions.")
        except (OSError, ValueError, RuntimeError) as error:
            raise _unopened(name, error) from None
        if path != copy:
            chosen = input_format(name, format)
    return Source(name, path, chosen or recognise(path, column), column, limit)


def recognise(path: Path, column: str | None) -> str:
    """Guess the format of unnamed input: JSON, CSV or TSV from its first line, otherwise text."""
    with opened(path) as file:
        first = next((line for line, _ in lines(file) if line.strip()), "").strip()
    if first.startswith("{"):
        return "jsonl"
    if first.startswith("["):
        try:
            next(objects.json_array(path), None)
        except SticklerError:
            return "text"
        return "json"
    mark = delimited.choose(first, delimited.DELIMITERS, column)
    cells = delimited.cells(first, mark)
    # A list may begin with "Text, can I ...?", but column names are not questions.
    if known(cells, column) is None or any(cell.strip().endswith("?") for cell in cells):
        return "text"
    return "tsv" if mark == "\t" else "csv"


def _copied(stream: IO[bytes], copy: Path) -> None:
    try:
        with copy.open("wb") as file:
            while piece := stream.read(_CHUNK):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SticklerError(
            f"Could not store the input in {copy} ({error.strerror or error}): free disk space."
        ) from None


def _unopened(name: str, error: Exception) -> SticklerError:
    return SticklerError(
        f"Could not read {name} ({getattr(error, 'strerror', None) or error}): "
        "name a file of questions that you can read."
    )


def _kind(value: Any) -> str:
    kind = _KINDS.get(type(value), "text")
    if kind != "int" or abs(value) <= 2**53:
        return kind
    return "long" if -(2**63) <= value < 2**63 else "text"  # more than a float holds exactly

"""Questions one a line, and CSV and TSV with their quotes, long cells and broken rows."""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO

from qa.batch.tables import LONGEST, Record, names, unreadable
from qa.batch.tables.columns import headerless, known
from qa.batch.tables.encoding import lines, not_text, opened, too_long

DELIMITERS = ",;\t|"
_END = "\0end of the table\0"  # appended as a last line, to detect an unclosed quote

csv.field_size_limit(LONGEST)  # else a cell of 131,073 characters breaks its row


def text(path: Path, column: str | None = None) -> Iterator[Record]:
    with opened(path) as file:
        try:
            for number, (line, cut) in enumerate(lines(file), 1):
                cells = {"question": line.strip()} if line.strip() else {}
                yield Record(f"line {number}", cells, too_long(number) if cut else None)
        except UnicodeError:
            raise not_text(path) from None


def csv_rows(path: Path, column: str | None = None) -> Iterator[Record]:
    """A table whose first line names its columns; cells are separated by , ; | or tabs."""
    return _table(path, column, DELIMITERS)


def tsv_rows(path: Path, column: str | None = None) -> Iterator[Record]:
    return _table(path, column, "\t")


def _table(path: Path, column: str | None, delimiters: str) -> Iterator[Record]:
    with opened(path, newline="") as file:
        feed = _Feed(file)
        try:
            first = next(feed, "")
            while first != _END and not first.strip():
                yield Record("", {})
                first = next(feed, _END)
            delimiter = choose(first, delimiters, column)
            yield from _records(path, feed, first, delimiter, column)
        except UnicodeError:
            raise not_text(path) from None


def _records(
    path: Path, feed: "_Feed", first: str, delimiter: str, column: str | None
) -> Iterator[Record]:
    before = feed.number - 1
    table = csv.reader(chain([first], feed), delimiter=delimiter)
    header: list[str] = []
    while True:
        line = before + table.line_num + 1
        place = f"line {line}"
        feed.cut = False
        try:
            found = next(table)
        except StopIteration:
            return  # the very last line was part of a cell that is too long
        except csv.Error as error:
            if not header:
                raise unreadable(path, "CSV", error) from None
            yield Record(place, {}, f"The row at line {line} cannot be read ({error}): correct it.")
            continue
        if found == [_END]:
            return
        problem = too_long(line) if feed.cut else None
        if found and found[-1].endswith(_END):
            problem = f"A quotation mark in the row at line {line} is never closed: close it."
            found[-1] = found[-1].removesuffix(_END)
            if not header:
                raise unreadable(path, "CSV", "a quotation mark in its first line is never closed")
            yield Record(place, dict(zip(header, found, strict=False)), problem)
            return
        if not header:
            header = names(found, path)
            if not headerless(found, column):
                continue
            header = ["question"]
        if not any(cell.strip() for cell in found):
            yield Record(place, {}, problem)
            continue
        if len(found) != len(header) and not problem:
            problem = (
                f"The row at line {line} has {len(found)} cells but the header has "
                f"{len(header)}: put cells that contain a delimiter in quotation marks."
            )
        yield Record(place, dict(zip(header, found, strict=False)), problem)


class _Feed:
    """The lines of a table for csv.reader; `cut` is set if one was cut off since it was reset."""

    def __init__(self, file: IO[str]) -> None:
        self._lines = lines(file)
        self.number = 0
        self.cut = False
        self._ended = False

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        self.number += 1
        for line, cut in self._lines:
            self.cut |= cut
            return line
        if self._ended:
            raise StopIteration
        self._ended = True
        return _END


def choose(header: str, delimiters: str, column: str | None = None) -> str:
    """The delimiter that yields a question column, otherwise the one that yields most columns."""
    naming = [mark for mark in delimiters if known(cells(header, mark), column)]
    return naming[0] if naming else max(delimiters, key=lambda mark: len(cells(header, mark)))


def cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])

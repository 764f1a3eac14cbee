"""JSON Lines and JSON arrays: one object, or one plain question, per row."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from index.errors import SticklerError
from qa.batch.tables import LONGEST, Record
from qa.batch.tables.encoding import lines, not_text, opened, too_long

_CHUNK = 1 << 16  # characters
_decoder = json.JSONDecoder(parse_constant=lambda _: None)  # NaN, which JSON does not know


def json_lines(path: Path, column: str | None = None) -> Iterator[Record]:
    with opened(path) as file:
        try:
            for number, (line, cut) in enumerate(lines(file), 1):
                yield _line(number, line.strip(), cut)
        except UnicodeError:
            raise not_text(path) from None


def json_array(path: Path, column: str | None = None) -> Iterator[Record]:
    """The items of an array; a file that is not an array is read as JSON Lines."""
    with opened(path) as file:
        try:
            items = _Items(path, file)
            if items.begins:
                for number, value in enumerate(items, 1):
                    yield _record(f"item {number}", value)
        except UnicodeError:
            raise not_text(path) from None
    if not items.begins:
        yield from json_lines(path, column)


def _line(number: int, line: str, cut: bool) -> Record:
    place = f"line {number}"
    if cut:
        return Record(place, {}, too_long(number))
    if not line:
        return Record(place, {})
    try:
        value = _decoder.decode(line)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        return Record(place, {}, f"Line {number} is not valid JSON ({why}): correct it.")
    return _record(place, value)


def _record(place: str, value: Any) -> Record:
    if isinstance(value, dict):
        return Record(place, value, None if value else f"The object at {place} is empty.")
    if isinstance(value, str):
        return Record(place, {"question": value})
    return Record(place, {}, f"What is at {place} is neither an object nor a question in quotes.")


class _Items:
    """The values of an array, decoded one by one from a buffer that holds little more than one."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path, self._file = path, file
        self._text, self._at = "", 0
        self._number = 0
        self.begins = self._next() == "["

    def __iter__(self) -> Iterator[Any]:
        self._at += 1
        if self._next() == "]":
            self._at += 1
        else:
            while True:
                self._number += 1
                yield self._value()
                mark = self._next()
                self._at += 1
                if mark == "]":
                    break
                if mark != ",":
                    raise self._broken("a comma or the closing bracket is missing")
                self._next()
        if self._next():
            raise self._broken("something follows the closing bracket")

    def _value(self) -> Any:
        while True:
            why = "it breaks off"
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
                # A number may continue beyond what has been read so far.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                why = error.msg
                if len(self._text) - self._at > LONGEST or not self._more():
                    raise self._broken(why) from None
            except (ValueError, RecursionError) as error:
                raise self._broken(type(error).__name__) from None

    def _next(self) -> str:
        """The next non-space character, without consuming it; '' at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at].isspace():
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read as much again as is buffered, so that a long value is decoded only a few times."""
        rest = self._text[self._at :]
        piece = self._file.read(max(_CHUNK, len(rest)))
        self._text, self._at = rest + piece, 0
        return bool(piece)

    def _broken(self, why: str) -> SticklerError:
        return SticklerError(
            f"{self._path} is not a valid JSON array at item {max(self._number, 1)} ({why}): "
            "correct it, or put one object on each line."
        )

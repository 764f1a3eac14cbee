"""Text files in the encodings that people save them in, read line by line.

UTF-8 and UTF-16 with or without a byte order mark, UTF-32 with one. Bytes that are not valid UTF-8
are read as Windows-1252, so that one odd line does not spoil a file.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from index.errors import Action, Remedy, SticklerError
from index.parsers import MARKS
from qa.batch.tables import LONGEST

_HEAD = 1 << 16  # bytes from which the encoding is guessed
_BINARY = 0.3  # share of control characters


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError) or not error.encoding.startswith("utf-8"):
        raise error
    try:
        return error.object[error.start : error.end].decode("cp1252"), error.end
    except UnicodeDecodeError:
        raise error from None  # the five bytes that Windows-1252 leaves undefined


codecs.register_error("windows-1252", _as_windows)


def opened(path: Path, newline: str | None = None) -> IO[str]:
    """An open text file; raises SticklerError if it is not text."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    encoding = _encoding(head)
    try:
        text = codecs.getincrementaldecoder(encoding)("windows-1252").decode(head)
    except UnicodeError:
        raise not_text(path) from None
    strange = sum(c < " " and c not in "\t\n\r\f\v\x1b" for c in text)
    if strange > _BINARY * len(text):
        raise not_text(path)
    return path.open(encoding=encoding, errors="windows-1252", newline=newline)


def lines(file: IO[str]) -> Iterator[tuple[str, bool]]:
    """The lines of a file, each with whether it was too long and cut off."""
    while line := file.readline(LONGEST):
        cut = len(line) == LONGEST and line[-1] not in "\r\n"
        if cut:
            while (rest := file.readline(LONGEST)) and rest[-1] not in "\r\n":
                pass
        yield line, cut


def too_long(number: int) -> str:
    return f"Line {number} has more than {LONGEST} characters: shorten it."


def not_text(path: Path) -> SticklerError:
    return SticklerError(
        f"{path} is not text in UTF-8, UTF-16 or Windows-1252",
        "save it as plain text",
        Remedy(Action.CHOOSE_FORMAT),
    )


def _encoding(head: bytes) -> str:
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding
    # UTF-16 without a mark: nearly every other byte of English is zero.
    even, odd, pairs = head[0::2].count(0), head[1::2].count(0), len(head) // 2
    if pairs and odd > 0.4 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    if pairs and even > 0.4 * pairs and odd < 0.1 * pairs:
        return "utf-16-be"
    return "utf-8"

"""From a document's bytes to its rules: decode, detect the format from the content, parse.

Each format is a module with `recognises(text)` and `parse(text, document, edition)`.
"""

import codecs
import importlib
from types import ModuleType

from index.errors import SticklerError
from index.rulebook import ParsedDocument

FORMATS = ("official", "dataset", "markdown", "rulings")  # tried in this order
LARGEST = 20_000_000  # bytes; the longest release so far is 1.2 MB
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_INCOMPLETE = "{document} is incomplete (it ends in the middle of a character): download it again."


def decode(data: bytes, document: str) -> str:
    """Bytes in any encoding the rules were ever published in -> text with plain newlines."""
    if not data.strip():
        raise SticklerError(f"{document} is empty: choose a rules document.")
    if len(data) > LARGEST:
        raise SticklerError(
            f"{document} is larger than {LARGEST // 1_000_000} MB, far more than any rulebook: "
            "choose a rules document."
        )
    text = _text(data, document)
    if "\0" in text:
        raise SticklerError(f"{document} is not a text file: choose the rules as plain text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _text(data: bytes, document: str) -> str:
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                if error.end < len(data):
                    raise _not_text(document) from None
                raise SticklerError(_INCOMPLETE.format(document=document)) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and not data[: error.start].isascii():
            raise SticklerError(_INCOMPLETE.format(document=document)) from None
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        raise _not_text(document) from None


def _not_text(document: str) -> SticklerError:
    return SticklerError(
        f"{document} is not text in UTF-8, UTF-16 or Windows-1252: save it as plain text first."
    )


def detect_format(text: str, document: str) -> str:
    """The name of the format, judging by the content alone."""
    for name in FORMATS:
        if _parser(name).recognises(text):
            return name
    if text.lstrip("\ufeff \n\t")[:14].lower().startswith(("<!doctype html", "<html")):
        raise SticklerError(
            f"{document} is a web page, not a rulebook in plain text: save the plain text with "
            "a browser and add that."
        )
    raise SticklerError(
        f"{document} is not a rulebook that Stickler can read: use the publisher's plain text, "
        "which begins with 'Comprehensive Rules' and contains numbered rules."
    )


def parse(
    data: bytes, document: str, edition: str | None = None, format: str | None = None
) -> ParsedDocument:
    """Parse a whole document; raises SticklerError if that is not possible."""
    text = decode(data, document)
    parser = _parser(format or detect_format(text, document))
    parsed: ParsedDocument = parser.parse(text, document, edition)
    if all(rule.is_heading for rule in parsed.rules):
        raise SticklerError(f"{document} contains only headings: choose a complete rules document.")
    return parsed


def _parser(format: str) -> ModuleType:
    """The module of a format, imported when a document has it."""
    return importlib.import_module(f"index.parsers.{format}")

"""The documents on disk, shipped and added by the user, and the rulebook they form.

>>> index.library.load().current.rule("702.19b").text
"""

import datetime
import functools
import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from index import files, parsers
from index.editions import Rulebook
from index.errors import Action, Remedy, SticklerError
from index.rulebook import ParsedDocument

SHIPPED = Path(__file__).parent / "documents"


@dataclass(frozen=True, slots=True)
class Document:
    """One document and its metadata; `sha256` verifies its content."""

    file: str
    format: str
    edition: str
    source: str
    sha256: str
    added: str | None = None  # the day; None for a document that ships

    @property
    def path(self) -> Path:
        return (SHIPPED if self.added is None else _folder()) / self.file


def documents() -> list[Document]:
    """All documents: those that ship, then the user's."""
    return [*_shipped(), *_added()]


def notice() -> str:
    return str(_toml()["notice"])


def load(among: Iterable[Document] | None = None) -> Rulebook:
    """The rulebook of all documents, or of those named."""
    return Rulebook(read(document) for document in (documents() if among is None else among))


def read(document: Document) -> ParsedDocument:
    try:
        data = document.path.read_bytes()
    except OSError as error:
        raise _lost(document, error.strerror or str(error)) from None
    if hashlib.sha256(data).hexdigest() != document.sha256:
        raise _lost(document, "its content has changed since it was added")
    parsed = parsers.parse(data, document.file, document.edition, document.format)
    return replace(parsed, sections=_left_out(document) | dict(parsed.sections))


def add(source: str, edition: str | None = None) -> tuple[Document, ParsedDocument]:
    """Add a file or an address; nothing changes unless all of it can be read."""
    data = _fetched(source) if "://" in source else _from_disk(source)
    return add_text(data, source, edition)


def add_text(
    data: bytes, source: str, edition: str | None = None
) -> tuple[Document, ParsedDocument]:
    """Like `add`, for data that is already in memory."""
    name = source.rsplit("/", 1)[-1] or source
    if edition is not None:
        _check_day(edition)
    kind = parsers.detect_format(parsers.decode(data, name), name)
    parsed = parsers.parse(data, name, edition, kind)
    digest = hashlib.sha256(data).hexdigest()
    document = Document(
        file=f"{parsed.edition}-{kind}-{digest[:12]}.txt",
        format=kind,
        edition=parsed.edition,
        source=source,
        added=datetime.date.today().isoformat(),
        sha256=digest,
    )
    with files.locked(_folder() / "documents.lock"):
        others = [known for known in _added() if known.file != document.file]
        load([*_shipped(), *others])  # the existing documents must be sound
        files.write_whole(document.path, data)
        _write_manifest([*others, document])
    return document, parsed


def remove(edition: str) -> list[Document]:
    """Remove the documents that the user added for an edition; shipped documents stay."""
    with files.locked(_folder() / "documents.lock"):
        added = _added()
        going = [document for document in added if document.edition == edition]
        if not going:
            shipped = any(document.edition == edition for document in _shipped())
            why = "ships with Stickler and cannot be removed" if shipped else "was not added"
            raise SticklerError(f"The edition {edition} {why}", Remedy(Action.LIST_DOCUMENTS))
        _write_manifest([document for document in added if document not in going])
        for document in going:
            document.path.unlink(missing_ok=True)
    return going


def _folder() -> Path:
    return files.data_folder() / "documents"


@functools.cache
def _toml() -> dict[str, object]:
    return tomllib.loads((SHIPPED / "documents.toml").read_text(encoding="utf-8"))


def _shipped() -> list[Document]:
    rows = _toml()["document"]
    assert isinstance(rows, list)
    return [Document(**row) for row in rows]


def _left_out(document: Document) -> dict[str, str]:
    """Section names for a shipped document that does not contain them."""
    named = _toml()["sections"]
    assert isinstance(named, dict)
    return dict(named.get(document.edition, {})) if document.added is None else {}


def _added() -> list[Document]:
    manifest = _folder() / "documents.json"
    if not manifest.exists():
        return []
    try:
        rows = json.loads(manifest.read_text(encoding="utf-8"))
        if not isinstance(rows, list):
            raise ValueError("it is not a list")
        return [Document(**row) for row in rows]
    except (ValueError, TypeError, OSError) as error:
        raise SticklerError(
            f"{manifest} cannot be read ({error})", "delete it, then add your documents again"
        ) from None


def _write_manifest(added: list[Document]) -> None:
    rows = json.dumps([asdict(document) for document in added], indent=1, ensure_ascii=False)
    files.write_whole(_folder() / "documents.json", rows.encode())


def _lost(document: Document, why: str) -> SticklerError:
    return SticklerError(
        f"The document {document.path} cannot be used ({why})",
        Remedy(Action.READD_RULES, document.edition)
        if document.added
        else "install Stickler again",
    )


def _check_day(edition: str) -> None:
    try:
        if datetime.date.fromisoformat(edition).isoformat() == edition:
            return
    except ValueError:
        pass
    raise SticklerError(f"'{edition}' is not a date: write the edition as YYYY-MM-DD.")


def _fetched(address: str) -> bytes:
    from index.fetch import fetch

    return fetch(address, parsers.LARGEST)


def _from_disk(source: str) -> bytes:
    """The bytes of a file; at most one more than allowed is read, to detect larger files."""
    try:
        with open(Path(source).expanduser(), "rb") as file:
            return file.read(parsers.LARGEST + 1)
    except (OSError, ValueError, RuntimeError) as error:
        raise SticklerError(
            f"Could not read {source} ({getattr(error, 'strerror', None) or error}): "
            "name a rules document that you can read."
        ) from None

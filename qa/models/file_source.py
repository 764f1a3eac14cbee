"""A model file that is already on this machine: a hard link to it, or a copy."""

import os
from collections.abc import Iterator
from pathlib import Path

from qa.models.partial import Partial, SourceError

_BLOCK = 1 << 22


def fetch(path: Path, partial: Partial) -> None:
    """Make the partial file a link to `path`, or a copy of it if it lies on another disk."""
    partial.discard()
    try:
        partial.expect(path.stat().st_size)
        try:
            os.link(path, partial.path)
        except OSError:
            partial.append(_blocks(path), 0)
    except OSError as error:
        raise SourceError(f"it cannot be read, {error.strerror}") from None
    partial.report()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block

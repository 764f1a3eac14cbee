"""A model file while it is being downloaded: beside its place, appended to, resumed if interrupted.

Several sources can contribute to one partial file, since all of them provide the same bytes; the
digest is checked once the file is complete.
"""

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from index import files
from index.errors import SticklerError
from qa.models import model_files

Progress = Callable[[int, int], None]  # bytes there, bytes in all (0: not known)
_BLOCK = 1 << 22
_SPARE = 1 << 24  # bytes of disk that stay free


class SourceError(Exception):
    """Why one source did not give the file; the next one is tried."""


class Stopped(SticklerError):
    """Somebody stopped the download."""

    def __init__(self) -> None:
        super().__init__("The download was stopped", "start it again to resume")


class Partial:
    """The bytes of a model file that are there already, and what the whole file should be."""

    def __init__(
        self,
        file: str,
        progress: Progress,
        stop: threading.Event,
        size: int | None = None,
        sha256: str | None = None,
    ) -> None:
        self.file, self.expected_size, self.expected_sha256 = file, size, sha256
        self.path = model_files.partial_file(file)
        self.stop = stop
        self._progress = progress
        self._announced = 0
        self._origin: str | None = None
        if sha256:
            self.continue_from(sha256)

    @property
    def size(self) -> int:
        """How many bytes are there."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def complete(self) -> bool:
        return self.size == self.expected_size

    def continue_from(self, origin: str) -> None:
        """Keep what is there if it is a part of `origin`; else begin with nothing."""
        self._origin = origin
        if _read(model_files.partial_origin_file(self.file)) != origin or self._is_link():
            self.start_over()

    def start_over(self) -> None:
        """Delete what is there, but keep the note of its origin."""
        self.discard()
        if self._origin:
            note = model_files.partial_origin_file(self.file)
            files.write_whole(note, json.dumps(self._origin).encode())

    def _is_link(self) -> bool:
        """Whether the bytes are also those of another file, which must not be changed."""
        try:
            return self.path.stat().st_nlink > 1
        except FileNotFoundError:
            return False

    def expect(self, size: int | None) -> None:
        """Note the size that a source names, which must be the known one."""
        if size is None:
            return
        if self.expected_size not in (None, size):
            raise SourceError(f"its file has {size} bytes instead of {self.expected_size}")
        self.expected_size = size

    def check_room(self, extra: int = 0) -> None:
        """Fail if the rest of the file, and `extra` bytes, do not fit on the disk."""
        if self.expected_size is None:
            return
        with files.explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.path.parent).free
        needed = max(0, self.expected_size - self.size) + extra + _SPARE
        if free < needed:
            raise SticklerError(
                f"{self.file} needs {_megabytes(needed)} MB in {self.path.parent}, where only "
                f"{_megabytes(free)} MB are available",
                "free some disk space",
                "set STICKLER_HOME to a folder on another disk",
            )

    def append(self, pieces: Iterable[bytes], start: int) -> None:
        """Write the pieces from byte `start` on, replacing anything after it."""
        with files.explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        with file:
            with files.explained(self.path):
                file.truncate(start)
            for piece in pieces:
                self.check_stop()
                with files.explained(self.path):
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[file.write(rest) :]
                start += len(piece)
                self._report(start)
            with files.explained(self.path):
                os.fsync(file.fileno())

    def report(self, extra: int = 0) -> None:
        """Report progress; `extra` bytes are on their way to the file, and count already."""
        done = min(self.size + extra, self.expected_size or self.size)
        self._announced = max(self._announced, done)
        self._report(done)

    def _report(self, done: int) -> None:
        self._progress(max(done, self._announced), self.expected_size or 0)

    def check_stop(self) -> None:
        if self.stop.is_set():
            raise Stopped

    def digest(self) -> str:
        """The SHA-256 of what is there."""
        sha256 = hashlib.sha256()
        with files.explained(self.path), self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                self.check_stop()
                sha256.update(block)
        return sha256.hexdigest()

    def discard(self) -> None:
        """Delete what is there, and the note of its origin."""
        self._announced = 0
        with files.explained(self.path):
            self.path.unlink(missing_ok=True)
            model_files.partial_origin_file(self.file).unlink(missing_ok=True)

    def move_to_place(self) -> Path:
        """Move the verified file to its final path, which is returned."""
        place = model_files.folder() / self.file
        with files.explained(place):
            model_files.manifest_file(self.file).unlink(missing_ok=True)
            os.replace(self.path, place)
            model_files.partial_origin_file(self.file).unlink(missing_ok=True)
        return place


def _read(note: Path) -> object:
    with contextlib.suppress(OSError, ValueError):
        return json.loads(note.read_bytes())
    return None


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}"

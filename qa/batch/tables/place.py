"""Output paths: a file that appears complete or not at all, and the working files beside it."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from index.errors import SticklerError
from qa.batch.tables.fields import Result
from qa.batch.tables.writers import Layout, Writer


class Places:
    """The files of a run, all beside its output."""

    def __init__(self, out: Path) -> None:
        self.out = out
        beside = [out.with_name(f".{out.name}.{end}") for end in ("journal", "part", "input")]
        self.journal, self.part, self.copy = beside

    def check(self, source: str) -> None:
        """Refuse an output that cannot be written, or that is the input by any name."""
        out = self.out
        if out.is_dir() or (out.exists() and not out.is_file()):
            raise SticklerError(f"{out} is not a file: name a file for the answers.")
        if not out.parent.is_dir():
            raise SticklerError(f"There is no folder {out.parent}: create it, or name another.")
        for own in (out, self.journal, self.part, self.copy):
            if own.exists() and _is_source(own, source):
                raise SticklerError(
                    f"The answers would overwrite the questions in {source}: name another output."
                )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Allow one run at a time for an output; a copy of the input is deleted at the end."""
        import filelock

        path = self.out.with_name(f".{self.out.name}.lock")
        lock = filelock.FileLock(path, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise SticklerError(
                f"Another run is writing {self.out}: wait for it, or name another output."
            ) from None
        except OSError as error:
            raise SticklerError(
                f"Could not write beside {self.out} ({error.strerror or error}): name an output "
                "in a writable folder."
            ) from None
        try:
            yield
        finally:
            self.copy.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            lock.release()

    def put(self, write: Writer, results: Iterable[Result], layout: Layout) -> int:
        """Write the output beside its place, flush it, rename it there; returns the cells cut."""
        try:
            cut = write(self.part, results, layout)
            with self.part.open("r+b") as file:
                os.fsync(file.fileno())
            os.replace(self.part, self.out)
            sync_folder(self.out.parent)
            return cut or 0
        except OSError as error:
            raise SticklerError(
                f"Could not write {self.out} ({error.strerror or error}): free some disk space, "
                "then run the same command again; the answers are kept."
            ) from error
        finally:
            self.part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a new file name survive a power failure, if the system supports it."""
    with contextlib.suppress(OSError):  # Windows opens no folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_source(own: Path, source: str) -> bool:
    """True where a file is the one that the questions come from, also through standard input."""
    if source == "-":
        try:
            return os.path.samestat(own.stat(), os.fstat(sys.stdin.fileno()))
        except (OSError, ValueError, AttributeError):  # no file behind it
            return False
    given = Path(source).expanduser()
    return given.exists() and own.samefile(given)

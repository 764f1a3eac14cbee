"""A folder for each visitor's files, with an unguessable name, deleted when the visitor leaves."""

import contextlib
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from index.errors import SticklerError

IDLE_SECONDS = 6 * 3600.0  # that the folder of someone who does nothing is kept


@dataclass
class _Folder:
    path: Path
    used: float = field(default_factory=time.monotonic)
    busy: bool = False
    left: bool = False


class Folders:
    """All of them lie in Gradio's own folder, from which it hands out what is asked for by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: dict[str, _Folder] = {}

    @contextlib.contextmanager
    def used(self, session: str) -> Iterator[Path]:
        """A visitor's folder while something is done there, one thing at a time."""
        with self._lock:
            self._sweep()
            folder = self._folders.get(session)
            if folder is None:
                folder = self._folders[session] = _Folder(_make_folder())
            if folder.busy:
                raise SticklerError("You have another file in progress: wait for it, or stop it.")
            folder.busy = True
        try:
            yield folder.path
        finally:
            with self._lock:
                folder.busy, folder.used = False, time.monotonic()
                if folder.left:
                    self._remove(session)

    def leave(self, session: str) -> None:
        """Remove a visitor's folder, as soon as nothing is done there any more."""
        with self._lock:
            if folder := self._folders.get(session):
                folder.left = True
                if not folder.busy:
                    self._remove(session)

    def _sweep(self) -> None:
        old = time.monotonic() - IDLE_SECONDS
        for session, folder in list(self._folders.items()):
            if not folder.busy and folder.used < old:
                self._remove(session)

    def _remove(self, session: str) -> None:
        shutil.rmtree(self._folders.pop(session).path, ignore_errors=True)


def _make_folder() -> Path:
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    path = Path(parent).resolve() / f"work-{secrets.token_hex(16)}"
    path.mkdir(mode=0o700, parents=True)
    return path

"""A folder for each visitor's work, whose name nobody can guess, gone when the visitor is."""

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

KEPT = 6 * 3600.0  # seconds that the work of someone who is idle is kept


@dataclass
class _Own:
    path: Path
    used: float = field(default_factory=time.monotonic)
    busy: bool = False
    left: bool = False


class Folders:
    """All of them lie in Gradio's own folder, from which it hands out what is asked for by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[str, _Own] = {}

    @contextlib.contextmanager
    def used(self, session: str) -> Iterator[Path]:
        """A visitor's folder while something is done there, one thing at a time."""
        with self._lock:
            self._sweep()
            own = self._own.get(session)
            if own is None:
                own = self._own[session] = _Own(_made())
            if own.busy:
                raise SticklerError("A file is being answered here already: wait, or stop it.")
            own.busy = True
        try:
            yield own.path
        finally:
            with self._lock:
                own.busy, own.used = False, time.monotonic()
                if own.left:
                    self._remove(session)

    def leave(self, session: str) -> None:
        """Remove a visitor's folder, as soon as nothing is done there any more."""
        with self._lock:
            if own := self._own.get(session):
                own.left = True
                if not own.busy:
                    self._remove(session)

    def _sweep(self) -> None:
        old = time.monotonic() - KEPT
        for session, own in list(self._own.items()):
            if not own.busy and own.used < old:
                self._remove(session)

    def _remove(self, session: str) -> None:
        shutil.rmtree(self._own.pop(session).path, ignore_errors=True)


def _made() -> Path:
    parent = os.environ.get("GRADIO_TEMP_DIR") or tempfile.gettempdir()
    path = Path(parent).resolve() / f"work-{secrets.token_hex(16)}"
    path.mkdir(mode=0o700, parents=True)
    return path

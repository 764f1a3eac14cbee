"""Safe file writing: to a temporary file, flushed, then renamed; never partially visible."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from index.errors import SticklerError

_PROBE = 1 << 16  # bytes
_END = 1 << 20
_SOURCES = {".py", ".toml", ".json", ".jsonl", ".npz", ".txt"}


def data_folder() -> Path:
    """The user's data folder; STICKLER_HOME overrides it."""
    if chosen := os.environ.get("STICKLER_HOME"):
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_data_path("stickler", appauthor=False)


def fingerprint(folder: Path) -> str:
    """Identifies a model folder by the names, sizes, and first and last bytes of its files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".json", ".safetensors", ".bin", ".txt", ".model", ".jinja"}:
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}:{size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_PROBE))
            file.seek(max(0, size - _PROBE))
            digest.update(file.read(_PROBE))
    return digest.hexdigest()[:16]


def ends_hash(*paths: Path) -> str:
    """Identifies large files by their sizes and their first and last bytes."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(str(size).encode())
        with path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(0, size - _END))
            digest.update(file.read(_END))
    return digest.hexdigest()[:16]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def code(*packages: ModuleType) -> str:
    """Identifies the state of packages: their code, prompts and tables."""
    digest = hashlib.sha256()
    for package in packages:
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*")):
            if path.suffix in _SOURCES and path.parent.name != "documents":
                digest.update(path.relative_to(root).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: its path has either the old content or the new, never a part."""
    import tempfile

    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def locked(path: Path, seconds: float = 60) -> Iterator[None]:
    """Hold a lock file, so that two processes do not change the same files at once."""
    import filelock

    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(path, timeout=seconds):
            yield
    except filelock.Timeout:
        raise SticklerError(
            f"Another Stickler process has been changing {path.parent} for {seconds:.0f} seconds: "
            "wait for it to finish, then run the command again."
        ) from None


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SticklerError(
            f"Could not write {path} ({error.strerror or error}): free some disk space, or set "
            "STICKLER_HOME to a folder that is writable."
        ) from error

"""Model files in the data folder, each with a manifest that vouches for it.

The manifest is written once the whole file has been hashed. While size and modification time are
those it records, the file is not hashed again: 1.1 GB take some 3 seconds.
"""

import contextlib
import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from index import files
from index.errors import SticklerError

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.gguf", re.IGNORECASE)


@dataclass(frozen=True)
class Manifest:
    """What is known about a file that has been hashed; `path` is set if it is elsewhere."""

    name: str
    source: str
    sha256: str
    size: int
    mtime_ns: int
    path: str | None = None


def folder() -> Path:
    """Where model files live."""
    return files.data_folder() / "models"


def file_name(name: str) -> str | None:
    """The file name for a model's name; None if it could lead out of the folder."""
    file = name if name.lower().endswith(SUFFIX) else name + SUFFIX
    return file if _NAME.fullmatch(file) else None


def lock_file(file: str) -> Path:
    """Held by whoever changes a model file."""
    return folder() / f".{file}.lock"


def partial_file(file: str) -> Path:
    """Where a model file grows until it is complete and verified."""
    return folder() / f".{file}.part"


def partial_origin_file(file: str) -> Path:
    """Records which file a partial file belongs to."""
    return folder() / f".{file}.part.json"


def pip_folder(file: str) -> Path:
    """Where pip puts one part of a model file at a time."""
    return folder() / f".{file}.pip"


def manifest_file(file: str) -> Path:
    return folder() / f"{file}.json"


def delete(file: str) -> int | None:
    """Delete a model file and the remains of an unfinished download.

    Returns the number of bytes freed, or None if there was nothing to delete. A model that is
    being downloaded cannot be deleted.
    """
    found = [each for each in (folder() / file, partial_file(file)) if each.is_file()]
    if not found:
        return None
    with files.locked(lock_file(file), seconds=1), files.explained(folder() / file):
        freed = sum(path.stat().st_size for path in found)
        for path in (*found, manifest_file(file), partial_origin_file(file)):
            path.unlink(missing_ok=True)
        shutil.rmtree(pip_folder(file), ignore_errors=True)
    return freed


def is_gguf(path: Path) -> bool:
    """Whether a file starts as a GGUF file does."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read_manifest(file: str) -> Manifest | None:
    """The manifest of a model file; None if there is none that can be read."""
    try:
        return Manifest(**json.loads(manifest_file(file).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_manifest(path: Path, file: str, name: str, source: str, sha256: str) -> None:
    """Vouch for a file that has been hashed; written last, when the file is in its place."""
    stat = path.stat()
    manifest = Manifest(
        name, source, sha256, stat.st_size, stat.st_mtime_ns, _elsewhere(path, file)
    )
    files.write_whole(manifest_file(file), json.dumps(asdict(manifest), indent=1).encode())


def verified(path: Path, file: str, name: str, source: str, sha256: str | None = None) -> bool:
    """Whether a file is what its digest says; hashes it unless the manifest vouches for it.

    Without a digest, the one in the manifest counts, and the first one found is recorded there.
    """
    manifest = read_manifest(file)
    wanted = sha256 or (manifest.sha256 if manifest else None)
    try:
        if manifest and manifest.sha256 == wanted and _unchanged(manifest, path, file):
            return True
        if not is_gguf(path):
            return False
        digest = files.digest(path)
    except OSError:  # it is not there, or cannot be read
        return False
    if wanted and digest != wanted:
        return False
    if manifest and manifest.path == _elsewhere(path, file):
        source = manifest.source  # only its time has changed
    with contextlib.suppress(SticklerError):  # a folder that cannot be written: hashed each time
        write_manifest(path, file, name, source, digest)
    return True


def _unchanged(manifest: Manifest, path: Path, file: str) -> bool:
    stat = path.stat()
    return (manifest.size, manifest.mtime_ns, manifest.path) == (
        stat.st_size,
        stat.st_mtime_ns,
        _elsewhere(path, file),
    )


def _elsewhere(path: Path, file: str) -> str | None:
    return None if path == folder() / file else str(path)

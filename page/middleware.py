"""Middleware of the web server: what is refused, which headers are added, and who may log in."""

import asyncio
import base64
import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from index.errors import SticklerError

MAX_UPLOAD = 5_000_000  # bytes; the longest release so far is 1.2 MB
_MAX_BODY = 1_000_000  # bytes of any other request
_UPLOAD = "/gradio_api/upload"
MCP = "/gradio_api/mcp"
# Routes of Gradio that fetch from elsewhere or that this page has no use for.
_CLOSED_ROUTES = (
    "/gradio_api/file=http",
    "/gradio_api/proxy=",
    "/gradio_api/process_recording",
    "/gradio_api/vibe",
    "/gradio_api/undo-vibe",
    "/gradio_api/deep_link",
    "/gradio_api/dev/",
    "/monitoring",
)
# An event of the page has a name too, but is no endpoint: it is called by its place, as 'predict'.
_CALL = re.compile(r"/gradio_api/(?:call(?:/v2)?|run|api)/+([^/]*)")
_SELF = "'self'"
_POLICY = {
    "default-src": _SELF,
    "script-src": f"{_SELF} 'unsafe-inline' 'unsafe-eval'",  # Gradio writes scripts into its page
    "style-src": f"{_SELF} 'unsafe-inline'",
    "img-src": f"{_SELF} data: blob:",
    "font-src": f"{_SELF} data:",
    "worker-src": f"{_SELF} blob:",
    "object-src": "'none'",
    "base-uri": _SELF,
    "form-action": _SELF,
    "frame-ancestors": _SELF,
}
_HEADERS = [
    (b"content-security-policy", "; ".join(f"{k} {v}" for k, v in _POLICY.items()).encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]
_DELAY = 1.0  # seconds that a wrong password costs

PasswordCheck = Callable[[str, str], Awaitable[bool]]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class RequestFilter:
    """Refuses what the page does not need, and tells browsers to load nothing from elsewhere."""

    def __init__(
        self,
        app: Any,
        names: Collection[str],
        own_machine_only: bool = True,
        check: PasswordCheck | None = None,
    ) -> None:
        self._app = app
        self._names = {*names, "predict"}
        self._own_machine_only = own_machine_only
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope["path"], headers) or await self._mcp_refusal(
            scope["path"], headers
        )
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        body = _Body(receive, _max_body(scope["path"]))

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self._app(scope, body.receive, send_with_headers)

    def _refusal(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        call = _CALL.match(path)
        if path.startswith(_CLOSED_ROUTES) or (call and call[1] not in self._names):
            return 403, "This is not available here."
        if self._own_machine_only and not is_loopback(_host(headers)):
            # Another name for this machine: a page from elsewhere may be behind it.
            return 403, "Open this page as http://127.0.0.1, or start it with --host."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > _max_body(path):
            return 413, "This is too large."
        return None

    async def _mcp_refusal(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Gradio asks nobody for a password here, and a page from elsewhere may call it."""
        if not path.startswith(MCP):
            return None
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc != headers.get(b"host"):
            return 403, "This is not available to other sites."
        if self._check is not None and not await self._check(*_basic_login(headers)):
            return 401, "Send the header Authorization: Basic, with NAME:PASSWORD in base64."
        return None


class _Body:
    """A request's body that ends the connection where it grows too large without announcing it."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else {"type": "http.disconnect"}


def _max_body(path: str) -> int:
    return MAX_UPLOAD + _MAX_BODY if path.startswith(_UPLOAD) else _MAX_BODY


async def _refuse(send: Send, status: int, message: str) -> None:
    kind = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": kind})
    await send({"type": "http.response.body", "body": message.encode()})


def _host(headers: dict[bytes, bytes]) -> str:
    host = headers.get(b"host", b"").decode("latin-1")
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _basic_login(headers: dict[bytes, bytes]) -> tuple[str, str]:
    """Name and password of a request's header Authorization; both empty where there is none."""
    kind, _, coded = headers.get(b"authorization", b"").partition(b" ")
    try:
        login = base64.b64decode(coded, validate=True).decode() if kind.lower() == b"basic" else ""
    except ValueError:
        return "", ""
    name, _, secret = login.partition(":")
    return name, secret


def is_loopback(host: str) -> bool:
    """True for a name or address that only this machine answers to."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def login_of(auth: str) -> tuple[str, str]:
    """The name and the password of 'user:password'."""
    name, _, secret = auth.partition(":")
    if not (name and secret):
        raise SticklerError("The login is not NAME:PASSWORD: give both, separated by a colon.")
    return name, secret


def password_check(auth: str | None) -> PasswordCheck | None:
    """Gives the check of a login from 'user:password'; None where everyone may enter."""
    if not auth:
        return None
    name, secret = login_of(auth)

    async def check(user: str, password: str) -> bool:
        right_name = hmac.compare_digest(user.encode(), name.encode())
        right_secret = hmac.compare_digest(password.encode(), secret.encode())
        if right_name and right_secret:
            return True
        await asyncio.sleep(_DELAY)
        return False

    return check

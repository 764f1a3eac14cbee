"""The middleware: what it refuses, what it tells browsers, who may log in."""

import asyncio

import pytest

from index.errors import SticklerError
from page import middleware


def visit(path="/", host="127.0.0.1:7860", body=(), own_machine_only=True, **headers):
    """Send a request through the filter; returns status, headers, and the bytes that went in."""
    taken, sent = [], []

    async def app(scope, receive, send):
        while (message := await receive())["type"] == "http.request":
            taken.append(message["body"])
            if not message["more_body"]:
                break
        taken.append(message["type"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    parts = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    parts.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    named = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in named.items()]
    scope = {"type": "http", "path": path, "headers": raw}
    asyncio.run(middleware.RequestFilter(app, ["ask"], own_machine_only)(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), taken


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=http://example.com/x",
        "/gradio_api/file=https://example.com/x",
        "/gradio_api/proxy=https://example.com/x",
        "/gradio_api/call/vote",
        "/gradio_api/call/v2/halt",
        "/gradio_api/run/add",
        "/gradio_api/call//vote",
        "/monitoring/summary",
        "/gradio_api/vibe-edit/",
    ],
)
def test_what_the_page_does_not_need_is_shut(path):
    assert visit(path)[0] == 403


@pytest.mark.parametrize(
    "path",
    ["/", "/gradio_api/call/ask", "/gradio_api/call/ask/0a1b", "/gradio_api/call/v2/ask",
     "/gradio_api/run/predict", "/gradio_api/queue/join"],
)  # fmt: skip
def test_what_it_needs_is_open(path):
    assert visit(path)[0] == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:7860", "[::1]:7860", "127.1.2.3:1"])
def test_a_page_for_this_machine_answers_to_its_names(host):
    assert visit(host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.2", ""])
def test_a_page_for_this_machine_answers_to_no_other_name(host):
    assert visit(host=host)[0] == 403
    assert visit(host=host, own_machine_only=False)[0] == 200


def test_browsers_are_told_to_load_nothing_from_elsewhere():
    _, headers, _ = visit()
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "http" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"content-security-policy" in visit("/monitoring")[1]


def test_a_request_that_says_it_is_too_large_is_refused():
    assert visit("/gradio_api/queue/join", content_length="1000001")[0] == 413
    assert visit("/gradio_api/queue/join", content_length="many")[0] == 413
    assert visit("/gradio_api/upload", content_length="5000000")[0] == 200


def test_a_request_that_grows_too_large_is_cut_off():
    _, _, taken = visit("/gradio_api/queue/join", body=[b"x" * 400_000] * 5)
    assert taken[-1] == "http.disconnect"
    assert sum(len(part) for part in taken[:-1]) <= 1_000_000


def test_only_the_right_name_and_password_enter(monkeypatch):
    monkeypatch.setattr(middleware, "_DELAY", 0)
    check = middleware.password_check("ana:pass:wörd")
    assert asyncio.run(check("ana", "pass:wörd"))
    for name, secret in (("ana", "pass"), ("bo", "pass:wörd"), ("", ""), ("ana", "")):
        assert not asyncio.run(check(name, secret))


@pytest.mark.parametrize("auth", [None, ""])
def test_without_a_password_all_may_enter(auth):
    assert middleware.password_check(auth) is None


@pytest.mark.parametrize("auth", ["ana", "ana:", ":secret", ":"])
def test_half_a_password_is_an_error(auth):
    with pytest.raises(SticklerError, match="NAME:PASSWORD"):
        middleware.password_check(auth)

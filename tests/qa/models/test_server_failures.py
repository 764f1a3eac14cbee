"""Whatever fails at a server or its address is told in one sentence."""

import socket
import threading

import pytest
from loopback import ASK, BUSY, FINE, MODELS, event, events, failure, hang, reply

from index.errors import SticklerError
from qa.models import load, server
from qa.models.server import ServerModel

pytestmark = pytest.mark.usefixtures("no_key_and_little_patience")


def test_an_address_that_offers_no_model_is_told(fake):
    with pytest.raises(SticklerError, match="offers no model: load one"):
        load(fake(reply({"data": []})).address)
    with pytest.raises(SticklerError, match="does not list its models: check the address"):
        load(fake(reply({"models": 3})).address)


def test_a_server_that_stays_busy_is_told(fake):
    one = fake(BUSY, BUSY, BUSY, FINE)
    assert "answered with HTTP 503 (loading): wait, then ask again" in failure(one.address)
    assert len(one.requests) == 3


def test_a_server_that_is_not_running_is_told():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert failure(address) == f"No server answers at {address} (Connection refused): start it."
    assert "No server answers at http://no-such-host.invalid/v1 (" in failure(
        "http://no-such-host.invalid/v1"
    )


def test_an_unknown_model_is_told_with_what_there_is(fake):
    one = fake(reply({"error": "model 'small' not found"}, 404), MODELS)
    assert failure(one.address) == (
        f"The server at {one.address} has no model 'small': choose one of a, b, c, d, e or 2 more."
    )


def test_a_wrong_path_is_told(fake):
    one = fake(reply(b"nothing", 404), reply(b"nothing", 404))
    assert "has no /chat/completions: check the address, which usually" in failure(one.address)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply({"error": {"message": "out of memory"}}, 500), "HTTP 500 (out of memory): look at"),
        (reply(b"<html>", 500), "HTTP 500 (it does not say why): look at its log"),
        (reply(b"<html>It works!</html>", kind="text/html"), "in JSON ('<html>It works!</html>')"),
        (reply(b'{"choices": [', kind="application/json"), "did not answer in JSON"),
        (reply(b"[" * 100_000), "did not answer in JSON"),
        (reply(["choices"]), "did not answer in JSON"),
        (reply({"id": 1}), "answered without any choices: check the address"),
        (reply({"choices": []}), "answered without any choices: check the address"),
        (reply({"choices": [7]}), "answered without any choices: check the address"),
        (events(), "answered without any choices: check the address"),
        (events("[DONE]"), "answered without any choices: check the address"),
        (events({"error": {"message": "no slot"}}), "failed (no slot): look at its log"),
        (reply(b"data: nonsense\n\n", kind="text/event-stream"), "in JSON (' nonsense')"),
    ],
)
def test_an_answer_that_is_none_is_told(fake, answer, said):
    one = fake(answer)
    sentence = failure(one.address)
    assert sentence.startswith(f"The server at {one.address} ")
    assert said in sentence
    assert len(one.requests) == 1


def cut_in_chunks(handler):
    handler.protocol_version = "HTTP/1.1"
    handler.head(kind="text/event-stream", **{"Transfer-Encoding": "chunked"})
    handler.wfile.write(b"%x\r\n%s\r\nff\r\ndata: {" % (len(event("Excess ")), event("Excess ")))
    handler.close_connection = True


@pytest.mark.parametrize("cut", [events("Excess "), cut_in_chunks])
def test_what_came_before_a_break_is_given(fake, cut):
    one = fake(cut, FINE)
    pieces = ServerModel(f"small@{one.address}").stream(ASK, threading.Event())
    assert next(pieces) == "Excess "
    with pytest.raises(SticklerError, match="stopped in the middle of its answer"):
        next(pieces)
    assert len(one.requests) == 1


@pytest.mark.parametrize("mute", [hang, lambda handler: handler.connection.recv(1)])
def test_a_silent_server_is_given_up(fake, monkeypatch, mute):
    monkeypatch.setattr(server, "PIECE_SECONDS", 0.3)
    one = fake(mute, FINE)
    assert "sent nothing for 0.3 seconds: ask again" in failure(one.address)
    assert len(one.requests) == 1


def test_a_redirect_is_not_followed(fake, monkeypatch):
    monkeypatch.setenv(server.KEY, "secret")
    other = fake(FINE)
    one = fake(reply(b"", 307, Location=f"{other.address}/chat/completions"))
    assert f"redirects to '{other.address}/chat/completions', which is not" in failure(one.address)
    assert other.requests == []


def test_a_key_is_never_shown(fake, monkeypatch):
    monkeypatch.setenv(server.KEY, "top-secret")
    assert "top-secret" not in failure(fake(reply({"error": "bad key top-secret"}, 401)).address)
    assert "(bad key ***)" in failure(fake(reply({"error": "bad key top-secret"}, 400)).address)
    monkeypatch.setenv(server.KEY, "top-\nsecret")
    one = fake(FINE)
    assert "secret" not in failure(one.address)
    assert one.requests == []


@pytest.mark.parametrize(
    "name",
    [
        "ftp://127.0.0.1/v1",
        "small@file:///etc/passwd://",
        "http://",
        "small@http:///v1",
        "small@http://host:port/v1",
        "small@http://host:99999/v1",
        "small@http://[::1/v1",
        "small@http://host/v1?key=top-secret",
        "http://user:top-secret@host/v1",
        "small@http://ho st/v1",
        "small@http://host/v1\r\nX: y",
    ],
)
def test_an_address_that_cannot_be_one_is_told(name):
    with pytest.raises(SticklerError, match=r"write MODEL@http://HOST:PORT/v1") as caught:
        load(name)
    assert "top-secret" not in str(caught.value)

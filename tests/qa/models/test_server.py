"""A server's model answers, stops when it is told to, and each failure is one sentence."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from index.errors import SticklerError
from qa.models import Prompt, load, server
from qa.models.server import Server

ASK = Prompt("Be brief.", "What is trample?")
PARIS = Prompt("Answer in one sentence.", "What is the capital of France?")
LONG = Prompt("", "Write a long essay about the history of France.")


class Fake(ThreadingHTTPServer):
    """A server on the loopback address that gives the replies it was told, one a request."""

    daemon_threads = True

    def __init__(self, *replies):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.requests, self.hung_up = list(replies), [], threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}).start()

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of the tests


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        size = int(self.headers.get("Content-Length", 0))
        self.server.requests.append((self.path, self.headers, self.rfile.read(size)))
        self.server.replies.pop(0)(self)

    do_GET = do_POST = answer

    def log_message(self, *args):
        pass

    def head(self, status=200, kind="application/json", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def reply(body, status=200, kind="application/json", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler):
        handler.head(status, kind, **headers)
        handler.wfile.write(data)

    return send


def events(*parts):
    return reply(b"".join(event(part) for part in parts), kind="text/event-stream")


def event(part):
    if isinstance(part, str) and part != "[DONE]":
        part = {"choices": [{"delta": {"content": part}, "finish_reason": None}]}
    return f"data: {part if isinstance(part, str) else json.dumps(part)}\n\n".encode()


def hang(handler):
    """One piece, then silence until the client is gone."""
    handler.head(kind="text/event-stream")
    handler.wfile.write(event("Excess"))
    handler.connection.settimeout(10)
    if handler.connection.recv(1) == b"":
        handler.server.hung_up.set()


BUSY = reply({"error": {"message": "loading"}}, 503)
FINE = events("Excess ", "damage.", "[DONE]")
MODELS = reply({"data": [{"id": name} for name in "abcdefg"]})


@pytest.fixture
def fake():
    started = []

    def start(*replies):
        started.append(Fake(*replies))
        return started[-1]

    yield start
    for one in started:
        one.shutdown()
        one.server_close()


@pytest.fixture(autouse=True)
def no_key_and_little_patience(monkeypatch):
    monkeypatch.delenv(server.KEY, raising=False)
    monkeypatch.setattr(server, "BACK_OFF", (0.01, 0.01))


def asked(address, model="small"):
    return Server(f"{model}@{address}").generate([ASK], 50)[0]


def failure(address):
    with pytest.raises(SticklerError) as caught:
        asked(address)
    return str(caught.value)


@pytest.fixture
def real(model, monkeypatch):
    """A llama.cpp server, as every Gguf model is one behind its key."""
    monkeypatch.setenv(server.KEY, model._key)
    return Server(f"{model._engine.listening_address}/v1")


def test_a_real_server_answers(real, model):
    assert real.model.endswith("smollm2-f16.gguf")
    answers = real.generate([PARIS, PARIS], 24)
    assert "Paris" in answers[0]
    assert answers[0] == answers[1] == model.generate([PARIS], 24)[0]
    pieces = list(real.stream(PARIS, 24, threading.Event()))
    assert len(pieces) > 3
    assert "".join(pieces) == answers[0]


def test_a_real_server_stops_computing(real, falls_idle):
    stop = threading.Event()
    pieces = real.stream(LONG, 3000, stop)
    next(pieces)
    stop.set()
    since = time.monotonic()
    assert list(pieces) == []
    assert time.monotonic() - since < 0.5
    assert falls_idle()


def test_a_real_server_wants_its_key(real, monkeypatch):
    monkeypatch.delenv(server.KEY)
    assert failure(real.address) == f"The server at {real.address} wants a key: set {server.KEY}."
    monkeypatch.setenv(server.KEY, "wrong-key")
    assert failure(real.address).endswith(f"refuses the key in {server.KEY}: set another.")


def test_a_request_says_what_is_wanted(fake, monkeypatch):
    monkeypatch.setenv(server.KEY, "secret")
    one = fake(FINE)
    assert asked(one.address) == "Excess damage."
    path, headers, body = one.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert json.loads(body) == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is trample?"},
        ],
        "temperature": 0,
        "max_tokens": 50,
        "stream": True,
    }


def test_no_key_is_made_up(fake):
    one = fake(FINE)
    asked(one.address)
    assert one.requests[0][1]["Authorization"] is None


def test_an_address_alone_takes_the_first_model(fake):
    one = fake(MODELS, FINE)
    model = load(one.address + "/")
    assert (model.name, model.context) == (f"a@{one.address}", 4096)
    assert model.hash == Server(f"a@{one.address}").hash != Server(f"b@{one.address}").hash
    assert len(model.hash) == 16
    assert model.generate([ASK], 5) == ["Excess damage."]


def test_an_address_that_offers_no_model_is_told(fake):
    with pytest.raises(SticklerError, match="offers no model: load one"):
        load(fake(reply({"data": []})).address)
    with pytest.raises(SticklerError, match="does not list its models: check the address"):
        load(fake(reply({"models": 3})).address)


def test_tokens_are_estimated(fake):
    model = Server("small@http://127.0.0.1:1/v1")
    assert [model.count(text) for text in ("", "a", "seven..", "eight...")] == [0, 1, 2, 3]


def test_pieces_survive_any_framing(fake):
    def send(handler):
        handler.head(kind="text/event-stream; charset=utf-8")
        lines = (
            b": a comment\r\n\r\nevent: message\r\n",
            event({"choices": [{"delta": {"role": "assistant", "content": None}}]}),
            b'data:{"choices":[{"delta":{"content":"' + "Müll".encode() + b'"}}]}\n\n',
            event({"choices": [], "usage": {"total_tokens": 7}}),
            event({"choices": [{"delta": {"content": "!"}, "finish_reason": "stop"}]}),
        )
        for byte in b"".join(lines):
            handler.wfile.write(bytes([byte]))

    assert asked(fake(send).address) == "Müll!"


def test_an_answer_that_does_not_stream_is_taken_whole(fake):
    whole = {"choices": [{"message": {"role": "assistant", "content": "Excess damage."}}]}
    assert asked(fake(reply(whole)).address) == "Excess damage."


def test_half_a_surrogate_does_not_reach_the_server(fake):
    one = fake(FINE)
    Server(f"small@{one.address}").generate([Prompt("", "odd \ud83d")], 5)
    assert json.loads(one.requests[0][2])["messages"] == [{"role": "user", "content": "odd ?"}]


def test_a_busy_server_is_asked_again(fake):
    one = fake(BUSY, reply(b"slow down", 429), FINE)
    assert asked(one.address) == "Excess damage."
    assert len(one.requests) == 3


def test_a_server_that_stays_busy_is_told(fake):
    one = fake(BUSY, BUSY, BUSY, FINE)
    assert "answered with HTTP 503 (loading): wait, then ask again" in failure(one.address)
    assert len(one.requests) == 3


def test_a_server_that_hangs_up_first_is_asked_again(fake):
    one = fake(lambda handler: None, FINE)
    assert asked(one.address) == "Excess damage."


def test_a_server_that_is_not_running_is_told():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert failure(address) == (
        f"No server answers at {address} (Connection refused): start it or choose another --model."
    )
    assert "No server answers at http://no-such-host.invalid/v1 (" in failure(
        "http://no-such-host.invalid/v1"
    )


def test_an_unknown_model_is_told_with_what_there_is(fake):
    one = fake(reply({"error": "model 'small' not found"}, 404), MODELS)
    assert failure(one.address) == (
        f"The server at {one.address} knows no model 'small': choose of a, b, c, d, e or 2 more."
    )


def test_a_wrong_path_is_told(fake):
    one = fake(reply(b"nothing", 404), reply(b"nothing", 404))
    assert "has no /chat/completions: check the address, which mostly" in failure(one.address)


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
    pieces = Server(f"small@{one.address}").stream(ASK, 50, threading.Event())
    assert next(pieces) == "Excess "
    with pytest.raises(SticklerError, match="broke off in the middle of its answer"):
        next(pieces)
    assert len(one.requests) == 1


@pytest.mark.parametrize("mute", [hang, lambda handler: handler.connection.recv(1)])
def test_a_silent_server_is_given_up(fake, monkeypatch, mute):
    monkeypatch.setattr(server, "PIECE_SECONDS", 0.3)
    one = fake(mute, FINE)
    assert "said nothing for 0.3 seconds: ask again" in failure(one.address)
    assert len(one.requests) == 1


def test_a_redirect_is_not_followed(fake, monkeypatch):
    monkeypatch.setenv(server.KEY, "secret")
    other = fake(FINE)
    one = fake(reply(b"", 307, Location=f"{other.address}/chat/completions"))
    assert f"points to '{other.address}/chat/completions', which is not" in failure(one.address)
    assert other.requests == []


def test_a_key_is_never_shown(fake, monkeypatch):
    monkeypatch.setenv(server.KEY, "top-secret")
    assert "top-secret" not in failure(fake(reply({"error": "bad key top-secret"}, 401)).address)
    assert "(bad key ***)" in failure(fake(reply({"error": "bad key top-secret"}, 400)).address)
    monkeypatch.setenv(server.KEY, "top-\nsecret")
    one = fake(FINE)
    assert "secret" not in failure(one.address)
    assert one.requests == []


def test_a_stop_hangs_up_at_once(fake):
    one, stop = fake(hang), threading.Event()
    pieces = Server(f"small@{one.address}").stream(ASK, 50, stop)
    assert next(pieces) == "Excess"
    threading.Timer(0.1, stop.set).start()
    since = time.monotonic()
    assert list(pieces) == []
    assert time.monotonic() - since < 1
    assert one.hung_up.wait(1)


def test_a_stream_that_is_left_hangs_up(fake):
    one = fake(hang)
    pieces = Server(f"small@{one.address}").stream(ASK, 50, threading.Event())
    next(pieces)
    pieces.close()
    assert one.hung_up.wait(1)


def test_a_stop_does_not_wait_for_the_next_try(fake, monkeypatch):
    monkeypatch.setattr(server, "BACK_OFF", (30, 30))
    one, stop = fake(BUSY, FINE), threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert list(Server(f"small@{one.address}").stream(ASK, 50, stop)) == []
    assert len(one.requests) == 1


def test_a_stop_that_is_set_already_asks_nothing(fake):
    one, stop = fake(), threading.Event()
    stop.set()
    assert list(Server(f"small@{one.address}").stream(ASK, 50, stop)) == []
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

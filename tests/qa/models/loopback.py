"""A server that says what a test tells it to, and the model behind it as it is asked."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from index.errors import SticklerError
from qa.models import Prompt, Request
from qa.models.server import ServerModel

ASK = Request(Prompt("Be brief.", "What is trample?"), 50)


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


def asked(address, model="small"):
    return ServerModel(f"{model}@{address}").generate([ASK])[0].text


def failure(address):
    with pytest.raises(SticklerError) as caught:
        asked(address)
    return str(caught.value)

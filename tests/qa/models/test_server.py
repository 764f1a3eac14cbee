"""A server's model is asked as it wants to be, answers, and stops when it is told to."""

import json
import threading
import time

import pytest
from asking import PARIS, stopped, streamed, text
from loopback import ASK, BUSY, FINE, MODELS, asked, event, failure, hang, reply

from qa.models import Prompt, Request, load, server
from qa.models.server import ServerModel

pytestmark = pytest.mark.usefixtures("no_key_and_little_patience")


@pytest.fixture
def real(model, monkeypatch):
    """A llama.cpp server, as every Gguf model is one behind its key."""
    monkeypatch.setenv(server.KEY, model._key)
    return ServerModel(f"{model._engine.listening_address}/v1")


def test_a_real_server_answers(real, model):
    assert real.model.endswith(model.name)
    answers = [each.text for each in real.generate([PARIS, PARIS])]
    assert "Paris" in answers[0]
    assert answers[0] == answers[1] == text(model, PARIS)
    pieces = streamed(real, PARIS)
    assert len(pieces) > 3
    assert "".join(pieces) == answers[0]


def test_a_real_server_tells_how_an_answer_may_open(real, model):
    request = Request(Prompt("Answer with yes or no.", "Is Paris in France?"), 0, ("Yes", "No"))
    (theirs,), (ours,) = real.generate([request]), model.generate([request])
    assert theirs.probabilities["Yes"] == pytest.approx(ours.probabilities["Yes"], abs=0.05)
    assert theirs.text == ""


@pytest.mark.parametrize("logprobs", [None, {}, {"content": []}, {"content": [{"token": "Yes"}]}])
def test_a_server_that_tells_no_probabilities_is_believed_by_its_words(fake, logprobs):
    silent = {"choices": [{"message": {"content": "Yes"}, "logprobs": logprobs}]}
    one = fake(reply(silent), FINE)
    request = Request(ASK.prompt, 50, ("Yes", "No"))
    (found,) = ServerModel(f"small@{one.address}").generate([request])
    assert found == ("Excess damage.", None, None)


def test_a_server_that_refuses_to_tell_probabilities_still_answers(fake):
    one = fake(reply({"error": {"message": "logprobs are not supported"}}, 400), FINE)
    request = Request(ASK.prompt, 50, ("Yes", "No"))
    (found,) = ServerModel(f"small@{one.address}").generate([request])
    assert found == ("Excess damage.", None, None)


def test_a_real_server_stops_computing(real, falls_idle):
    rest, seconds = stopped(real)
    assert rest == []
    assert seconds < 0.5
    assert falls_idle()


def test_a_real_server_wants_its_key(real, monkeypatch):
    monkeypatch.delenv(server.KEY)
    assert (
        failure(real.address) == f"The server at {real.address} requires a key: set {server.KEY}."
    )
    monkeypatch.setenv(server.KEY, "wrong-key")
    assert failure(real.address).endswith(f"rejects the key in {server.KEY}: set another.")


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
    assert (
        model.hash == ServerModel(f"a@{one.address}").hash != ServerModel(f"b@{one.address}").hash
    )
    assert len(model.hash) == 16
    assert text(model, ASK) == "Excess damage."


def test_tokens_are_estimated(fake):
    model = ServerModel("small@http://127.0.0.1:1/v1")
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
    ServerModel(f"small@{one.address}").generate([Request(Prompt("", "odd \ud83d"), 5)])
    assert json.loads(one.requests[0][2])["messages"] == [{"role": "user", "content": "odd ?"}]


def test_a_busy_server_is_asked_again(fake):
    one = fake(BUSY, reply(b"slow down", 429), FINE)
    assert asked(one.address) == "Excess damage."
    assert len(one.requests) == 3


def test_a_server_that_hangs_up_first_is_asked_again(fake):
    one = fake(lambda handler: None, FINE)
    assert asked(one.address) == "Excess damage."


def test_a_stop_hangs_up_at_once(fake):
    one, stop = fake(hang), threading.Event()
    pieces = ServerModel(f"small@{one.address}").stream(ASK, stop)
    assert next(pieces) == "Excess"
    threading.Timer(0.1, stop.set).start()
    since = time.monotonic()
    assert list(pieces) == []
    assert time.monotonic() - since < 1
    assert one.hung_up.wait(1)


def test_a_stream_that_is_left_hangs_up(fake):
    one = fake(hang)
    pieces = ServerModel(f"small@{one.address}").stream(ASK, threading.Event())
    next(pieces)
    pieces.close()
    assert one.hung_up.wait(1)


def test_a_stop_does_not_wait_for_the_next_try(fake, monkeypatch):
    monkeypatch.setattr(server, "BACK_OFF", (30, 30))
    one, stop = fake(BUSY, FINE), threading.Event()
    threading.Timer(0.1, stop.set).start()
    assert list(ServerModel(f"small@{one.address}").stream(ASK, stop)) == []
    assert len(one.requests) == 1


def test_a_stop_that_is_set_already_asks_nothing(fake):
    one, stop = fake(), threading.Event()
    stop.set()
    assert list(ServerModel(f"small@{one.address}").stream(ASK, stop)) == []
    assert one.requests == []

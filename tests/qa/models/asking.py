"""What the real models are asked, and how one is stopped in the middle of it."""

import threading
import time

from qa.models import Prompt, Request

PARIS = Request(Prompt("Answer in one sentence.", "What is the capital of France?"), 24)
LONG = Request(Prompt("", "Write a long essay about the history of France."), 3000)


def text(model, request):
    """What a model answers to one request."""
    return model.generate([request])[0].text


def streamed(model, request, stop=None):
    """The pieces that a model streams."""
    return list(model.stream(request, stop or threading.Event()))


def stopped(model):
    """What a model still says once it is told to stop, and the seconds until it is silent."""
    stop = threading.Event()
    pieces = model.stream(LONG, stop)
    next(pieces)
    stop.set()
    since = time.monotonic()
    return list(pieces), time.monotonic() - since

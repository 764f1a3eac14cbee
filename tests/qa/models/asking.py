"""What the real models are asked, and how one is stopped in the middle of it."""

import threading
import time

from qa.models import Prompt

PARIS = Prompt("Answer in one sentence.", "What is the capital of France?")
LONG = Prompt("", "Write a long essay about the history of France.")


def stopped(model):
    """What a model still says once it is told to stop, and the seconds until it is silent."""
    stop = threading.Event()
    pieces = model.stream(LONG, 3000, stop)
    next(pieces)
    stop.set()
    since = time.monotonic()
    return list(pieces), time.monotonic() - since

"""A queue: a few visitors are served at once, the others in order of arrival, up to a limit."""

import contextlib
import threading
from collections.abc import Iterator

from index.errors import SticklerError


class Busy(SticklerError):
    """The queue is full."""


class Queue:
    """Serves `at_once` visitors at a time; with the others at most `capacity` are in the queue."""

    def __init__(self, at_once: int, capacity: int) -> None:
        self._at_once = at_once
        self._capacity = capacity
        self._places: list[Place] = []
        self._moved = threading.Condition()

    def __len__(self) -> int:
        """How many are served or waiting."""
        return len(self._places)

    @contextlib.contextmanager
    def join(self) -> Iterator["Place"]:
        """A place in the queue, given up at the end; Busy, at once, where the queue is full."""
        place = Place(self)
        with self._moved:
            if len(self._places) >= self._capacity:
                raise Busy(
                    f"Stickler is busy: {len(self._places)} questions are waiting. "
                    "Ask again in a minute."
                )
            self._places.append(place)
        try:
            yield place
        finally:
            with self._moved:
                self._places.remove(place)
                self._moved.notify_all()

    def wait(self, place: "Place", seconds: float) -> int:
        """How many are still ahead of a place, after waiting at most so long for its turn."""
        with self._moved:
            self._moved.wait_for(lambda: not self._count_ahead(place), seconds)
            return self._count_ahead(place)

    def _count_ahead(self, place: "Place") -> int:
        return max(0, self._places.index(place) - self._at_once + 1)


class Place:
    """One visitor's place in a queue."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def wait(self, seconds: float) -> int:
        """How many are still ahead; 0 when it is this one's turn, waited for at most so long."""
        return self._queue.wait(self, seconds)

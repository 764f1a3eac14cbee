"""A line to wait in: a few are served at once, the others in the order they came, not too many."""

import contextlib
import threading
from collections.abc import Iterator

from index.errors import SticklerError


class Busy(SticklerError):
    """The line is full."""


class Queue:
    def __init__(self, places: int, longest: int) -> None:
        self._places = places
        self._longest = longest
        self._waiting: list[Place] = []
        self._moved = threading.Condition()

    @contextlib.contextmanager
    def place(self) -> Iterator["Place"]:
        """A place in the line, given up at the end; where the line is full, an error at once."""
        place = Place(self)
        with self._moved:
            if len(self._waiting) >= self._longest:
                raise Busy(
                    f"Stickler is busy: {len(self._waiting)} questions are waiting. "
                    "Ask again in a minute."
                )
            self._waiting.append(place)
        try:
            yield place
        finally:
            with self._moved:
                self._waiting.remove(place)
                self._moved.notify_all()

    def ahead(self, place: "Place", seconds: float) -> int:
        with self._moved:
            self._moved.wait_for(lambda: not self._before(place), seconds)
            return self._before(place)

    def _before(self, place: "Place") -> int:
        return max(0, self._waiting.index(place) - self._places + 1)


class Place:
    """One visitor's place."""

    def __init__(self, line: Queue) -> None:
        self._line = line

    def ahead(self, seconds: float) -> int:
        """How many go first; 0 when it is this one's turn, waited for at most so long."""
        return self._line.ahead(self, seconds)

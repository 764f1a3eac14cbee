"""How long the parts of an answer took."""

import time


class Stopwatch:
    """Milliseconds since the question arrived."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Record a moment, the first time it occurs."""
        self._laps.setdefault(name, self._elapsed())

    def timings(self) -> dict[str, float]:
        """The moments so far, and the time up to now as total_ms."""
        return {**self._laps, "total_ms": self._elapsed()}

    def _elapsed(self) -> float:
        return round((time.perf_counter() - self._start) * 1000, 1)

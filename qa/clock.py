"""How long the parts of an answer took."""

import time


class Clock:
    """Milliseconds since the question came."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._noted: dict[str, float] = {}

    def note(self, name: str) -> None:
        """Note a moment, the first time that it comes."""
        self._noted.setdefault(name, round((time.perf_counter() - self._start) * 1000, 1))

    def total(self) -> dict[str, float]:
        return {**self._noted, "total_ms": round((time.perf_counter() - self._start) * 1000, 1)}

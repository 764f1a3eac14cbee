"""Timing shared by the benchmarks: the best of several interleaved runs, and a table."""

import resource
import sys
import time
from collections.abc import Callable


def best(*steps: Callable[[], object], rounds: int = 5) -> list[float]:
    """The shortest time of each step in seconds; the steps take turns, so that noise hits all."""
    times = [float("inf")] * len(steps)
    for _ in range(rounds):
        for place, step in enumerate(steps):
            start = time.perf_counter()
            step()
            times[place] = min(times[place], time.perf_counter() - start)
    return times


def memory_mb() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def row(what: str, value: str, reference: str, ratio: float, goal: str = "") -> None:
    print(f"| {what} | {value} | {reference} | {ratio:.2f} | {goal} |", flush=True)


def head(title: str) -> None:
    print(f"\n## {title}\n\n| what | time | reference | ratio | goal |")
    print("| --- | --- | --- | --- | --- |", flush=True)

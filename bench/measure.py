"""Timing shared by the benchmarks: the best of several interleaved runs, and a table."""

import resource
import time
from collections.abc import Callable
from pathlib import Path


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
    """The most memory that this process has held (a child's own: getrusage counts the parent's)."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024  # macOS counts bytes


def row(what: str, value: str, reference: str, ratio: float, goal: str = "") -> None:
    print(f"| {what} | {value} | {reference} | {ratio:.2f} | {goal} |", flush=True)


def head(title: str) -> None:
    print(f"\n## {title}\n\n| what | time | reference | ratio | goal |")
    print("| --- | --- | --- | --- | --- |", flush=True)

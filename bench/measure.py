"""Timing shared by the benchmarks: the best of several interleaved runs, and a table."""

import contextlib
import itertools
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from unittest import mock


def best(*steps: Callable[[], object], rounds: int = 5) -> list[float]:
    """The shortest time of each step in seconds; the steps take turns, so that noise hits all."""
    times = [float("inf")] * len(steps)
    for _ in range(rounds):
        for place, step in enumerate(steps):
            start = time.perf_counter()
            step()
            times[place] = min(times[place], time.perf_counter() - start)
    return times


def numbered(question: str) -> Iterator[str]:
    """The question with a different number each time, so that it is never in the answer cache."""
    return (f"{question} ({number})" for number in itertools.count(1))


def command(*words: str) -> None:
    """Run a command to its end; its output is discarded, but a failure is reported.

    Bytecode is cached between runs, as for an installed command.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:200]} failed: {done.stderr}")


@contextlib.contextmanager
def empty_home() -> Iterator[Path]:
    """An empty data folder, which is the one in use until the block ends."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {"STICKLER_HOME": folder}),
    ):
        yield Path(folder)


def memory_mb() -> float:
    """The most memory that this process has held (a child's own: getrusage counts the parent's)."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 1024  # macOS counts bytes


def head(
    title: str, columns: Sequence[str] = ("what", "time", "reference", "ratio", "goal")
) -> None:
    """The head of a table in Markdown."""
    print(f"\n## {title}\n\n| {' | '.join(columns)} |")
    print(f"|{' --- |' * len(columns)}", flush=True)


def row(what: str, value: str, reference: str, ratio: float, goal: str = "") -> None:
    """A row of such a table, for a time and its ratio to a reference."""
    print(f"| {what} | {value} | {reference} | {ratio:.2f} | {goal} |", flush=True)

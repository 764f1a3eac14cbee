"""Runs a batch on a Ray cluster, with one loaded model per worker process.

Plain actors rather than Ray Data: answers are keyed by question, so order does not matter; each
finished chunk must reach the journal at once, which belongs to the process that writes the output;
and the chunk of a dead worker goes to another worker, finally question by question, so that a
question that kills its worker costs only its own row. Ray Data has its own blocks, retries and
spilling and would not leave these choices to us.

A cluster joined by address needs Stickler, its models and the same rules on every node: a worker
whose answers would differ from the first worker's is rejected.
"""

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from index.errors import Action, Remedy, SticklerError
from qa.batch.engines import Outcome, answered, chunk_size, made_with
from qa.settings import Settings

_DEATHS = 2  # how often a chunk may kill a worker before it is split, or a question before it fails
_KNOCK = 5.0  # seconds
_START_DEATHS = 3  # of workers that were not ready yet, one after the other


@dataclass(frozen=True, slots=True)
class _Task:
    questions: list[str]
    deaths: int = 0  # of workers that had it


class Worker:
    """Answers in a process of its own."""

    def __init__(self, settings: Settings) -> None:
        from qa.assistant import Assistant

        self._assistant = Assistant(settings)

    def start(self) -> dict[str, str] | str:
        """Load the models; returns what answers depend on, or the reason for a failure."""
        try:
            return made_with(self._assistant)
        except SticklerError as error:
            return str(error)

    def answer(self, questions: list[str]) -> list[Outcome]:
        return answered(self._assistant, questions)


class RayEngine:
    """Answers on a cluster that is either started on this machine or joined by address."""

    def __init__(
        self, settings: Settings, address: str | None = None, workers: int | None = None
    ) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        try:
            import ray
        except ImportError:
            raise SticklerError(
                "Ray is not installed",
                "run \"pip install 'stickler[ray]'\"",
                Remedy(Action.LEAVE_OUT_RAY),
            ) from None
        self.chunk = chunk_size(settings)
        self._ray: Any = ray
        self._settings = settings
        self._address, self._wanted = address, workers
        self._running: dict[Any, tuple[Any, _Task | None]] = {}  # None: it is still loading
        self._idle: list[Any] = []
        self._again: deque[_Task] = deque()
        self._identity: dict[str, str] = {}
        self._start_deaths = 0
        self._asked_all = False

    def __enter__(self) -> "RayEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def made_with(self) -> dict[str, str]:
        """Join the cluster, start the workers, and wait for the first."""
        self._join()
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        for _ in range(self._wanted or max(1, cores)):
            self._hire()
        while not self._identity:
            self._next()
        return self._identity

    def answers(self, chunks: Iterable[list[str]]) -> Iterator[list[Outcome]]:
        waiting = iter(chunks)
        self._asked_all = False
        while True:
            while self._idle and (task := self._task(waiting)):
                worker = self._idle.pop()
                self._running[worker.answer.remote(task.questions)] = (worker, task)
            at_work = any(task for _, task in self._running.values())
            if self._asked_all and not at_work and not self._again:
                return  # workers that are still loading are no longer needed
            if outcomes := self._next():
                yield outcomes

    def _join(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self._address:
                _knock(self._address)
                self._ray.init(address=self._address, **quiet)
            else:
                self._ray.init(address="local", include_dashboard=False, **quiet)
        except self._ray.exceptions.AuthenticationError:
            raise SticklerError(
                f"The Ray cluster at {self._address} needs its token: set RAY_AUTH_MODE to token "
                "and RAY_AUTH_TOKEN to the one that the cluster was started with."
            ) from None
        except (OSError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            where = f"at {self._address}" if self._address else "on this machine"
            raise SticklerError(
                f"No Ray cluster is available {where} ({_first_line(error)})",
                "start one with 'ray start --head'",
                Remedy(Action.LEAVE_OUT_ADDRESS),
            ) from None

    def _task(self, waiting: Iterator[list[str]]) -> _Task | None:
        if self._again:
            return self._again.popleft()
        chunk = next(waiting, None)
        self._asked_all = chunk is None
        return _Task(chunk) if chunk else None

    def _next(self) -> list[Outcome]:
        """Wait until a worker finishes or dies, and return its outcomes."""
        ((ready, *_), _) = self._ray.wait(list(self._running), num_returns=1)
        worker, task = self._running.pop(ready)
        try:
            result = self._ray.get(ready)
        except (
            self._ray.exceptions.RayActorError,
            self._ray.exceptions.OutOfMemoryError,
            self._ray.exceptions.ObjectLostError,
        ) as error:
            self._ray.kill(worker)
            self._hire()
            return self._died(task, error)
        except self._ray.exceptions.RayError as error:
            raise SticklerError(
                f"The Ray cluster failed ({_first_line(error)}): run the same command again to "
                "resume."
            ) from None
        if task is None:
            self._welcome(result)
        self._idle.append(worker)
        return result if task else []

    def _hire(self) -> None:
        worker = self._ray.remote(num_cpus=1)(Worker).remote(self._settings)
        self._running[worker.start.remote()] = (worker, None)

    def _welcome(self, made_with: dict[str, str] | str) -> None:
        if isinstance(made_with, str):
            raise SticklerError(f"A Ray worker could not start: {made_with}")
        self._start_deaths = 0
        self._identity = self._identity or made_with
        if made_with != self._identity:
            differ = ", ".join(k for k, v in made_with.items() if self._identity.get(k) != v)
            raise SticklerError(
                f"The Ray workers do not agree ({differ}): install the same Stickler, models and "
                "rules on every node."
            )

    def _died(self, task: _Task | None, error: Exception) -> list[Outcome]:
        if task is None:
            self._start_deaths += 1
            if self._start_deaths == _START_DEATHS:
                raise SticklerError(
                    f"Ray workers die before they are ready ({_first_line(error)})",
                    "give them more memory",
                    Remedy(Action.FEWER_WORKERS),
                )
        elif task.deaths + 1 < _DEATHS:
            self._again.append(replace(task, deaths=task.deaths + 1))
        elif len(task.questions) > 1:
            self._again.extend(_Task([question]) for question in task.questions)
        else:
            why = f"The worker process died on it {_DEATHS} times ({_first_line(error)})."
            return [Outcome(task.questions[0], None, why)]
        return []


def _knock(address: str) -> None:
    """Fail at once if nothing answers: Ray itself would keep trying for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200] or type(error).__name__

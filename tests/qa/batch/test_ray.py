"""A cluster answers as one process does, and a worker that dies loses nothing."""

import itertools
import secrets
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from eval import items
from index.errors import SticklerError
from qa.assistant import Assistant
from qa.batch.engines import LocalEngine, Outcome
from qa.batch.ray_engine import RayEngine
from qa.batch.run import Job, run
from qa.resources import Resources
from qa.settings import Settings

QUESTIONS = [item.question for item in items.dev()[:30]]
SETTINGS = Settings(model="none")
# Of the confidence the last digit may differ with the size of what is embedded together.
FIELDS = "id,question,text,abstained,reason,citations,hits,model,error"
ROOT = Path(__file__).resolve().parents[3]


# The real thing, on clusters of this machine.


@pytest.fixture(autouse=True)
def data(built_home, monkeypatch):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def expected(searcher, tmp_path):
    """What one process writes."""
    pytest.importorskip("ray", reason="ray is not installed")
    (tmp_path / "in.txt").write_text("\n".join(QUESTIONS))
    counts = work(
        LocalEngine(Assistant(SETTINGS, Resources(searcher=searcher))), tmp_path, "plain.csv"
    )
    return counts, (tmp_path / "plain.csv").read_text("utf-8")


@pytest.fixture
def address(monkeypatch):
    """A cluster of two cores that is there already, with a token of its own."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("ray"), "start", "--head", "--block", "--num-cpus=2"]
    options = ["--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats"]
    process = subprocess.Popen(
        [*command, *options, f"--port={port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for line in process.stdout:
        if "Ray runtime started" in line:
            break
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.communicate(timeout=60)


def work(engine, folder, out):
    engine.chunk = 6
    job = Job(str(folder / "in.txt"), folder / out, fields=FIELDS)
    return run(job, engine, lambda done, total: None, print)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_loses_nothing(expected, tmp_path):
    engine = RayEngine(SETTINGS, workers=2)
    died, lost = engine._died, []

    def noting(task, error):
        lost.append(task)
        return died(task, error)

    engine._died = noting
    killer = threading.Thread(target=kill_one_at_work, args=[lost])
    with engine:
        killer.start()
        counts = work(engine, tmp_path, "ray.csv")
    killer.join()
    assert [len(task.questions) for task in lost] == [6]
    assert (counts, (tmp_path / "ray.csv").read_text("utf-8")) == expected
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "plain.csv", "ray.csv"}


def kill_one_at_work(lost):
    """Kill the first of this process's Ray workers that is seen answering."""
    import psutil

    end = time.monotonic() + 120
    while time.monotonic() < end and not lost:
        for process in psutil.Process().children(recursive=True):
            try:
                name = " ".join(process.cmdline()).strip()  # its title is padded
            except psutil.Error:
                continue
            if name == "ray::Worker.answer":
                process.kill()
                return
        time.sleep(0.02)


@pytest.mark.slow
def test_a_cluster_that_is_joined_writes_what_one_process_writes(expected, address, tmp_path):
    command = [sys.executable, "-m", "cli", "batch", str(tmp_path / "in.txt")]
    options = ["--engine", "ray", "--address", address, "--workers", "1", "--model", "none"]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "ray.csv"), *options, "--fields", FIELDS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "ray.csv").read_text("utf-8") == expected[1]


# What is done about workers that fail, on a cluster that is made up.


class Died(Exception):
    pass


class Call(NamedTuple):
    """What a worker was told, known to Ray by its number."""

    number: int
    kind: str
    given: object

    def __hash__(self):
        return self.number


class MadeUp:
    """As much of Ray as is used; `acts` says what becomes of the questions of a call."""

    def __init__(self, acts, starts=({"code": "1"},)):
        self.acts, self.starts = acts, list(starts)
        self.hired, self.killed, self.numbers = 0, 0, itertools.count()
        self.exceptions = SimpleNamespace(
            RayActorError=Died, OutOfMemoryError=Died, ObjectLostError=Died, RayError=OSError
        )

    def init(self, **options):
        pass

    def cluster_resources(self):
        return {"CPU": 2.0}

    def remote(self, num_cpus):
        return lambda actor: SimpleNamespace(remote=self._hire)

    def _hire(self, settings):
        self.hired += 1
        start = self.starts[min(self.hired, len(self.starts)) - 1]
        return SimpleNamespace(
            start=SimpleNamespace(remote=lambda: Call(next(self.numbers), "start", start)),
            answer=SimpleNamespace(remote=lambda asked: Call(next(self.numbers), "answer", asked)),
        )

    def wait(self, running, num_returns):
        return [running[0]], running[1:]

    def get(self, call):
        if call.given is Died:
            raise Died("Its process ended.\nMore.")
        return call.given if call.kind == "start" else self.acts(call.given)

    def kill(self, worker):
        self.killed += 1


def on(ray):
    engine = RayEngine(SETTINGS, workers=2)
    engine._ray = ray
    return engine


def answered(questions):
    return [Outcome(question, {"text": question}) for question in questions]


def test_a_chunk_whose_worker_died_once_is_given_to_another():
    deaths = []

    def acts(questions):
        if "c" in questions and not deaths:
            deaths.append(questions)
            raise Died("killed")
        return answered(questions)

    ray = MadeUp(acts)
    engine = on(ray)
    assert engine.made_with() == {"code": "1"}
    found = [o for those in engine.answers([["a", "b"], ["c", "d"], ["e"]]) for o in those]
    assert sorted(o.question for o in found) == [*"abcde"]
    assert not any(o.error for o in found)
    assert (ray.hired, ray.killed) == (3, 1)


def test_a_question_that_kills_its_worker_costs_its_own_row_only():
    def acts(questions):
        if "poison" in questions:
            raise Died("out of memory")
        return answered(questions)

    ray = MadeUp(acts)
    engine = on(ray)
    engine.made_with()
    found = {
        o.question: o for those in engine.answers([["a", "poison", "b"], ["c"]]) for o in those
    }
    assert {q: o.error for q, o in found.items()} == {
        **dict.fromkeys("abc"),
        "poison": "The worker process died on it 2 times (out of memory).",
    }


def test_workers_that_cannot_start_or_do_not_agree_end_the_run():
    with pytest.raises(SticklerError, match="could not start: The model is not there"):
        on(MadeUp(answered, ["The model is not there."])).made_with()
    with pytest.raises(SticklerError, match=r"die before they are ready \(Its process ended\.\)"):
        on(MadeUp(answered, [Died])).made_with()
    engine = on(MadeUp(answered, [{"code": "1", "model": "a"}, {"code": "1", "model": "b"}]))
    engine.made_with()
    with pytest.raises(SticklerError, match=r"do not agree \(model\)"):
        list(engine.answers([["a"], ["b"], ["c"]]))


def test_without_ray_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SticklerError, match=r"pip install 'stickler\[ray\]'"):
        RayEngine(SETTINGS)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no such host:6379", "junk"])
def test_a_cluster_that_is_not_there_is_told_at_once(address):
    pytest.importorskip("ray", reason="ray is not installed")
    with pytest.raises(SticklerError, match="No Ray cluster is available at"):
        RayEngine(SETTINGS, address).made_with()

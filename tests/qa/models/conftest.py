"""The real model as llama.cpp talks sense with it, made and loaded once; servers for a test."""

import os
import time
from pathlib import Path

import pytest
from loopback import Fake

from index.errors import SticklerError
from qa.models import embedded, server


@pytest.fixture(scope="session")
def quantised() -> Path:
    """The file that ships in its package."""
    try:
        return embedded.packaged()
    except SticklerError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def f16(quantised: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="gguf is not installed")
    from qa.models.gguf import to_f16

    target = tmp_path_factory.mktemp("gguf") / "smollm2-f16.gguf"
    to_f16(quantised, target)
    return target


@pytest.fixture(scope="session")
def model(f16: Path):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    from qa.models.gguf import Gguf

    return Gguf(f16, threads=1)  # two crawl when something else uses one of two cores


@pytest.fixture
def falls_idle():
    """Whether this process stops computing before long."""

    def used() -> float:
        times = os.times()
        return times.user + times.system

    def wait(seconds: float = 8) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = used()
            time.sleep(0.3)
            if used() - before < 0.05:
                return True
        return False

    return wait


@pytest.fixture
def fake():
    """Starts servers that give the replies they are told; they end with the test."""
    started = []

    def start(*replies):
        started.append(Fake(*replies))
        return started[-1]

    yield start
    for one in started:
        one.shutdown()
        one.server_close()


@pytest.fixture
def no_key_and_little_patience(monkeypatch):
    monkeypatch.delenv(server.KEY, raising=False)
    monkeypatch.setattr(server, "BACK_OFF", (0.01, 0.01))

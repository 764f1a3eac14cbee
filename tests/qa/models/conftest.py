"""The default model, loaded once; servers for a test."""

import os
import time
from pathlib import Path

import pytest
from loopback import Fake
from tiny_models import make_wheels, use_folder_as_registry

from qa.models import http_source, server
from qa.models.gguf import GgufModel


@pytest.fixture(scope="session")
def model(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> GgufModel:
    """The default model in llama.cpp, with a data folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(tmp_path_factory.mktemp("model")))
        return GgufModel(model_file)


@pytest.fixture
def falls_idle():
    """Whether this process stops computing before long."""

    def used() -> float:
        times = os.times()
        return times.user + times.system

    def wait(seconds: float = 20) -> bool:
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


@pytest.fixture(autouse=True)
def reconnects_at_once(monkeypatch):
    monkeypatch.setattr(http_source, "RECONNECT_SECONDS", 0.01)


@pytest.fixture
def no_key_and_little_patience(monkeypatch):
    monkeypatch.delenv(server.KEY, raising=False)
    monkeypatch.setattr(server, "BACK_OFF", (0.01, 0.01))


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """The folder that pip takes for the registry, with the model's two wheels."""
    folder = tmp_path / "registry"
    folder.mkdir()
    make_wheels(folder)
    use_folder_as_registry(monkeypatch, folder)
    return folder

"""What the page's tests share: a home with the embeddings that are known, and a real answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.searcher import Searcher
from page.service import Service
from qa.answer import Answer
from qa.assistant import Assistant
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, built_home: Path) -> Iterator[Path]:
    """A fresh data folder for every test; what was embedded once is not embedded again."""
    folder = tmp_path / "stickler"
    folder.mkdir()
    (folder / "cache").symlink_to(built_home / "cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def answer(searcher: Searcher, built_home: Path) -> Answer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        assistant = Assistant(Settings(), Resources(searcher=searcher))
        return assistant.ask("Can a creature with reach block my flyer?")


@pytest.fixture
def service(searcher: Searcher) -> Service:
    """A page with the real search and no language model."""
    return Service(Settings(model=NONE), resources=Resources(searcher=searcher))

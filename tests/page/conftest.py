"""What the page's tests share: a home with the embeddings that are known, and a real answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.searcher import Searcher
from qa.answer import Answer, Assistant
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
        return Assistant(Settings(), searcher).ask("Can a creature with reach block my flyer?")

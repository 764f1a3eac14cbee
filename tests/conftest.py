"""What the tests share: a data folder of their own, the shipped book and its index, releases."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import publisher as publishing
import pytest
import texts
from hypothesis import settings
from shared_embedder import SharedEmbedder

from index import files, library, store
from index.editions import Rulebook
from index.embedder import DEFAULT, Embedder
from index.searcher import Searcher

# Where the language model is, or is fetched to; a process that runs a share of the tests is told.
USERS_HOME = Path(os.environ.setdefault("STICKLER_USERS_HOME", str(files.data_folder())))
os.environ["STICKLER_HOME"] = os.devnull  # what is read before a test starts is no user's either
settings.register_profile("stickler", deadline=None, derandomize=True, database=None)
settings.load_profile("stickler")

RELEASES = Path(__file__).resolve().parents[2] / "shared" / "releases"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks the real language model is slow."""
    for item in items:
        if "model_file" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the data folders of all tests are."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes: Path) -> Iterator[Path]:
    """The user's data folder: a fresh one for every test, which does not exist yet."""
    folder = Path(tempfile.mkdtemp(dir=homes)) / "stickler"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(folder))
        yield folder


@pytest.fixture
def stickler(monkeypatch, capsys, embedder):
    """Runs the command in this process; gives its exit code, output and errors.

    The default embedding model is the one that all tests share.
    """

    def shared(name=DEFAULT):
        return embedder if name == DEFAULT else Embedder(name)

    monkeypatch.setattr("qa.resources.Embedder", shared)

    def run(*arguments):
        from cli.main import main

        monkeypatch.setattr(sys, "argv", ["stickler", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture
def result(stickler):
    """The JSON that a command prints; text and JSON both must end well and say nothing else."""

    def run(*arguments):
        code, out, err = stickler(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return run


@pytest.fixture(scope="session")
def book() -> Rulebook:
    """The rulebook of the documents that ship."""
    return library.load(d for d in library.documents() if d.added is None)


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The default language model: the user's own file, fetched first if it is not there."""
    from qa.models import download

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(USERS_HOME))
        return download.get()


@pytest.fixture
def with_model(home: Path, model_file: Path) -> Path:
    """A data folder that has the default language model."""
    folder = home / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for path in (model_file, Path(f"{model_file}.json")):
        if path.exists():
            (folder / path.name).symlink_to(path)
    return home


@pytest.fixture(scope="session")
def releases() -> Path:
    """The folder of whole releases, which is never part of the project."""
    if not RELEASES.is_dir():
        pytest.skip("the folder ../shared/releases is absent: tests of whole releases skipped")
    return RELEASES


@pytest.fixture(scope="session")
def small_release() -> Callable[..., str]:
    """A text in the publisher's form, with its quirks, that took effect on the day named."""
    return texts.small_release


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[publishing.Publisher]:
    """A publisher on this machine, whose rules page is the one that is read."""
    with publishing.Publisher() as running:
        thread = publishing.serve(running)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("STICKLER_RULES_PAGE", running.page)
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def embeddings(request: pytest.FixtureRequest) -> Path:
    """A folder of embeddings that outlives the run: each is kept by its model and its text."""
    return Path(request.config.cache.mkdir("embeddings"))


@pytest.fixture(scope="session")
def embedder(embeddings: Path) -> Embedder:
    """The default embedding model, loaded once."""
    return SharedEmbedder(embeddings)


@pytest.fixture(scope="session")
def built_home(
    tmp_path_factory: pytest.TempPathFactory, embeddings: Path, book: Rulebook, embedder: Embedder
) -> Path:
    """A data folder with the real index of the shipped documents; tests only read it."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "cache").symlink_to(embeddings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(folder))
        with filelock.FileLock(embeddings / "lock"):  # what one process embeds the other finds
            store.build(book, embedder)
    return folder


@pytest.fixture
def shared_embeddings(built_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built data folder: what is embedded for one test is there for the next."""
    monkeypatch.setenv("STICKLER_HOME", str(built_home))


@pytest.fixture(scope="session")
def searcher(built_home: Path, book: Rulebook, embedder: Embedder) -> Searcher:
    """The real search over the shipped documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        return Searcher(book, store.open_store(book, embedder), embedder)

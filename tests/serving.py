"""A page that is served while tests run, with the real search, and a browser to see it with."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import launch as launch_browser
from fakes import SlowModel
from playwright.sync_api import Browser, Page, expect, sync_playwright
from visitor import DESK, visit

import app
from index.searcher import Searcher
from page.service import Service
from qa.resources import Resources
from qa.settings import Settings


@pytest.fixture(scope="session")
def shared_home(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder like a user's, with the index: the server keeps it while the tests run."""
    folder = tmp_path_factory.mktemp("page") / "stickler"
    shutil.copytree(built_home, folder, symlinks=True)
    return folder


@pytest.fixture
def in_shared_home(shared_home: Path) -> Iterator[None]:
    """The test's data folder is the server's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(shared_home))
        yield


@pytest.fixture(scope="session")
def slow() -> SlowModel:
    return SlowModel()


@pytest.fixture(scope="session")
def service(searcher: Searcher, slow: SlowModel) -> Service:
    """The real search; the model is slow, to be stopped, and its sentences are off at first."""
    searcher.search(["loads now what no test should wait for later"])
    resources = Resources(searcher=searcher, load_model=lambda name: slow)
    return Service(Settings(model="slow", show_generated=False), resources=resources)


@pytest.fixture(scope="session")
def url(service: Service, shared_home: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(shared_home))
        demo = app.launch(service, wait=False)
    yield str(demo.local_url)
    demo.close(verbose=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: while it is open no other test can run an event loop."""
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = launch_browser(playwright)
        yield browser
        browser.close()


@pytest.fixture
def outside() -> list[str]:
    """The addresses elsewhere that a page asked for."""
    return []


@pytest.fixture
def page(browser: Browser, url: str, outside: list[str]) -> Iterator[Page]:
    """A page at a desk whose network is cut: nothing but the server can be reached."""
    context = browser.new_context(viewport=DESK, accept_downloads=True)

    def cut(route):
        if route.request.url.startswith((url, "data:", "blob:")):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", cut)
    with visit(context) as page:
        yield page
    assert outside == []

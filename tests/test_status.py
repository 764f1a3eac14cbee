"""The line on model and rules in a browser: what a screen reader meets, and how often."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import EchoModel
from playwright.sync_api import expect
from visitor import visit

import app
from index.searcher import Searcher
from page.service import Service
from qa import models
from qa.models import download
from qa.resources import Resources
from qa.settings import Settings

pytest_plugins = ["serving"]
pytestmark = pytest.mark.browser
# Notes how often anything in the line changes that a screen reader can hear.
WATCH = """line => {
  window.heard = 0;
  const silent = (node) => (node.parentElement ?? node).closest("[aria-hidden]");
  new MutationObserver((all) => { window.heard += all.filter((e) => !silent(e.target)).length; })
    .observe(line, { childList: true, characterData: true, subtree: true });
}"""


class Download:
    """A download that comes as far as a test says; `end` lets it be done, and the model loaded."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.show = lambda done, total: None

    def get(self, known, progress, stop) -> None:
        self.show = progress
        progress(340_000_000, known.size)
        assert self.end.wait(60)


@pytest.fixture
def downloading(monkeypatch: pytest.MonkeyPatch) -> Download:
    made = Download()
    monkeypatch.setattr(download, "get", made.get)
    monkeypatch.setattr(models, "load", lambda name: EchoModel("Yes."))
    return made


@pytest.fixture
def address(searcher: Searcher, downloading: Download, home: Path) -> Iterator[str]:
    """A page whose model is being downloaded."""
    resources = Resources(searcher=searcher, load_model=lambda name: service._fetch_and_load(name))
    service = Service(Settings(), resources=resources)
    demo = app.launch(service, wait=False)
    yield str(demo.local_url)
    downloading.end.set()
    demo.close(verbose=False)


def test_the_line_is_read_out_when_its_words_change_and_only_then(browser, address, downloading):
    with visit(browser.new_context()) as page:
        page.goto(address)
        line = page.locator(".status")
        expect(line).to_have_attribute("aria-live", "polite")
        expect(line).to_contain_text("340 of 1,117 MB")
        rules = "Rules: excerpts of 2024-03-08 only."
        assert line.aria_snapshot() == f'- status: "Model: downloading, 30 percent. {rules}"'
        line.evaluate(WATCH)
        downloading.show(350_000_000, 1_117_000_000)
        expect(line).to_contain_text("350 of 1,117 MB")
        page.wait_for_timeout(1500)  # two ticks of the timer
        assert page.evaluate("window.heard") == 0
        downloading.show(500_000_000, 1_117_000_000)
        expect(line).to_contain_text("500 of 1,117 MB")
        assert page.evaluate("window.heard") == 1
        downloading.end.set()
        expect(line).to_have_text(f"Model: ready. {rules}")
        assert line.aria_snapshot() == f'- status: "Model: ready. {rules}"'
        assert page.evaluate("window.heard") > 1  # the same element all the time

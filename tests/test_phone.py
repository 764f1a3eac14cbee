"""An answer on a phone: what is seen without scrolling, and that nobody is moved while reading."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fakes import EchoModel, SlowModel
from playwright.sync_api import Browser, Page, expect
from visitor import PHONE, REACH, visit

import app
from index.searcher import Searcher
from page.service import Service
from qa.resources import Resources
from qa.settings import Settings

pytest_plugins = ["serving"]
pytestmark = pytest.mark.browser
SUPPORTED = " A creature with flying can’t be blocked except by creatures with flying and/or reach."


@pytest.fixture
def phone(browser: Browser, searcher: Searcher, home: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page of a model on a phone, and asks."""
    with ExitStack() as stack:

        def open_page(model: EchoModel) -> Page:
            resources = Resources(searcher=searcher, load_model=lambda name: model)
            demo = app.launch(Service(Settings(model="fake"), resources=resources), wait=False)
            stack.callback(demo.close, verbose=False)
            context = browser.new_context(viewport=PHONE, has_touch=True, reduced_motion="reduce")
            page = stack.enter_context(visit(context))
            page.goto(str(demo.local_url))
            page.locator(".lamp:not(.loading)").wait_for()  # a click before that may go nowhere
            page.get_by_label("Question").fill(REACH)
            page.get_by_label("Question").press("Enter")
            return page

        yield open_page


def test_verdict_and_first_sentence_are_in_view_and_the_evidence_one_tap_away(phone):
    page = phone(EchoModel(SUPPORTED, probabilities={"Yes": 0.97, "No": 0.01}))
    page.locator(".foot").wait_for()
    expect(page.locator(".verdict-yes")).to_be_in_viewport(ratio=1)
    expect(page.locator(".generated")).to_be_in_viewport(ratio=1)
    page.locator(".generated a.cite").first.tap()
    expect(page.locator(".card:focus mark")).to_be_in_viewport(ratio=1)


def test_who_looks_at_the_evidence_while_the_model_writes_stays_there(phone):
    page = phone(SlowModel())
    expect(page.locator(".draft")).to_contain_text("word word")
    page.locator("a.cite").last.tap()
    card = page.locator(".card:focus")
    expect(card).to_be_in_viewport()
    before = len(page.locator(".draft").inner_text())
    page.wait_for_function("n => document.querySelector('.draft').innerText.length > n", arg=before)
    page.wait_for_timeout(300)
    expect(card).to_be_in_viewport()
    page.get_by_role("button", name="Stop").click()

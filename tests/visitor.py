"""What every visitor of the page does in a browser, and what must never happen to one."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page

REACH = "Can a creature with reach block my flyer?"
PHONE = {"width": 390, "height": 844}


@contextmanager
def visit(context: BrowserContext) -> Iterator[Page]:
    """A new page; in the end no script failed, and no hostile text ran as one."""
    context.set_default_timeout(30_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert page.is_closed() or page.evaluate("window.pwned") is None
    context.close()
    assert errors == []


def ask(page: Page, question: str) -> None:
    """Ask, and wait for the whole answer, or for what it says instead."""
    before = page.locator(".turn").count()
    page.get_by_label("Question").fill(question)
    page.get_by_label("Question").press("Enter")
    page.locator(f'.turn[data-turn="{before}"] :is(.foot, .failure)').wait_for()

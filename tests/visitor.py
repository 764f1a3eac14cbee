"""What every visitor of the page does in a browser, and what must never happen to one."""

from collections.abc import Iterator
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

REACH = "Can a creature with reach block my flyer?"
HOSTILE = (
    '<img src=x onerror="window.pwned=1"> ${window.pwned=2} {{value}} <script>pwned=3</script>'
)
DESK = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
_GRAVE = ("serious", "critical")


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


def opened(page: Page, url: str, query: str = "") -> Page:
    """The page at an address of the server, once it shows what was asked for."""
    page.goto(f"{url}{query}")
    shown = ".rule-page[data-number], .rule-page .failure" if "rule=" in query else ".chip"
    page.locator(shown).first.wait_for()
    return page


def ask(page: Page, question: str) -> None:
    """Ask, and wait for the whole answer, or for what it says instead."""
    turn = page.locator(f'.turn[data-turn="{page.locator(".turn").count()}"]')
    field = page.get_by_label("Question")
    field.fill(question)
    for _ in range(30):  # Gradio ignores Enter while it is still ending the last answer
        field.press("Enter")
        page.wait_for_timeout(500)
        if turn.count():
            break
    turn.locator(":is(.foot, .failure)").wait_for()


def grave(page: Page) -> list[tuple[str, str]]:
    """What axe finds wrong with the page, in light and in dark, and holds to be serious."""
    found = []
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        for each in Axe().run(page).response["violations"]:
            if each["impact"] in _GRAVE:
                found.append((each["id"], each["nodes"][0]["html"]))
    return found

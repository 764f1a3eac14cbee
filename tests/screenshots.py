"""Makes the README's pictures of the page, at a desk and on a phone.

Run as: python tests/screenshots.py
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from browser import launch  # noqa: E402

import app  # noqa: E402
from page.service import Service  # noqa: E402

QUESTION = "My creature fights yours in the middle of combat. Is that combat damage?"
MAX_BYTES = 250_000


def ask(browser: Browser, url: str, width: int, height: int) -> Page:
    """A page of this size with an answered question."""
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page.set_default_timeout(120_000)  # the models are still loading
    page.goto(f"{url}?__theme=light")
    page.locator(".chip").first.wait_for()
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Question").press("Enter")
    page.locator(".foot").wait_for()
    page.locator(".lamp:not(.loading)").wait_for()
    page.wait_for_timeout(500)  # what slides and fades has come to rest
    return page


def take(page: Page, name: str) -> None:
    """Write a picture of the page, which may not be too large for a README."""
    path = ROOT / "screenshots" / name
    path.parent.mkdir(exist_ok=True)
    page.screenshot(path=path)
    size = path.stat().st_size
    assert size <= MAX_BYTES, f"{path} has {size} bytes, more than {MAX_BYTES}"


def main() -> None:
    demo = app.launch(Service(), wait=False)
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            desk = ask(browser, str(demo.local_url), 1280, 800)
            take(desk, "desktop.png")
            phone = ask(browser, str(demo.local_url), 390, 844)
            phone.evaluate("window.scrollTo(0, 0)")
            take(phone, "phone.png")
            browser.close()
    finally:
        demo.close(verbose=False)


if __name__ == "__main__":
    main()

"""The browser that `make test` finds or installs for the page's tests really runs."""

import pytest
from browser import launch
from playwright.sync_api import sync_playwright

pytestmark = pytest.mark.browser


def test_the_browser_opens_a_page_and_runs_its_script():
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.set_content("<p id=x></p><script>x.textContent = 700 + 2</script>")
        assert page.inner_text("#x") == "702"
        browser.close()

"""Links to answers as people use them: copied, opened at a desk and on a phone, and hostile."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect
from visitor import PHONE, REACH, ask, visit

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]
HOSTILE = '<img src=x onerror="window.pwned=1"> ${window.pwned=2} "><script>pwned=3</script>&x=#y'


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url.rstrip("/"))
    with visit(context) as page:
        yield page


def copied_link(page: Page) -> str:
    page.locator(".foot").last.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def open_link(page: Page, link: str) -> None:
    page.goto(link)
    page.locator(".turn :is(.foot, .failure)").first.wait_for()


@pytest.mark.parametrize(
    "question", [REACH, f"Can reach {HOSTILE} block flying?", "Can reach blöck flying 🐉 + %41?"]
)
def test_a_copied_link_asks_the_same_question_and_the_answer_is_known(page, url, question):
    page.goto(url)
    page.locator(".chip").first.wait_for()
    ask(page, question)
    link = copied_link(page)
    assert link.startswith(f"{url}?ask=")
    open_link(page, link)
    expect(page.locator(".question")).to_have_text(question)
    expect(page.locator(".foot")).to_contain_text("from the cache")
    expect(page.locator(".evidence article.card").first).to_be_visible()
    assert page.locator(".changed").count() == 0
    assert page.locator(".conversation img, .evidence img").count() == 0


def test_a_link_on_a_phone_shows_question_and_answer_in_its_width(browser, url):
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    open_link(page, f"{url}?ask={quote(REACH)}&edition=current")
    expect(page.locator(".question")).to_be_in_viewport()
    expect(page.locator("a.cite").first).to_be_in_viewport()
    assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
    context.close()


def test_a_rule_that_has_changed_since_is_marked(page, url):
    open_link(page, f"{url}?ask={quote(REACH)}&edition=current&cites=702.17b-00000000_702.9b-x")
    cited = page.locator(".cited li", has_text="702.17b").first
    expect(cited.locator(".changed")).to_have_text("changed since the link was created")
    expect(page.locator(".note").first).to_contain_text("The link to this answer cited 702.17b")


def test_a_link_to_an_older_edition_is_answered_there_and_so_is_what_follows(page, url):
    open_link(page, f"{url}?ask={quote('how does trample work?')}&edition=2009-10-01")
    expect(page.locator(".foot .edition")).to_have_text("2009-10-01")
    expect(page.locator(".status")).to_contain_text("2009-10-01")
    ask(page, REACH)
    expect(page.locator(".foot .edition").last).to_have_text("2009-10-01")
    assert page.url == url  # the address no longer says what is shown


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"?ask={quote(HOSTILE)}&edition={quote(HOSTILE)}", "There is no edition"),
        (f"?ask={'x' * 5000}", "at most 4000"),
        ("?ask=%ff%fe%00&edition=1999-01-01", "There is no edition 1999-01-01"),
    ],
)
def test_a_link_that_cannot_be_answered_says_why(page, url, query, why):
    open_link(page, f"{url}{query}")
    expect(page.locator(".failure")).to_contain_text(why)
    assert page.locator(".conversation img").count() == 0
    ask(page, "702.19b")  # nothing is lost
    expect(page.locator('[id="card-702.19b"]')).to_be_visible()


def test_an_empty_link_and_a_new_conversation_begin_anew(page, url):
    page.goto(f"{url}?ask=%20")
    page.locator(".chip").first.wait_for()
    open_link(page, f"{url}?ask={quote(REACH)}&edition=current")
    page.get_by_role("button", name="New conversation").click()
    page.locator(".chip").first.wait_for()
    page.wait_for_url(url)


def test_opening_a_rule_from_a_linked_answer_gives_the_rules_address(page, url):
    open_link(page, f"{url}?ask={quote(REACH)}&edition=current")
    page.locator(".evidence .open").first.click()
    page.wait_for_url(f"{url}?rule=702.17b")

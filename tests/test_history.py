"""The history of a browser: kept there only, newest first, searched, reopened, deleted."""

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from visitor import PHONE, REACH, ask, visit

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]
HOSTILE = 'Can reach <img src=x onerror="window.pwned=1"> block ${window.pwned=2}?'


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with visit(browser.new_context(viewport=PHONE, has_touch=True)) as page:
        page.goto(url)
        page.locator(".chip").first.wait_for()
        yield page


def unfold(page: Page) -> None:
    page.locator(".past summary").tap()


def test_what_was_asked_is_found_newest_first_and_reopened_with_one_tap(page, url):
    for question in (REACH, HOSTILE, "what is banding?"):
        ask(page, question)
    page.goto(url)
    page.locator(".chip").first.wait_for()
    unfold(page)
    expect(page.locator(".past li a")).to_have_text(["what is banding?", HOSTILE, REACH])
    assert page.locator(".past img").count() == 0
    page.get_by_label("Search the history").fill("FLYER")
    expect(page.locator(".past li a")).to_have_text([REACH])
    page.locator(".past li a").tap()
    page.locator(".foot").wait_for()
    expect(page.locator(".question")).to_have_text(REACH)
    expect(page.locator(".foot")).to_contain_text("from the cache")
    unfold(page)
    expect(page.locator(".past li a").first).to_have_text(REACH)
    assert page.locator(".past li").count() == 4  # the conversation that it is from stays whole
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide == [390, 390]


def test_an_earlier_conversation_is_gone_back_to_and_goes_on(page, url):
    trample, follow_up = "does trample need to kill blockers?", "and if it also has deathtouch?"
    ask(page, trample)
    ask(page, follow_up)
    understood = page.locator(".understood").text_content()
    page.get_by_role("button", name="New conversation").tap()
    page.locator(".chip").first.wait_for()
    ask(page, REACH)
    unfold(page)
    expect(page.locator(".past .talk")).to_have_count(2)
    expect(page.locator(".past li a")).to_have_text([REACH, follow_up, trample])
    assert page.locator(".past [data-resume]").count() == 1  # the other one goes on
    page.get_by_role("button", name=f"Resume: {trample}").tap()
    expect(page.locator(".question")).to_have_text([trample, follow_up])
    expect(page.locator(".foot")).to_have_count(2)
    expect(page.locator(".understood")).to_have_text(understood)  # what it followed up is there
    ask(page, "702.19b")
    expect(page.locator(".past li a")).to_have_text(["702.19b", follow_up, trample, REACH])
    page.goto(url)
    page.locator(".chip").first.wait_for()
    unfold(page)
    expect(page.locator(".past .talk")).to_have_count(2)
    page.get_by_role("button", name=f"Resume: {trample}").tap()
    expect(page.locator(".question")).to_have_text([trample, follow_up, "702.19b"])


def test_a_conversation_about_an_older_edition_goes_on_there(page, url):
    kept = [{"question": "702.17b", "address": "?ask=702.17b&edition=2009-10-01", "answer": "x"}]
    page.evaluate("kept => localStorage.setItem('stickler.history', kept)", json.dumps(kept))
    page.goto(url)
    page.locator(".chip").first.wait_for()
    unfold(page)
    page.get_by_role("button", name="Resume: 702.17b").tap()
    expect(page.locator(".foot .edition")).to_have_text("2009-10-01")
    ask(page, "702.9b")
    expect(page.locator(".foot .edition").last).to_have_text("2009-10-01")


def test_the_same_question_in_two_conversations_is_deleted_in_one(page):
    ask(page, "702.19b")
    ask(page, REACH)
    page.get_by_role("button", name="New conversation").tap()
    page.locator(".chip").first.wait_for()
    ask(page, REACH)
    unfold(page)
    expect(page.locator(".past li a")).to_have_text([REACH, REACH, "702.19b"])
    page.get_by_role("button", name=f"Delete: {REACH}").first.tap()
    expect(page.locator(".past li a")).to_have_text([REACH, "702.19b"])


def test_a_question_from_before_there_were_conversations_is_one_by_itself(page, url):
    old = [{"question": "702.3b", "address": "?ask=702.3b&edition=current", "answer": "x"}]
    page.evaluate("kept => localStorage.setItem('stickler.history', kept)", json.dumps(old))
    page.goto(url)
    page.locator(".chip").first.wait_for()
    unfold(page)
    page.get_by_role("button", name="Resume: 702.3b").tap()
    expect(page.locator(".question")).to_have_text(["702.3b"])
    expect(page.locator(".foot")).to_be_visible()


def test_entries_are_deleted_one_by_one_or_all_at_once(page):
    for question in (REACH, "702.19b", "what is banding?"):
        ask(page, question)
    unfold(page)
    page.get_by_role("button", name="Delete: 702.19b").tap()
    expect(page.locator(".past li a")).to_have_text(["what is banding?", REACH])
    page.get_by_role("button", name="Delete: what is banding?").tap()
    page.get_by_role("button", name="Right").last.tap()  # the answer is drawn again
    page.get_by_role("button", name="Send").tap()
    expect(page.locator(".voted")).to_be_visible()
    expect(page.locator(".past li a")).to_have_text([REACH])
    page.get_by_role("button", name="Delete all").tap()
    assert page.locator(".past li").count() == 1  # it asks first
    page.get_by_role("button", name="Really delete all?").tap()
    expect(page.locator(".past-none")).to_have_text("No questions asked in this browser yet.")
    assert json.loads(page.evaluate("localStorage.getItem('stickler.history')")) == []


@pytest.mark.parametrize(
    "kept",
    ["no JSON", "{}", "null", '[1, null, {"question": "x"}]',
     '[{"question": "x", "address": "javascript:window.pwned=1", "answer": "y"}]',
     '[{"question": "x", "address": "?ask=x", "answer": "y", "conversation": {}}]'],
)  # fmt: skip
def test_a_damaged_or_hostile_history_is_left_out(page, url, kept):
    page.evaluate("kept => localStorage.setItem('stickler.history', kept)", kept)
    page.goto(url)
    page.locator(".chip").first.wait_for()
    unfold(page)
    expect(page.locator(".past-none")).to_have_text("No questions asked in this browser yet.")
    ask(page, "702.19b")
    expect(page.locator(".past li a")).to_have_text(["702.19b"])


def test_where_the_browser_has_no_room_the_oldest_go_and_answers_come(page):
    page.evaluate("""() => {
        const real = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {
            if (value.length > 1500) throw new Error("full");
            real.call(this, key, value);
        };
    }""")
    for question in ("702.19b", "702.17b", "702.3b", "702.9b"):
        ask(page, question)
    unfold(page)
    expect(page.locator(".past li a").first).to_have_text("702.9b")
    assert page.locator(".past li").count() < 4


def test_axe_finds_nothing_serious_in_the_history(page):
    page.emulate_media(reduced_motion="reduce")
    ask(page, REACH)
    unfold(page)
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []

"""The page as people ask it: a real browser, a real server, the real index."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from visitor import HOSTILE, PHONE, REACH, ask, grave, opened

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]


def show_generated(page: Page) -> None:
    """Have the model's sentences shown."""
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Show the model's reading of the rules").check()
    page.get_by_role("button", name="Settings").click()
    expect(page.locator(".status")).not_to_contain_text("Model: none")


def test_an_answer_shows_its_rules_with_the_decisive_sentence(page, url):
    opened(page, url).get_by_role("button", name=REACH).click()  # a starter question
    card = page.locator('[id="card-702.17b"]')
    expect(card.locator(".number")).to_have_text("702.17b")
    expect(card.locator(".heading")).to_have_text("Reach")
    expect(card.locator(".edition")).to_have_text("2024-03-08")
    expect(card.locator("mark")).to_have_text(
        re.compile("^A creature with flying can’t be blocked")
    )
    foot = page.locator(".foot")
    expect(foot).to_contain_text(re.compile(r"Confidence \d+%"))
    expect(foot).to_contain_text("current")
    expect(foot).to_contain_text("no language model")
    expect(page.locator(".also .read").first).to_be_visible()


def test_a_citation_brings_its_card_into_view_also_of_an_earlier_answer(page, url):
    ask(opened(page, url), "does my trampler need to kill both blockers?")
    ask(page, "and if it also has deathtouch?")
    expect(page.locator(".understood")).to_contain_text("kill both blockers? and if it also")
    expect(page.locator(".evidence")).to_have_attribute("data-turn", "1")
    cited = page.locator('.turn[data-turn="0"] a.cite').last
    number = cited.inner_text()
    cited.click()
    card = page.locator(f'[id="card-{number}"]')
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
    expect(page.locator(".evidence")).to_have_attribute("data-turn", "0")


def test_stop_stops_the_model_and_leaves_the_evidence(page, url, slow):
    slow.ended.clear()
    show_generated(opened(page, url))
    box = page.get_by_label("Question")
    box.fill(REACH)
    box.press("Enter")
    expect(page.locator(".draft")).to_contain_text("word word")
    expect(page.locator('[id="card-702.17b"]')).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note").first).to_have_text("Stopped: the model did not finish.")
    assert slow.ended.wait(10)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def test_who_leaves_while_the_model_writes_frees_it(browser, url, slow):
    slow.ended.clear()
    context = browser.new_context()
    left = context.new_page()
    show_generated(opened(left, url))
    left.get_by_label("Question").fill(REACH)
    left.get_by_label("Question").press("Enter")
    expect(left.locator(".draft")).to_contain_text("word")
    context.close()
    assert slow.ended.wait(20)


def test_a_reference_opens_in_place_and_then_in_the_rules(page, url):
    ask(opened(page, url), REACH)
    reference = page.locator('[id="card-702.17b"] a[data-rule="702.9"]')
    reference.click()
    peek = page.get_by_role("region", name="Rule 702.9")
    expect(peek).to_contain_text("Flying is an evasion ability.")
    expect(reference).to_have_attribute("aria-expanded", "true")
    peek.get_by_role("link", name="Open in the rules").click()
    expect(page.get_by_role("tab", name="Rules")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".rule-page h2")).to_have_text("702.9 Flying")
    assert page.url == f"{url}?rule=702.9"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_in_its_width_evidence_below(browser, url, scheme):
    context = browser.new_context(viewport=PHONE, color_scheme=scheme, has_touch=True)
    page = opened(context.new_page(), url)
    ask(page, "does my trampler need to kill both blockers?")
    dark = page.evaluate("document.body.classList.contains('dark')")
    assert dark == (scheme == "dark")
    conversation = page.locator(".conversation").bounding_box()
    evidence = page.locator(".evidence").bounding_box()
    assert evidence["y"] > conversation["y"] + conversation["height"]
    wide = "[document.documentElement.scrollWidth, window.innerWidth]"
    assert page.evaluate(wide) == [390, 390]
    page.locator(".evidence .open").first.click()
    page.locator(".entry").first.wait_for()
    assert page.evaluate(wide) == [390, 390]
    context.close()


def test_the_keyboard_is_enough(page, url):
    opened(page, url)
    focused = "document.activeElement.className + ' ' + document.activeElement.id"
    page.get_by_label("Question").focus()
    page.keyboard.type(REACH)
    page.keyboard.press("Enter")
    page.locator(".foot").wait_for()
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        if "cite" in page.evaluate(focused):
            break
    page.keyboard.press("Enter")
    expect(page.locator('[id="card-702.17b"]')).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first reference of the card
    expect(page.locator(".peek h4")).to_be_visible()


def test_axe_finds_nothing_serious_in_light_and_dark(page, url):
    page.emulate_media(reduced_motion="reduce")  # no colour is looked at while it changes
    opened(page, url)
    assert grave(page) == []
    ask(page, REACH)
    page.get_by_role("button", name="Wrong").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Language model").wait_for()
    assert grave(page) == []
    page.get_by_role("button", name="Settings").click()
    page.locator(".evidence .open").first.click()
    page.locator('.branch[data-section="510"] summary').first.click()
    page.locator(".twigs li").first.wait_for()
    page.locator(".entry .history summary").first.click()
    page.locator(".versions").first.wait_for()
    assert grave(page) == []


def test_hostile_questions_are_shown_as_text(page, url):
    ask(opened(page, url), HOSTILE)
    ask(page, f"does trample {HOSTILE} work?")
    expect(page.locator(".question").first).to_have_text(HOSTILE)
    assert page.locator(".conversation img, .evidence img").count() == 0


def test_votes_are_written_and_conversations_saved(page, url, shared_home):
    ask(opened(page, url), REACH)
    page.get_by_role("button", name="Right").click()
    page.get_by_label("Any comments?").fill("spot on")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".voted")).to_be_visible()
    row = json.loads((shared_home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (row["vote"], row["comment"], row["question"]) == ("up", "spot on", REACH)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as Markdown").click()
    assert "**702.17b Reach**" in Path(saved.value.path()).read_text(encoding="utf-8")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    (answer,) = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert answer["citations"][0]["number"] == "702.17b"
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".chip").first).to_be_visible()


def test_an_answer_is_copied_with_its_citations(page, url):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url.rstrip("/"))
    ask(opened(page, url), REACH)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "702.17b Reach [2024-03-08]: A creature with flying" in copied

"""The page as people use it: a real browser, a real server, the real index."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from texts import small_release
from visitor import PHONE, REACH, ask, visit

from index import library

pytest_plugins = ["serving"]
pytestmark = pytest.mark.browser
HOSTILE = (
    '<img src=x onerror="window.pwned=1"> ${window.pwned=2} {{value}} <script>pwned=3</script>'
)
GRAVE = ("serious", "critical")
DESK = {"width": 1400, "height": 900}


@pytest.fixture(autouse=True)
def home(shared_home: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(shared_home))
        yield shared_home


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


def opened(page: Page, url: str, query: str = "") -> Page:
    page.goto(f"{url}{query}")
    shown = ".rule-page[data-number], .rule-page .failure" if "rule=" in query else ".chip"
    page.locator(shown).first.wait_for()
    return page


def show_generated(page: Page) -> None:
    """Have the model's sentences shown."""
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Show how the model reads the rules").check()
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
    expect(foot).to_contain_text(re.compile(r"Confidence \d+.%"))
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


def test_every_rule_has_an_address_in_every_edition(page, url):
    opened(page, url, "?rule=702.17b&edition=2009-10-01")
    expect(page.get_by_role("tab", name="Rules")).to_have_attribute("aria-selected", "true")
    chosen = page.locator(".entry[aria-current]")
    expect(chosen.locator("h3")).to_contain_text("702.17b")
    expect(chosen).to_contain_text("trample")
    expect(page.get_by_label("Edition to read")).to_have_value("2009-10-01")
    chosen.get_by_text("History").click()
    expect(chosen.locator(".versions del").first).to_be_visible()
    chosen.locator('.versions a[data-rule="702.19b"]').first.click()  # its number today
    expect(page.locator(".entry[aria-current] h3")).to_contain_text("702.19b")
    page.go_back()
    expect(page.locator(".entry[aria-current] h3")).to_contain_text("702.17b")


def test_another_edition_shows_the_same_rule_under_its_number_there(page, url):
    opened(page, url, "?rule=702.19b")
    page.get_by_label("Edition to read").click()
    page.get_by_role("option", name="2009-10-01").click()
    expect(page.locator(".entry[aria-current] h3")).to_contain_text("702.17b")
    page.wait_for_url(f"{url}?rule=702.17b&edition=2009-10-01")


@pytest.mark.parametrize("query", ["?rule=999.9", "?rule=%3Cimg%20src%3Dx%3E&edition=x"])
def test_an_address_that_leads_nowhere_says_so(page, url, query):
    opened(page, url, query)
    expect(page.locator(".rule-page .failure")).to_be_visible()


def test_search_as_you_type_and_the_tree(page, url):
    opened(page, url).get_by_role("tab", name="Rules").click()
    page.locator('.branch[data-section="509"] summary').first.click()
    page.locator('.twigs [data-open="509.1"]').click()
    expect(page.locator(".rule-page h2")).to_contain_text("509.1")
    find = page.get_by_label("Find a rule")
    find.press_sequentially("tramp")
    expect(page.locator(".results a").first).to_have_text("702.19")
    find.fill("shadow creatures and who can block them")
    expect(page.locator(".results a").first).to_have_text(re.compile(r"702\.28"))
    page.locator(".results a").first.click()
    expect(page.locator(".rule-page h2")).to_have_text("702.28 Shadow")
    find.fill("")
    expect(page.locator(".branch").first).to_be_visible()


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
    expect(page.locator('[id="card-702.9b"]')).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first reference of the card
    expect(page.locator(".peek h4")).to_be_visible()


def test_axe_finds_nothing_serious_in_light_and_dark(page, url):
    def look(place):
        for dark in (False, True):
            page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
            found = Axe().run(page).response["violations"]
            grave = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in GRAVE]
            assert (place, dark, grave) == (place, dark, [])

    page.emulate_media(reduced_motion="reduce")  # no colour is looked at while it changes
    opened(page, url)
    look("empty")
    ask(page, REACH)
    page.get_by_role("button", name="Wrong").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Language model").wait_for()
    look("asked")
    page.get_by_role("button", name="Settings").click()
    page.locator(".evidence .open").first.click()
    page.locator('.branch[data-section="510"] summary').first.click()
    page.locator(".twigs li").first.wait_for()
    page.locator(".entry .history summary").first.click()
    page.locator(".versions").first.wait_for()
    look("rules")


def test_hostile_questions_are_shown_as_text(page, url):
    ask(opened(page, url), HOSTILE)
    ask(page, f"does trample {HOSTILE} work?")
    expect(page.locator(".question").first).to_have_text(HOSTILE)
    assert page.locator(".conversation img, .evidence img").count() == 0


def test_votes_are_written_and_conversations_saved(page, url, home):
    ask(opened(page, url), REACH)
    page.get_by_role("button", name="Right").click()
    page.get_by_label("What should we know?").fill("spot on")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".voted")).to_be_visible()
    row = json.loads((home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()[-1])
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


def test_a_text_that_is_added_is_read_first_then_answers(page, url, tmp_path, service):
    before = service.resources.book
    wrong, right = tmp_path / "shopping.txt", tmp_path / "rules.txt"
    wrong.write_text("eggs, flour and milk", encoding="utf-8")
    day = small_release("June 7, 2008")
    right.write_text(day.replace("is destroyed", f"is destroyed {HOSTILE}"), encoding="utf-8")
    opened(page, url).get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Rules texts").click()
    chooser = page.locator("input[type=file]")
    chooser.set_input_files(wrong)
    expect(page.get_by_test_id("toast-body")).to_contain_text("not a rulebook")
    assert service.resources.book is before
    chooser.set_input_files(right)
    expect(page.locator("[role=status]", has_text="Added the edition 2008-06-07")).to_be_visible()
    expect(page.locator(".documents")).to_contain_text("rules.txt")
    opened(page, url, "?rule=702.2b&edition=2008-06-07")
    expect(page.locator(".entry[aria-current] .text")).to_contain_text('<img src=x onerror="')
    assert page.locator(".rule-page img").count() == 0
    page.get_by_role("tab", name="Ask").click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Edition to answer from").click()
    page.get_by_role("option", name="2008-06-07").click()
    page.get_by_role("button", name="Settings").click()
    ask(page, "702.2b")
    expect(page.locator('[id="card-702.2b"] .edition')).to_have_text("2008-06-07")
    assert page.locator(".evidence img").count() == 0


@pytest.fixture
def july(publisher, service) -> Iterator[None]:
    """A publisher with rules of July 2025; before and after only excerpts are loaded."""

    def remove_added() -> None:
        for edition in {each.edition for each in library.documents() if each.added}:
            library.remove(edition)
        service.resources.reload()

    publisher.publish("MagicCompRules 20250704.txt", small_release("July 4, 2025"))
    remove_added()
    yield
    remove_added()


def test_the_latest_rules_are_offered_fetched_and_compared(page, url, july):
    opened(page, url)
    offer = page.locator("#offer")
    expect(page.locator(".status")).to_contain_text("Rules: excerpts of 2024-03-08 only.")
    page.get_by_role("button", name="Get the whole rules").click()
    expect(offer).to_contain_text("Added the edition 2025-07-04: 8 rules. Since 2024-03-08:")
    expect(offer.get_by_role("status")).to_be_visible()
    expect(page.get_by_role("button", name="Get the whole rules")).to_be_hidden()
    expect(page.locator(".status")).to_contain_text("Rules: whole release of 2025-07-04.")
    page.get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Get the latest rules").click()
    expect(page.locator("#latest")).to_contain_text("2025-07-04, is loaded already")
    page.get_by_role("button", name="Compare two editions").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    compared = page.locator(".comparison")
    expect(compared.locator("h2")).to_have_text("From 2024-03-08 to 2025-07-04")
    expect(compared).to_contain_text("Of the edition 2024-03-08 only excerpts are loaded")
    compared.locator("summary", has_text="Keyword Abilities").click()
    expect(compared.locator("details[open] ins, details[open] del").first).to_be_visible()
    opened(page, url)
    expect(offer.locator("p")).to_have_count(0)


def test_why_the_latest_rules_could_not_be_fetched_stands_in_the_tab(page, url, publisher):
    publisher.link("/rules.pdf")
    opened(page, url).get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Get the latest rules").click()
    alert = page.locator("#latest [role=alert]")
    expect(alert).to_contain_text("has no link to the rules as plain text")

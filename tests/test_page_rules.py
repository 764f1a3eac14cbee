"""The tab Rules as people use it: rules by address, found, added, fetched and compared."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from texts import small_release
from visitor import HOSTILE, ask, opened

from index import library

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]


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


def test_a_text_that_is_added_is_read_first_then_answers(page, url, tmp_path, service):
    before = service.resources.rulebook
    wrong, right = tmp_path / "shopping.txt", tmp_path / "rules.txt"
    wrong.write_text("eggs, flour and milk", encoding="utf-8")
    day = small_release("June 7, 2008")
    right.write_text(day.replace("is destroyed", f"is destroyed {HOSTILE}"), encoding="utf-8")
    opened(page, url).get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Rules documents").click()
    chooser = page.locator("input[type=file]")
    chooser.set_input_files(wrong)
    expect(page.get_by_test_id("toast-body")).to_contain_text("not a rulebook")
    assert service.resources.rulebook is before
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
    page.get_by_role("button", name="Get the full rules").click()
    expect(offer).to_contain_text("Added the edition 2025-07-04: 8 rules. Since 2024-03-08:")
    expect(offer.get_by_role("status")).to_be_visible()
    expect(page.get_by_role("button", name="Get the full rules")).to_be_hidden()
    expect(page.locator(".status")).to_contain_text("Rules: full release of 2025-07-04.")
    page.get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Get the latest rules").click()
    expect(page.locator("#latest")).to_contain_text("2025-07-04, is already loaded")
    page.get_by_role("button", name="Compare two editions").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    compared = page.locator(".comparison")
    expect(compared.locator("h2")).to_have_text("From 2024-03-08 to 2025-07-04")
    expect(compared).to_contain_text("Only excerpts of the edition 2024-03-08 are loaded")
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

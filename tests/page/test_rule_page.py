"""A rule's page, its history, and the peek at a rule where it is referred to."""

import re

import pytest
from texts import hostile_book

from index.errors import SticklerError
from page import rule_page


def opens(shown):
    return re.findall(r'data-open="([^"]+)"', shown)


def test_a_rules_page_shows_all_of_it_and_points_out_the_one_asked_for(book):
    shown = rule_page.render_page("702.19b", book.current)
    entries = re.findall(r'id="rule-([\w.]+)"', shown)
    below = [rule.number for rule in book.current.subrules("702.19")]
    assert entries == below
    assert re.findall(r'id="rule-([\w.]+)" tabindex="-1" aria-current', shown) == ["702.19b"]
    assert 'data-address="?rule=702.19b"' in shown


def test_a_keyword_opens_its_rule_and_a_section_its_list(book):
    assert 'data-number="702.19"' in rule_page.render_page("trample", book.current)
    section = rule_page.render_page("702", book.current)
    assert "702.19" in opens(section)


def test_a_page_says_who_refers_to_a_rule(book):
    referring = book.current.referred_from("702.19b")
    assert referring
    shown = rule_page.render_page("702.19b", book.current).split('id="rule-702.19b"')[1]
    assert f"Referred to by {len(referring)}<" in shown.split("</article>")[0]


@pytest.mark.parametrize(
    "query", ["999.9", "nothing at all", "", "<img src=x>", "702.19b;x", "turn structure", "5"]
)
def test_a_page_that_is_not_there_is_one_sentence(query, book):
    shown = rule_page.render_page(query, book.current)
    assert 'class="failure"' in shown
    assert "<img" not in shown


def test_the_history_marks_words_that_went_and_came(book):
    shown = rule_page.render_history("702.19b", "current", book)
    assert re.findall(r'title="edition">([\d-]+)<', shown) == [
        "2024-03-08", "2022-06-10", "2009-10-01"
    ]  # fmt: skip
    assert "<ins>" in shown
    assert "<del>" in shown
    assert 'data-rule="702.17b" data-edition="2009-10-01"' in shown  # its number then


def test_the_history_of_what_is_no_rule_is_an_error(book):
    with pytest.raises(SticklerError):
        rule_page.render_history("../../etc", "current", book)


def test_a_peek_shows_a_rule_and_what_is_below_it(book):
    shown = rule_page.render_peek("702.9", book.current)
    assert all(rule.number in shown for rule in book.current.subrules("702.9"))
    assert opens(shown) == ["702.9"]


@pytest.mark.parametrize("number", ["903.4", "<img src=x>", ""])
def test_a_peek_at_what_is_not_loaded_says_so(number, book):
    shown = rule_page.render_peek(number, book.current)
    assert "not among the loaded rules" in shown
    assert "<img" not in shown


def test_a_rule_is_followed_to_its_number_in_another_edition(book):
    old = book.edition("2009-10-01")
    assert rule_page.same_rule("702.19b", book.current, old) == "702.17b"
    assert rule_page.same_rule("702.17", old, book.current) == "702.19"
    assert rule_page.same_rule("510.1c", book.current, old) == "510.1c"


def test_hostile_texts_are_text_everywhere():
    book = hostile_book()
    for shown in (
        rule_page.render_page("100.1", book),
        rule_page.render_page("100", book),
        rule_page.render_peek("100.1", book),
    ):
        assert "<img" not in shown
        assert "<script" not in shown
        assert "&lt;img" in shown

"""The rulebook to leaf through: tree, look-up, pages, history, what is glanced at."""

import re

import pytest
from test_cards import HOSTILE, hostile_book

from index.errors import SticklerError
from index.library import Document
from page import browse


def opens(shown):
    return re.findall(r'data-open="([^"]+)"', shown)


def test_the_tree_has_every_section_of_the_edition(book):
    shown = browse.tree(book.current)
    sections = re.findall(r'data-section="(\d+)"', shown)
    assert sections == sorted({rule.number[:3] for rule in book.current.rules})
    assert "Keyword Abilities" in shown


def test_a_branch_leads_to_every_rule_and_subrule_of_its_section(book):
    shown = browse.branch(book.current, "702")
    assert set(opens(shown)) == {rule.number for rule in book.current.subrules("702")}


@pytest.mark.parametrize("section", ["", "x", "../..", "<b>", "999"])
def test_a_branch_of_nothing_is_empty(section, book):
    assert opens(browse.branch(book.current, section)) == []


@pytest.mark.parametrize(
    ("query", "first"),
    [("702.19", "702.19"), ("702.19b", "702.19b"), ("rule 702.1", "702.1"), ("tramp", "702.19"),
     ("STRIKE", "702.4"), ("keyword ab", "702")],
)  # fmt: skip
def test_numbers_and_headings_are_found_at_once_without_search(query, first, book):
    shown = browse.results(query, book.current, None)
    assert opens(shown)[0] == first
    assert "still loading" in shown


def test_what_search_found_comes_behind_without_repeating(book):
    shown = browse.results("trample", book.current, ["702.19b", "702.19", "510.1c"])
    assert opens(shown) == ["702.19", "702.19b", "510.1c"]
    assert "3 rules found" in shown


def test_nothing_found_is_said(book):
    assert "0 rules found" in browse.results("xyzzy", book.current, [])


def test_a_rules_page_shows_all_of_it_and_points_out_the_one_asked_for(book):
    shown = browse.page("702.19b", book.current)
    entries = re.findall(r'id="rule-([\w.]+)"', shown)
    below = [rule.number for rule in book.current.subrules("702.19")]
    assert entries == below
    assert re.findall(r'id="rule-([\w.]+)" tabindex="-1" aria-current', shown) == ["702.19b"]
    assert 'data-address="?rule=702.19b"' in shown


def test_a_keyword_opens_its_rule_and_a_section_its_list(book):
    assert 'data-number="702.19"' in browse.page("trample", book.current)
    section = browse.page("702", book.current)
    assert "702.19" in opens(section)


def test_a_page_says_who_refers_to_a_rule(book):
    referring = book.current.referred_from("702.19b")
    assert referring
    shown = browse.page("702.19b", book.current).split('id="rule-702.19b"')[1]
    assert f"Referred to by {len(referring)}<" in shown.split("</article>")[0]


@pytest.mark.parametrize("chapter", ["turn structure", "spells, abilities, and effects"])
def test_on_the_way_to_a_chapters_name_nothing_fails(chapter, book):
    """A chapter has a name and no rules of its own."""
    for typed in range(2, len(chapter) + 1):
        shown = browse.results(chapter[:typed], book.current, [])
        assert all("." in number or len(number) == 3 for number in opens(shown))


@pytest.mark.parametrize(
    "query", ["999.9", "nothing at all", "", "<img src=x>", "702.19b;x", "turn structure", "5"]
)
def test_a_page_that_is_not_there_is_one_sentence(query, book):
    shown = browse.page(query, book.current)
    assert 'class="failure"' in shown
    assert "<img" not in shown


def test_the_history_marks_words_that_went_and_came(book):
    shown = browse.past("702.19b", "current", book)
    assert re.findall(r'title="edition">([\d-]+)<', shown) == [
        "2024-03-08", "2022-06-10", "2009-10-01"
    ]  # fmt: skip
    assert "<ins>" in shown
    assert "<del>" in shown
    assert 'data-rule="702.17b" data-edition="2009-10-01"' in shown  # its number then


def test_the_history_of_what_is_no_rule_is_an_error(book):
    with pytest.raises(SticklerError):
        browse.past("../../etc", "current", book)


def test_a_glance_shows_a_rule_and_what_is_below_it(book):
    shown = browse.peek("702.9", book.current)
    assert all(rule.number in shown for rule in book.current.subrules("702.9"))
    assert opens(shown) == ["702.9"]


@pytest.mark.parametrize("number", ["903.4", "<img src=x>", ""])
def test_a_glance_at_what_is_not_loaded_says_so(number, book):
    shown = browse.peek(number, book.current)
    assert "not among the rules loaded" in shown
    assert "<img" not in shown


def test_hostile_texts_are_text_everywhere():
    book = hostile_book()
    for shown in (
        browse.tree(book),
        browse.branch(book, "100"),
        browse.results("100", book, ["100.1"]),
        browse.page("100.1", book),
        browse.page("100", book),
        browse.peek("100.1", book),
    ):
        assert "<img" not in shown
        assert "<script" not in shown
        assert "&lt;img" in shown


def test_of_a_file_that_was_added_only_its_name_is_told():
    document = Document(
        "f", "official", "2020-01-01", f"/home/me/secret/{HOSTILE[:4]}.txt", "0", "today"
    )
    shown = browse.documents([document])
    assert "secret" not in shown
    assert "&lt;img.txt" in shown


def test_a_rule_is_followed_to_its_number_in_another_edition(book):
    old = book.edition("2009-10-01")
    assert browse.same_rule("702.19b", book.current, old) == "702.17b"
    assert browse.same_rule("702.17", old, book.current) == "702.19"
    assert browse.same_rule("510.1c", book.current, old) == "510.1c"

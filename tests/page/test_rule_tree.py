"""The sections as a tree, and the rules found as someone types."""

import re

import pytest
from texts import hostile_book

from page import rule_tree


def opens(shown):
    return re.findall(r'data-open="([^"]+)"', shown)


def test_the_tree_has_every_section_of_the_edition(book):
    shown = rule_tree.render_tree(book.current)
    sections = re.findall(r'data-section="(\d+)"', shown)
    assert sections == sorted({rule.number[:3] for rule in book.current.rules})
    assert "Keyword Abilities" in shown


def test_a_branch_leads_to_every_rule_and_subrule_of_its_section(book):
    shown = rule_tree.render_branch(book.current, "702")
    assert set(opens(shown)) == {rule.number for rule in book.current.subrules("702")}


@pytest.mark.parametrize("section", ["", "x", "../..", "<b>", "999"])
def test_a_branch_of_nothing_is_empty(section, book):
    assert opens(rule_tree.render_branch(book.current, section)) == []


@pytest.mark.parametrize(
    ("query", "first"),
    [("702.19", "702.19"), ("702.19b", "702.19b"), ("rule 702.1", "702.1"), ("tramp", "702.19"),
     ("STRIKE", "702.4"), ("keyword ab", "702")],
)  # fmt: skip
def test_numbers_and_headings_are_found_at_once_without_search(query, first, book):
    shown = rule_tree.render_results(query, book.current, None)
    assert opens(shown)[0] == first
    assert "still loading" in shown


def test_what_search_found_comes_behind_without_repeating(book):
    shown = rule_tree.render_results("trample", book.current, ["702.19b", "702.19", "510.1c"])
    assert opens(shown) == ["702.19", "702.19b", "510.1c"]
    assert "3 rules found" in shown


def test_nothing_found_is_said(book):
    assert "0 rules found" in rule_tree.render_results("xyzzy", book.current, [])


@pytest.mark.parametrize("chapter", ["turn structure", "spells, abilities, and effects"])
def test_on_the_way_to_a_chapters_name_nothing_fails(chapter, book):
    """A chapter has a name and no rules of its own."""
    for typed in range(2, len(chapter) + 1):
        shown = rule_tree.render_results(chapter[:typed], book.current, [])
        assert all("." in number or len(number) == 3 for number in opens(shown))


def test_hostile_texts_are_text_everywhere():
    book = hostile_book()
    for shown in (
        rule_tree.render_tree(book),
        rule_tree.render_branch(book, "100"),
        rule_tree.render_results("100", book, ["100.1"]),
    ):
        assert "<img" not in shown
        assert "<script" not in shown
        assert "&lt;img" in shown

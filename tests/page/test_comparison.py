"""Two editions compared on the page: each section folded, each rule with what happened to it."""

import re

from texts import HOSTILE

from index.editions import Rulebook
from index.rulebook import ParsedDocument, Rule
from page.comparison import editions_to_compare, render_comparison


def edition(day, texts):
    rules = tuple(Rule(number, text, day, "made up") for number, text in texts.items())
    return ParsedDocument("made up", day, rules, {"100": "General"})


BOOK = Rulebook(
    [
        edition("2020-01-01", {"100.1": "A game has two players.", "100.2": "Each has a deck."}),
        edition("2021-01-01", {"100.1": "A game has two friends.", "100.3": "Each has a deck."}),
        edition("2022-01-01", {"100.1": HOSTILE}),
    ]
)


def test_a_comparison_says_what_happened_to_each_rule_and_links_to_it():
    shown = render_comparison(BOOK, "2020-01-01", "2021-01-01")
    assert "0 added, 0 removed, 1 renumbered, 1 reworded." in shown
    assert "A game has two <del>players.</del><ins>friends.</ins>" in shown
    assert '<span class="count">2</span>' in shown
    assert re.findall(r'data-open="([\d.]+)" data-edition="([\d-]+)"', shown) == [
        ("100.1", "2021-01-01"),
        ("100.2", "2020-01-01"),
        ("100.3", "2021-01-01"),
    ]


def test_a_rule_that_is_gone_opens_where_it_was():
    shown = render_comparison(BOOK, "2021-01-01", "2022-01-01")
    assert 'data-open="100.3" data-edition="2021-01-01"' in shown
    assert "<del>Each has a deck.</del>" in shown


def test_no_text_of_a_rule_runs_a_script():
    assert "<img" not in render_comparison(BOOK, "2021-01-01", "2022-01-01")


def test_what_cannot_be_compared_is_one_sentence():
    for names in (("2020-01-01", "2020-01-01"), ("2020-01-01", HOSTILE)):
        shown = render_comparison(BOOK, *names)
        assert 'role="alert"' in shown
        assert "<img" not in shown


def test_the_two_newest_whole_editions_are_chosen_first_or_else_the_newest(book):
    assert editions_to_compare(BOOK) == ("2021-01-01", "2022-01-01")
    assert editions_to_compare(book) == ("2022-06-10", "2024-03-08")

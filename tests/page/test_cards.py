"""Rules and evidence as HTML: links, symbols, the marked sentence, and hostile text as text."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import HOSTILE, hostile_book

from page import cards
from qa.answer import Answer
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings


def test_a_reference_is_a_link_to_the_rule_in_the_same_edition(book):
    old = book.edition("2009-10-01")
    shown = cards.rule_text("See rule 702.9b, please.", old)
    assert 'href="?rule=702.9b&amp;edition=2009-10-01"' in shown
    assert 'data-rule="702.9b"' in shown
    assert shown.startswith("See rule <a ")
    assert shown.endswith("</a>, please.")


def test_a_bare_section_is_a_link_only_where_it_is_called_a_rule(book):
    shown = cards.rule_text("In rule 509 a creature has 509 power.", book.current)
    assert shown.count('data-rule="509"') == 1


def test_a_rule_that_is_not_loaded_is_no_link(book):
    shown = cards.rule_text("See rule 903.4.", book.current)
    assert "<a " not in shown
    assert '<span class="absent"' in shown


@pytest.mark.parametrize(
    ("symbol", "label"),
    [("T", "tap"), ("w/b", "white or black"), ("2/U", "2 generic or blue"), ("15", "15 generic")],
)
def test_a_mana_symbol_can_be_read_out(symbol, label):
    assert f'role="img" aria-label="{label}"' in cards.mana(symbol)


@pytest.mark.parametrize("text", ["{nonsense}", "{}", "{W/}", "{a b}", "{W/U/B/R}"])
def test_what_is_no_symbol_stays_as_it_is(text, book):
    assert cards.rule_text(text, book.current) == text


def test_the_decisive_sentence_is_marked_with_its_links(book):
    rule = book.current.rule("702.17b")
    quote = rule.text.split(". ")[0] + "."
    shown = cards.paragraph(rule.text, book.current, False, quote)
    assert f"<mark>{quote}</mark>" in shown
    assert 'data-rule="509"' in shown.split("</mark>")[1]


def test_a_text_that_its_source_cut_off_says_so(book):
    assert "[cut off in the source]" in cards.paragraph("The rest is", book.current, True)
    assert "cut off" not in cards.paragraph("That is all.", book.current, False)


def test_hostile_text_is_shown_as_text():
    book = hostile_book()
    rule = book.rule("100.1")
    for made in (cards.rule_body(rule, book), cards.title(HOSTILE, HOSTILE, HOSTILE)):
        assert "<img" not in made
        assert "<script" not in made
        assert "&lt;img src=x onerror=alert(1)&gt;" in made


@given(st.text(alphabet="<>&\"'{}/TW. 702rule19b\n"))
def test_no_text_makes_tags_of_its_own(text):
    shown = cards.rule_text(text, hostile_book())
    assert set(re.findall(r"<(\w+)", shown)) <= {"a", "span", "br"}


def test_evidence_shows_each_cited_rule_whole_and_the_others_below(answer, book):
    shown = cards.render_evidence(answer, book.current, 3)
    cited = [citation.number for citation in answer.citations]
    assert re.findall(r'id="card-([\w.]+)"', shown) == cited
    assert 'data-turn="3"' in shown
    read = shown.split('class="also"')[1]
    others = [hit.passage.number for hit in answer.hits if hit.passage.number not in cited]
    assert others
    assert re.findall(r'<summary><span class="number">([\w.]+)<', read) == others


def test_a_card_carries_number_heading_edition_and_the_examples_folded(book, searcher):
    looked_up = Assistant(Settings(), Resources(searcher=searcher)).ask("702.19b")
    shown = cards.render_evidence(looked_up, book.current, 0)
    assert '<span class="number">702.19b</span> <span class="heading">Trample</span>' in shown
    assert 'title="edition">2024-03-08<' in shown
    assert '<details class="examples"><summary>2 examples</summary>' in shown
    assert "<mark>" not in shown  # asked for by number: all of it is wanted


def test_the_evidence_of_an_abstention_cites_nothing(answer, book):
    refused = replace(answer, abstained=True, citations=())
    shown = cards.render_evidence(refused, book.current, 0)
    assert "No rule is cited" in shown
    assert 'class="card"' not in shown
    assert "Closest rules" in shown


def test_an_answer_from_a_book_that_changed_since_is_still_shown(answer):
    shown = cards.render_evidence(answer, hostile_book(), 0)
    assert re.findall(r'id="card-([\w.]+)"', shown) == [c.number for c in answer.citations]


def test_an_empty_answer_has_evidence_too():
    assert "Evidence" in cards.render_evidence(Answer("?", "current", ""), hostile_book(), 0)

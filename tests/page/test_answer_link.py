"""Links to answers: what they carry, what survives them, and what has changed since."""

from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.searcher import LONGEST_QUESTION
from page.answer_link import MAX_LENGTH, address, changed, read
from page.conversation import notes, render_conversation
from page.transcript import Turn
from qa.answer import Answer


def opened(link: str):
    """What a link asks, as a server reads it."""
    given = {name: values[0] for name, values in parse_qs(link.removeprefix("?")).items()}
    return read(given.get("ask", ""), given.get("edition", ""), given.get("cites", ""))


def test_a_link_carries_question_edition_and_cited_rules(answer, book):
    link = opened(address(answer))
    assert (link.question, link.edition) == (answer.question, "current")
    assert [cite.number for cite in link.cites] == [cited.number for cited in answer.cited]
    assert changed(link.cites, book.current) == []


def test_a_follow_up_is_linked_as_it_was_understood(answer):
    follow_up = replace(answer, question="and then?", standalone_question="Can it block? and then?")
    assert opened(address(follow_up)).question == "Can it block? and then?"


@given(st.text(min_size=1, max_size=200))
def test_every_question_survives_or_has_no_link(question):
    link = address(Answer(question, "current", ""))
    if link is None:
        assert len(question.encode(errors="replace")) * 3 > MAX_LENGTH / 2
        return
    assert len(link) <= MAX_LENGTH
    assert link.isascii()
    assert not set("<>\"' \n") & set(link)
    assert opened(link).question == question.encode(errors="replace").decode()


def test_what_is_too_long_has_no_link_but_a_button_that_says_so(answer):
    long = replace(answer, question="why? " * 700)
    assert address(long) is None
    shown = render_conversation([Turn(long.question, long)])
    assert 'disabled title="The question is too long for a link' in shown


@pytest.mark.parametrize(
    "cites", ["", "702.17b", "x" * 5000, "702.17b-<script>", "702.17b-XYZ12345", "999-12345678"]
)
def test_what_is_no_citation_is_left_out(cites):
    assert read("x", "current", cites).cites == ()


def test_a_link_that_is_too_long_asks_what_is_refused_and_cites_few():
    link = read("x" * 100_000, "current", "702.1a-12345678_" * 10_000)
    assert len(link.question) == LONGEST_QUESTION + 1
    assert len(link.cites) == 12


def test_a_rule_that_reads_differently_or_is_gone_is_marked(answer, book):
    older = book.edition("2009-10-01")
    link = opened(address(answer))
    there = changed(link.cites, older)
    assert "702.17b" in there  # trample then
    turn = Turn(answer.question, answer, changed=("702.17b", "702.999"))
    shown = render_conversation([turn])
    assert shown.count('<span class="changed">changed since the link was created</span>') == 1
    assert "702.17b, 702.999, changed since the link was created" in notes(turn)[0]

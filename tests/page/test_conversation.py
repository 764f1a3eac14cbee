"""Turns as HTML: verdict, confidence, abstention, drafts, and hostile questions as text."""

from dataclasses import replace

import pytest

from page import conversation
from page.transcript import LONGEST_COMMENT, Turn
from page.service import State
from qa.answer import Assistant
from qa.settings import Settings

HOSTILE = '<img src=x onerror="alert(1)">'


def test_an_empty_conversation_offers_questions():
    shown = conversation.conversation([])
    assert shown.count("data-ask=") == len(conversation.STARTERS)


def test_each_citation_leads_to_its_card_of_its_turn(answer):
    shown = conversation.conversation([Turn("first", answer), Turn("second", answer)])
    assert shown.count('data-cite="702.17b" data-turn="0"') == 1
    assert shown.count('data-cite="702.17b" data-turn="1"') == 1
    assert answer.citations[0].quote in shown


def test_a_verdict_is_shown_as_such_and_none_is_not(answer):
    assert "verdict-yes" in conversation.conversation([Turn("?", replace(answer, verdict="yes"))])
    assert "verdict" not in conversation.conversation([Turn("?", answer)])


@pytest.mark.parametrize(
    ("sure", "told"), [(0.98, "98&#8239;% (high)"), (0.699, "70&#8239;% (fair)"), (0.2, "(low)")]
)
def test_confidence_is_a_word_and_a_number(answer, sure, told):
    assert told in conversation.confidence(replace(answer, confidence=sure))


def test_a_rule_that_was_looked_up_has_no_confidence(answer):
    assert conversation.confidence(replace(answer, model="book")) == ""


def test_an_abstention_looks_like_one(searcher):
    refused = Assistant(Settings(), searcher).ask("what is the speed of light?")
    shown = conversation.conversation([Turn("?", refused)])
    assert refused.abstained
    assert '<div class="abstained">' in shown
    assert "data-cite" not in shown
    assert "Confidence" not in shown


def test_edition_and_model_that_answered_are_always_there(answer):
    shown = conversation.conversation(
        [Turn("?", replace(answer, model="some-model", edition="2009-10-01"))]
    )
    assert "model some-model" in shown
    assert ">2009-10-01<" in shown


def test_a_follow_up_shows_what_was_understood(answer):
    turn = Turn("and it?", replace(answer, standalone_question="A flyer? and it?"))
    assert "Understood as: A flyer? and it?" in conversation.conversation([turn])


def test_a_draft_is_called_one_and_gives_way_to_what_was_checked(answer):
    running = Turn("?", answer, draft="Maybe so", waiting="The model is writing …")
    shown = conversation.conversation([running])
    assert "Draft, not yet checked" in shown
    assert 'aria-busy="true"' in shown
    assert "data-copy" not in shown
    done = conversation.conversation([replace(running, waiting="")])
    assert "Maybe so" not in done
    assert "data-copy" in done


def test_the_models_sentences_carry_their_rules_as_citations(answer):
    first = answer.citations[0]
    said = f"It can. [{first.number}]"
    text = f"{said}\n{answer.text}"
    moved = [replace(c, span=(c.span[0] + len(said) + 1, 0)) for c in answer.citations]
    shown = conversation.conversation([Turn("?", replace(answer, text=text, citations=tuple(moved)))])
    assert 'class="said">It can. <a class="cite"' in shown


def test_what_a_reader_should_know_is_noted(answer):
    failed = replace(answer.citations[0], quote="", number="702.999")
    made = replace(answer, citations=(failed,), unsupported=2, reason="The server was gone.")
    told = " ".join(conversation.notes(Turn("?", made, stopped=True)))
    for part in ("Stopped", "702.999: not checked", "2 sentences", "The server was gone."):
        assert part in told


def test_hostile_questions_answers_and_errors_are_text(answer):
    made = replace(
        answer, question=HOSTILE, standalone_question=HOSTILE, text=HOSTILE, model=HOSTILE
    )
    turns = [
        Turn(HOSTILE, made),
        Turn(HOSTILE, replace(made, abstained=True, citations=())),
        Turn(HOSTILE, made, draft=HOSTILE, waiting=HOSTILE),
        Turn(HOSTILE, failure=HOSTILE),
        Turn(HOSTILE, waiting=HOSTILE),
    ]
    shown = conversation.conversation(turns)
    assert "<img" not in shown
    assert shown.count("&lt;img") >= 10
    assert "<img" not in conversation.status(State(HOSTILE), HOSTILE, HOSTILE, True, HOSTILE)


def test_the_status_says_which_model_speaks():
    quiet = conversation.status(State("Ready", ready=True), "smollm2-135m", "current", False, "2024-03-08")
    loud = conversation.status(State("Ready", ready=True), "smollm2-135m", "current", True, "2024-03-08")
    assert "none, rules quoted" in quiet
    assert "<b>smollm2-135m</b>" in loud
    assert "current, 2024-03-08" in quiet


def test_a_vote_takes_the_place_of_its_buttons(answer):
    assert f'maxlength="{LONGEST_COMMENT}"' in conversation.conversation([Turn("?", answer)])
    voted = conversation.conversation([Turn("?", answer, vote="down")])
    assert "Noted as wrong" in voted
    assert "data-vote" not in voted

"""Turns as HTML: verdict, confidence, abstention, drafts, and hostile questions as text."""

from dataclasses import replace

import pytest

from index.expansion import AnsweredQuestion
from page.conversation import (
    STARTERS,
    notes,
    render_confidence,
    render_conversation,
)
from page.transcript import MAX_COMMENT, Turn, as_markdown, as_text
from qa.assistant import Assistant
from qa.compose import SIMILAR
from qa.resources import Resources
from qa.settings import Settings

HOSTILE = '<img src=x onerror="alert(1)">'


def test_an_empty_conversation_offers_questions():
    shown = render_conversation([])
    assert shown.count("data-ask=") == len(STARTERS)


def test_each_citation_leads_to_its_card_of_its_turn(answer):
    plain = replace(answer, similar_questions=())  # which name the same rules again
    shown = render_conversation([Turn("first", plain), Turn("second", plain)])
    assert shown.count('data-cite="702.17b" data-turn="0"') == 1
    assert shown.count('data-cite="702.17b" data-turn="1"') == 1
    assert answer.citations[0].quote in shown


def test_a_verdict_is_shown_as_such_and_none_is_not(answer):
    assert "verdict-yes" in render_conversation([Turn("?", replace(answer, verdict="yes"))])
    assert "verdict" not in render_conversation([Turn("?", answer)])


def test_what_a_model_says_leads_where_it_is_sure_and_follows_where_it_is_not(answer):
    sure = replace(answer, verdict="yes", generated="It can [702.17b].")
    for one, leads in [(sure, True), (replace(sure, verdict="unclear", unsure=True), False)]:
        shown = render_conversation([Turn("?", one)])
        assert (shown.index('class="reading"') < shown.index('class="cited"')) == leads


def test_what_a_model_says_is_folded_away_where_its_verdict_is_unclear(answer):
    sure = replace(answer, verdict="yes", generated="It can [702.17b].")
    assert "<details>" not in render_conversation([Turn("?", sure)])
    unsure = render_conversation([Turn("?", replace(sure, verdict="unclear", unsure=True))])
    assert unsure.index("verdict-unclear") < unsure.index("<details>") < unsure.index("It can")


@pytest.mark.parametrize(
    ("sure", "shown"), [(0.98, "98% (high)"), (0.699, "70% (fair)"), (0.2, "(low)")]
)
def test_confidence_is_a_word_and_a_number(answer, sure, shown):
    assert shown in render_confidence(replace(answer, confidence=sure))


def test_a_rule_that_was_looked_up_has_no_confidence(answer):
    assert render_confidence(replace(answer, model="book")) == ""


def test_an_abstention_looks_like_one(searcher):
    refused = Assistant(Settings(), Resources(searcher=searcher)).ask("who is the tallest judge?")
    shown = render_conversation([Turn("?", refused)])
    assert refused.abstained
    assert '<div class="abstained">' in shown
    assert "data-cite" not in shown
    assert "Confidence" not in shown


def test_a_refusal_for_want_of_rules_says_where_they_are_added(searcher):
    assistant = Assistant(Settings(), Resources(searcher=searcher))
    refused = assistant.ask("how many cards do I draw after a mulligan?")
    shown = render_conversation([Turn("?", refused)])
    assert "section 103, which is not loaded. Add the full rules" in shown
    assert "You can add documents in the Rules tab, under Rules documents." in shown
    assert "stickler " not in shown


def test_edition_and_model_that_answered_are_always_there(answer):
    shown = render_conversation(
        [Turn("?", replace(answer, model="some-model", edition="2009-10-01"))]
    )
    assert "model some-model" in shown
    assert ">2009-10-01<" in shown


def test_a_follow_up_shows_what_was_understood(answer):
    turn = Turn("and it?", replace(answer, standalone_question="A flyer? and it?"))
    assert "Understood as: A flyer? and it?" in render_conversation([turn])


def test_a_draft_is_called_one_and_gives_way_to_what_was_checked(answer):
    running = Turn("?", answer, draft="Maybe so", waiting="The model is writing …")
    shown = render_conversation([running])
    assert "Draft, not yet checked" in shown
    assert 'aria-busy="true"' in shown
    assert "data-copy" not in shown
    done = render_conversation([replace(running, waiting="")])
    assert "Maybe so" not in done
    assert "data-copy" in done


def test_the_models_sentences_carry_their_rules_as_citations(answer):
    first = answer.citations[0]
    generated = f"It can. [{first.number}]"
    shown = render_conversation([Turn("?", replace(answer, generated=generated))])
    assert 'class="generated">It can. <a class="cite"' in shown


def test_similar_questions_are_shown_with_their_rule_and_go_where_the_answer_goes(answer):
    hostile = AnsweredQuestion(answer.cited[0].number, "Is <b> *bold*?", "No. It is <i>.", 0.9)
    turn = Turn("?", replace(answer, similar_questions=(hostile,)))
    shown = render_conversation([turn])
    assert "<dt>Is &lt;b&gt; *bold*?</dt><dd>No. It is &lt;i&gt; <a " in shown
    assert SIMILAR in as_text(turn.answer)
    assert "\\*bold\\*" in as_markdown([turn])
    assert SIMILAR not in render_conversation([Turn("?", replace(answer, similar_questions=()))])


def test_what_a_reader_should_know_is_noted(answer):
    failed = replace(answer.citations[0], quote="", number="702.999")
    made = replace(answer, citations=(failed,), unsupported=2, reason="The server was gone.")
    noted = " ".join(notes(Turn("?", made, stopped=True)))
    for part in ("Stopped", "702.999: this is not verified", "2 sentences", "The server was gone."):
        assert part in noted


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
    shown = render_conversation(turns)
    assert "<img" not in shown
    assert shown.count("&lt;img") >= 10


def test_a_vote_takes_the_place_of_its_buttons(answer):
    assert f'maxlength="{MAX_COMMENT}"' in render_conversation([Turn("?", answer)])
    voted = render_conversation([Turn("?", answer, vote="down")])
    assert "Noted as wrong" in voted
    assert "data-vote" not in voted

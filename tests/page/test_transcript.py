"""What stays of a conversation: exports that read well, feedback for the evaluation."""

import json
import threading
from dataclasses import replace

import pytest

from index.errors import SticklerError
from page import transcript
from page.transcript import Turn
from qa.answer import Answer


def test_a_copied_answer_has_its_citations_whole(answer):
    text = transcript.as_text(answer)
    assert text.startswith("Can a creature with reach block my flyer?\n")
    for citation in answer.citations:
        line = f"{citation.number} {citation.heading} [{citation.edition}]: {citation.text}"
        assert line in text


def test_a_rule_that_its_source_cut_off_is_marked_as_such(answer):
    cut = replace(answer, citations=(replace(answer.citations[0], truncated=True),))
    for text in (transcript.as_text(cut), transcript.as_markdown([Turn("?", cut)])):
        assert "cut off in the source" in text


def test_the_markdown_marks_the_decisive_sentence_and_nothing_turns_into_a_list(answer):
    text = transcript.as_markdown([Turn(answer.question, answer)])
    assert f"> **{answer.citations[0].quote}**" in text
    assert "**702.17b Reach** (2024-03-08)" in text


def test_a_conversation_is_resumed_from_its_questions_only():
    kept = [{"question": f"{at}?", "edition": "current", "more": 1} for at in range(40)]
    resumed = transcript.questions_to_resume(kept)
    assert resumed[-1] == ("39?", "current")
    assert len(resumed) == transcript.MAX_TURNS
    for damaged in (None, 1, {}, "x", [1], [{"question": "x"}]):
        with pytest.raises(SticklerError, match="start a new one"):
            transcript.questions_to_resume(damaged)


def test_nothing_in_a_question_is_markdown_or_html():
    asked = Answer("# *all* <b>\n1. x [y](z)", "current", "", text="none")
    line = transcript.as_markdown([Turn("?", asked)]).splitlines()[2]
    assert line == r"## \# \*all\* \<b\> 1. x \[y\](z)"


def test_the_json_is_a_list_of_answers(answer):
    turns = [Turn("a", answer), Turn("b", failure="No."), Turn("c", answer)]
    assert json.loads(transcript.as_json(turns)) == [json.loads(json.dumps(answer.to_json()))] * 2


def test_a_thumb_up_makes_the_cited_rules_the_gold(answer, home):
    transcript.vote([Turn("?", answer)], 0, "up", "good")
    (line,) = (home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(line)
    assert row["gold_rules"] == [citation.number for citation in answer.citations]
    assert (row["kind"], row["vote"], row["comment"]) == ("feedback", "up", "good")
    assert (row["id"], row["edition"], row["model"]) == (answer.id, "current", "none")
    assert {"question", "verdict", "answer", "when"} < set(row)


def test_a_thumb_down_has_no_gold_and_a_long_comment_is_cut(answer, home):
    turns = transcript.vote([Turn("?", answer)], 0, "down", "x" * 9999)
    row = json.loads((home / "feedback.jsonl").read_text(encoding="utf-8"))
    assert row["gold_rules"] == []
    assert len(row["comment"]) == transcript.MAX_COMMENT
    assert turns[0].vote == "down"


@pytest.mark.parametrize(("place", "vote"), [(1, "up"), (-1, "up"), (0, "sideways")])
def test_a_vote_on_nothing_is_refused(answer, place, vote, home):
    with pytest.raises(SticklerError):
        transcript.vote([Turn("?", answer)], place, vote, "")
    assert not (home / "feedback.jsonl").exists()


def test_votes_of_many_at_once_are_all_kept(answer, home):
    voters = [
        threading.Thread(target=transcript.save_feedback, args=(answer, "up", str(n) * 500))
        for n in range(8)
    ]
    for voter in voters:
        voter.start()
    for voter in voters:
        voter.join()
    lines = (home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["comment"][0] for line in lines) == [str(n) for n in range(8)]


def test_a_full_feedback_file_grows_no_more(answer, home, monkeypatch):
    monkeypatch.setattr(transcript, "_MAX_FEEDBACK", 10)
    transcript.save_feedback(answer, "up", "")
    with pytest.raises(SticklerError, match="full"):
        transcript.save_feedback(answer, "up", "")


def test_what_was_understood_is_what_a_follow_up_leans_on():
    turns = [
        Turn("a", Answer("a", "current", "")),
        Turn("it?", Answer("it?", "current", "", standalone_question="a it?")),
        Turn("failed", failure="No."),
    ]
    assert transcript.earlier_questions(turns) == ["a", "a it?"]

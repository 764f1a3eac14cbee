"""An answer shows the rules that decide, word for word, and nothing that was not checked."""

import json
from dataclasses import replace

import pytest

from eval import items
from qa.assistant import Assistant
from qa.compose import ABSTAINED, ADD_RULES
from qa.resources import Resources
from qa.settings import Settings

pytestmark = pytest.mark.usefixtures("shared_embeddings")
REACH = "can a creature with reach block my flyer?"


@pytest.fixture(scope="module")
def resources(searcher):
    return Resources(searcher=searcher)


@pytest.fixture(scope="module")
def plain(resources):
    return Assistant(Settings(model="none"), resources)


def test_an_answer_quotes_the_rules_that_decide(plain):
    answer = plain.ask(REACH)
    assert answer.citations[0].number in ("702.17b", "702.9b")
    assert not answer.abstained
    assert (answer.model, answer.raw, answer.verdict) == ("none", "", None)
    assert answer.cited == list(answer.citations)
    assert (answer.unverified, answer.generated) == ([], "")
    for citation in answer.citations:
        rule = plain.edition.rule(citation.number)
        assert citation.quote in rule.text == citation.text
        assert (citation.edition, citation.heading) == (rule.edition, rule.heading)
        assert answer.text[slice(*citation.span)] == citation.number
        assert f"“{citation.quote}”" in answer.text
        assert citation.status == "supported"
    assert len(answer.hits) == 10


def test_what_the_rules_cannot_answer_is_refused_with_a_reason_and_the_nearest_rules(plain):
    """How many are refused, and how many wrongly, is measured by the published figures."""
    those = [item.question for item in items.unanswerable() if item.split == "test"][::9]
    refused = [answer for answer in plain.ask_many(those) if answer.abstained]
    assert len(refused) >= len(those) / 2
    for answer in refused:
        assert answer.text.startswith(ABSTAINED)
        assert answer.citations == ()
        assert answer.reason
        assert len(answer.hits) == 10


def test_a_refusal_names_the_section_that_is_not_loaded(plain):
    answer = plain.ask("how many cards do I draw after a mulligan?")
    assert answer.abstained
    assert "section 103, which is not loaded" in answer.text
    assert ADD_RULES in answer.text


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("702.19b", ["702.19b"]),
        ("what does 702.19b say?", ["702.19b"]),
        ("510.1c-d", ["510.1c", "510.1d"]),
        ("what is defender?", ["702.3a", "702.3b", "702.3c"]),
        ("Defender", ["702.3a", "702.3b", "702.3c"]),
        ("how does first strike work?", ["702.7a", "702.7b", "702.7c", "702.7d"]),
    ],
)
def test_a_number_or_a_keyword_is_answered_from_the_book_at_once(question, numbers, home):
    """No index and no model: neither is there, and none is made."""
    answer = Assistant(Settings(model="no such model")).ask(question)
    assert [citation.number for citation in answer.citations] == numbers
    assert answer.model == "book"
    assert not home.exists()
    for citation in answer.citations:
        assert citation.text == citation.quote
        assert citation.quote in answer.text
        assert answer.text[slice(*citation.span)] == citation.number


def test_many_questions_are_answered_as_each_by_itself(plain):
    asked = [item.question for item in items.dev()[::40]]
    asked += ["702.19b", "what is banding?", "who won the last Pro Tour?"]
    ids = [f"q{place}" for place in range(len(asked))]
    together = plain.ask_many(asked, ids)
    for question, own, answer in zip(asked, ids, together, strict=True):
        alone = plain.ask(question, id=own)
        assert replace(answer, hits=(), timings={}, confidence=0) == replace(
            alone, hits=(), timings={}, confidence=0
        )
        assert [hit.passage for hit in answer.hits] == [hit.passage for hit in alone.hits]
        assert answer.confidence == pytest.approx(alone.confidence, abs=0.002)
    assert plain.ask_many([]) == []


def test_an_older_book_answers_for_itself(resources):
    answer = Assistant(Settings(model="none", edition="2009-10-01"), resources).ask(
        "how does trample assign damage among blockers?"
    )
    assert answer.edition == "2009-10-01"
    assert {citation.edition for citation in answer.citations} == {"2009-10-01"}
    assert "702.17b" in {citation.number for citation in answer.citations}


def test_an_answer_as_json_has_the_contracts_names(plain):
    found = json.loads(json.dumps(plain.ask(REACH, id="q1").to_json()))
    assert set(found) == {
        *("version", "id", "question", "standalone_question", "verdict", "text", "raw"),
        *(
            "verdict_confidence",
            "yes_probability",
            "generated",
            "generated_confidence",
            "unsure",
            "mean_logprob",
            "abstained",
            "reason",
            "confidence",
            "citations",
            "hits",
            "edition",
            "model",
        ),
        *("settings", "timings", "unsupported", "open_condition", "similar_questions"),
    }
    assert (found["version"], found["id"], found["edition"]) == (4, "q1", "current")
    assert set(found["similar_questions"][0]) == {
        *("number", "question", "answer", "similarity", "edition"),
    }
    assert set(found["citations"][0]) == {
        *("number", "edition", "heading", "quote", "text", "status", "span", "truncated"),
    }
    assert set(found["hits"][0]) == {"number", "edition", "kind", "rank", "score", "via"}


def test_similar_questions_were_answered_by_the_rules_that_are_cited(plain):
    answer = plain.ask("My chump blocker was sacrificed. Does his 6/6 hit me now?")
    numbers = [citation.number for citation in answer.cited]
    assert len(answer.similar_questions) == 3
    assert all(each.number in numbers and each.answer for each in answer.similar_questions)
    likeness = [each.similarity for each in answer.similar_questions]
    assert likeness == sorted(likeness, reverse=True)
    assert plain.ask("who is the tallest judge?").similar_questions == ()
    assert plain.ask("702.19b").similar_questions == ()


def test_a_follow_up_keeps_its_subject(plain):
    first = "my attacker has trample and is blocked by a 2/2, how is the damage assigned?"
    answer = plain.ask("and if it also has deathtouch?", [first])
    assert answer.standalone_question == f"{first} and if it also has deathtouch?"
    assert {"702.2c", "702.2b"} & {hit.passage.number for hit in answer.hits}
    assert (
        plain.ask("What does banding do to blocked attackers?", [first]).standalone_question is None
    )

"""An answer that depends on what its question leaves open says so and guesses nothing."""

import json
from dataclasses import replace

import pytest
from fakes import EchoModel

from eval import items
from page.conversation import render_conversation
from page.transcript import Turn, as_markdown, as_text
from qa import compose
from qa.answer_cache import FROM_CACHE, AnswerCache
from qa.assistant import Assistant
from qa.open_condition import find
from qa.resources import Resources
from qa.settings import Settings

pytestmark = pytest.mark.usefixtures("shared_embeddings")
WRITTEN = [
    json.loads(line)
    for line in (items.SETS / "open-conditions.jsonl").read_text("utf-8").splitlines()
]
BANDING = "Banding: which player chooses how combat damage is assigned?"
INFECT = "Is infect damage counted as normal damage?"


@pytest.fixture(scope="module")
def plain(searcher):
    return Assistant(Settings(model="none"), Resources(searcher=searcher))


def conditions(assistant, questions):
    return [draft.answer.open_condition for draft in assistant.draft_many(questions)]


def test_the_condition_is_named_and_each_side_has_its_rules_own_words(plain):
    answer = plain.ask(BANDING)
    condition = answer.open_condition
    assert condition.name == "attacking or blocking"
    assert [branch.number for branch in condition.branches] == ["702.22j", "702.22k"]
    for branch in condition.branches:
        assert branch.quote in plain.edition.rule(branch.number).text
        assert f"{branch.side[1:]}, {branch.number}: “{branch.quote}”" in answer.text
    assert answer.text.count(compose.DEPENDS) == 1
    for citation in answer.cited:
        assert answer.text[slice(*citation.span)] == citation.number


@pytest.mark.parametrize(
    "question",
    [
        "Banding: which player chooses how an attacking creature's combat damage is assigned?",
        "My creature blocks one with banding. Who assigns its combat damage?",
        "Is infect damage to a player counted as normal damage?",
        "My first striker loses first strike after the first damage step. Does it hit again?",
        "What happens to a mutating creature spell as it resolves if its target has died?",
    ],
)
def test_what_the_question_states_is_not_asked_back(plain, question):
    assert plain.ask(question).open_condition is None


def test_two_sentences_of_one_rule_are_two_sides(book):
    rule = book.current.rule("701.10b")
    found = find("Does exchanging control of two creatures do anything?", [rule], cited=1)
    assert found.name == "same controller or different ones"
    assert {branch.number for branch in found.branches} == {"701.10b"}
    assert found.branches[0].quote != found.branches[1].quote


def test_rules_far_down_and_a_single_side_ask_nothing_back(book):
    rules = [book.current.rule(n) for n in ("702.17b", "702.9b", "702.22j", "702.22k")]
    assert find(BANDING, rules, cited=4) is None
    assert find(BANDING, rules[2:], cited=2) is not None
    assert find(BANDING, rules[2:3], cited=1) is None
    assert find(BANDING, [], cited=0) is None


def test_no_model_is_asked_to_guess(searcher):
    model = EchoModel("Yes. It is.", probabilities={"Yes": 0.9, "No": 0.1})
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    assistant = Assistant(Settings(model="fake"), resources)
    alone, [together] = assistant.ask(INFECT), assistant.ask_many([INFECT])
    assert model.requests == []
    assert alone.open_condition == together.open_condition is not None
    assert alone.verdict is None


def test_it_is_shown_saved_and_kept(plain):
    *_, first = AnswerCache().ask_stream(plain, INFECT)
    *_, again = AnswerCache().ask_stream(plain, INFECT)
    assert FROM_CACHE in again.timings
    assert again.open_condition == first.open_condition
    turn = Turn(INFECT, first)
    shown = render_conversation([turn])
    for text in (shown, as_text(first), as_markdown([turn])):
        assert compose.DEPENDS in text
        assert "If it is dealt to a player" in text
    assert 'data-cite="702.90b"' in shown
    for branch in first.open_condition.branches:
        assert shown.partition("data-copy")[0].count(branch.quote) == 1
    assert compose.DEPENDS not in as_text(replace(first, open_condition=None))


@pytest.mark.parametrize(("split", "least"), [("tune", 0.77), ("held-out", 0.8)])
def test_most_questions_that_leave_a_condition_open_are_asked_back(plain, split, least):
    asked = [row for row in WRITTEN if row["split"] == split]
    found = conditions(plain, [row["question"] for row in asked])
    right = [
        o is not None and o.name == row["condition"] for o, row in zip(found, asked, strict=True)
    ]
    assert sum(right) / len(asked) >= least


def test_few_questions_with_one_answer_are_asked_back(plain):
    found = conditions(plain, [item.question for item in items.dev()])
    assert sum(map(bool, found)) / len(found) <= 0.02

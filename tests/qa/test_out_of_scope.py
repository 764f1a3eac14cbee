"""What a question may be about instead of the loaded rules."""

import json
from importlib.resources import files

import pytest

from eval import items
from index.rulebook import Rule
from qa import compose
from qa.out_of_scope import Neighbour, OutOfScope


@pytest.fixture(scope="module")
def asked():
    text = files("qa").joinpath("asked.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_no_question_that_measures_is_among_those_that_were_asked(asked):
    known = [row["question"].lower() for row in asked]
    assert len(set(known)) == len(known) > 1000
    measuring = [*items.unanswerable(), *items.dev(), *items.test(), *items.kept_back()]
    assert not {item.question.lower() for item in measuring} & set(known)


def test_most_of_what_was_asked_needs_rules_that_are_not_loaded(asked, book):
    loaded = [row for row in asked if row["needs"] and row["needs"] in book.current]
    assert len(loaded) < 0.05 * len(asked)


def test_a_question_is_near_one_that_was_asked_before(searcher):
    topics = OutOfScope(searcher.book.current, searcher.embedder)
    (vector,) = searcher.embedder.encode_questions(["my opening hand has no lands, mulligan how?"])
    assert topics.nearest(vector).section == "103"
    (vector,) = searcher.embedder.encode_questions(["what is a foil Ragavan worth?"])
    assert topics.nearest(vector).section is None


def test_what_is_loaded_is_no_other_topic(searcher, monkeypatch):
    """Once section 103 is there, a mulligan is no matter of rules that are missing."""
    book = searcher.book.current
    shuffled = Rule("103.5", "Each player may take a mulligan.", "2024-03-08", "made up")
    monkeypatch.setitem(book.by_number, "103.5", shuffled)
    topics = OutOfScope(book, searcher.embedder)
    numbers = {phrase.needs for phrase in topics._phrases}
    assert "103.5" not in numbers
    assert "103.8a" in numbers


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("103", "It is nearer to section 103, which is not loaded."),
        ("701", "It is nearer to parts of section 701, which are not loaded."),
    ],
)
def test_a_refusal_says_what_is_missing(book, section, told):
    _, reason = compose.abstained([], Neighbour(section, 0.8), book.current)
    assert reason == told

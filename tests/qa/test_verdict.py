"""What asks for a yes or no, and how sure a model's yes or no is."""

import pytest

from eval import items
from qa import verdict


@pytest.mark.parametrize(
    "question",
    [
        "Can a creature with reach block my flyer?",
        "exactly seven cards at cleanup, gotta throw one away?",
        "When my token phases out, does it vanish forever?",
        "What a mess. Is my blocker still blocking?",
        "I have the thing which taps. It taps, right?",
    ],
)
def test_a_question_for_yes_or_no(question):
    assert verdict.options(question) == ("Yes", "No")


@pytest.mark.parametrize(
    "question",
    [
        "How much damage goes through?",
        "My 5/5 trampler is blocked by a 2/2, so how much tramples over?",
        "whats the order for paying several costs to attack?",
        "At what point do I choose? I forgot. And when do I pay?",
        "Until when could I have cast it",
    ],
)
def test_a_question_for_more_than_yes_or_no(question):
    assert verdict.options(question) == ()


def test_hardly_a_yes_or_no_of_the_training_set_is_missed():
    """Measured: 1 of 1,219 is taken for an open question, and 796 of 886 open ones are told."""
    train = items.train()
    closed = [bool(verdict.options(item.question)) for item in train if item.gold_verdict]
    opened = [not verdict.options(item.question) for item in train if not item.gold_verdict]
    assert sum(closed) / len(closed) > 0.995
    assert sum(opened) / len(opened) > 0.88


def test_below_the_threshold_a_verdict_is_unclear(monkeypatch):
    row = verdict.Calibration(slope=1.0, intercept=0.0, threshold=0.8)
    monkeypatch.setattr(verdict, "calibration", lambda model: row)
    assert verdict.from_probabilities({"Yes": 0.9, "No": 0.1}, "any").value == "yes"
    assert verdict.from_probabilities({"Yes": 0.1, "No": 0.9}, "any").value == "no"
    assert verdict.from_probabilities({"Yes": 0.4, "No": 0.3}, "any").value == "unclear"
    assert verdict.from_probabilities({"Yes": 0.2, "No": 0.1}, "any") is None
    assert verdict.from_probabilities(None, "any") is None


def test_what_follows_the_yes_or_no_begins_a_sentence():
    assert verdict.split("Yes, it can [1.1].") == ("yes", "It can [1.1].")
    assert verdict.split("It can [1.1].") == (None, "It can [1.1].")


@pytest.mark.parametrize(
    ("raw", "value", "rest"),
    [
        ("Yes it can.", "yes", "It can."),
        ("No [1.1].", "no", "[1.1]."),
        ("no", "no", ""),
        ("No — it cannot.", "no", "It cannot."),
        ("No - it cannot.", "no", "It cannot."),
        ("No it can't.", "no", "It can't."),
        ("No because it attacks.", "no", "Because it attacks."),
        ("**No**, it can't.", "no", "It can't."),
        ("**No.** It can't.", "no", "It can't."),
        ("“No”, it can't.", "no", "It can't."),
        ("No-one controls it.", None, "No-one controls it."),
        ("No one controls it.", None, "No one controls it."),
        ("No player controls it.", None, "No player controls it."),
        ("No more than two of them.", None, "No more than two of them."),
    ],
)
def test_a_no_that_belongs_to_the_sentence_is_no_verdict(raw, value, rest):
    assert verdict.split(raw) == (value, rest)

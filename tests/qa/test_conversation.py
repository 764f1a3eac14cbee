"""A follow-up leans on the question before it; a new question does not."""

import pytest

from qa.conversation import standalone

BEFORE = ["Does trample work with deathtouch when I am blocked?"]


@pytest.mark.parametrize(
    "question",
    [
        "and if it also has deathtouch?",
        "what about first strike?",
        "But what if they block with two?",
        "why?",
        "does it still die?",
        "How about a planeswalker?",
    ],
)
def test_a_follow_up_takes_its_subject_along(question):
    assert standalone(question, BEFORE) == f"{BEFORE[0]} {question}"
    assert standalone(question, []) is None


@pytest.mark.parametrize(
    "question",
    [
        "Can a creature with flying be blocked by a creature with reach?",
        "When my opponent's creature with menace attacks me and I control a single untapped "
        "creature, may that creature block it anyway?",
        "702.19b",
    ],
)
def test_a_question_of_its_own_stands_alone(question):
    assert standalone(question, BEFORE) is None

import random

import pytest

from eval.tuning import data
from eval.tuning.claims import claims


@pytest.fixture(scope="module")
def texts():
    return [rule.shown for rule in data.load(400).rules.values()]


def test_a_claim_is_right_under_one_version_and_wrong_under_the_other(texts):
    chance = random.Random(0)
    made = [family for text in texts if (family := claims(text, chance))]
    assert len(made) > 0.8 * len(texts)
    for rule, turned in made:
        assert rule.text in texts
        assert turned.text not in (rule.text, "")
        assert [q for q, _ in rule.asked] == [q for q, _ in turned.asked]
        assert all(yes != no for (_, yes), (_, no) in zip(rule.asked, turned.asked, strict=True))


@pytest.mark.parametrize(
    ("sentence", "asked", "yes", "turned"),
    [
        (
            "Creatures with glimmer can’t be blocked by lands.",
            "Can creatures with glimmer be blocked by lands?",
            False,
            "Creatures with glimmer can be blocked by lands.",
        ),
        (
            "If it leaves, its owner may draw a card.",
            "its owner draw a card",
            True,
            "If it leaves, its owner can’t draw a card.",
        ),
        (
            "Glimmer isn't a mana ability here.",
            "Is glimmer a mana ability here?",
            False,
            "Glimmer is a mana ability here.",
        ),
    ],
)
def test_a_plain_sentence_becomes_the_question_that_it_answers(sentence, asked, yes, turned):
    found = [claims(f"Glimmer: {sentence}", random.Random(seed)) for seed in range(60)]
    questions = {(question, said) for family in found for question, said in family[0].asked}
    assert any(asked in question and said == yes for question, said in questions)
    assert any(family[1].text == f"Glimmer: {turned}" for family in found)


def test_where_nothing_can_be_turned_nothing_is_claimed():
    assert claims("Glimmer: See rule seven.", random.Random(0)) == []

import random

import pytest

from eval.training import data, near
from index.embedder import PLAIN, Embedder
from index.errors import SticklerError


def test_near_misses_are_rules_that_do_not_decide():
    few = data.load(30)
    found = near.misses(few, Embedder(PLAIN))
    assert len(found) == 30
    for question, those in zip(few.questions, found, strict=True):
        assert not set(those) & set(question.rules)
        assert len(set(those)) == len(those)


def test_too_few_rules_are_one_sentence():
    known = data.load(1)
    alone = data.Data(known.questions, {n: known.rules[n] for n in known.questions[0].rules})
    with pytest.raises(SticklerError, match=r"too few rules .* higher '--limit'"):
        near.misses(alone, Embedder(PLAIN))


def test_the_nearest_are_drawn_most_often_and_each_once():
    chance = random.Random(0)
    drawn = [near.drawn(list("abcdefgh"), 3, chance) for _ in range(300)]
    assert all(len(set(those)) == 3 for those in drawn)
    assert sum("a" in those for those in drawn) > 1.5 * sum("h" in those for those in drawn)
    assert sorted(near.drawn(["a"], 2, chance)) == ["a", "a"]

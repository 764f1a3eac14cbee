"""What a question may be about instead of the loaded rules."""

import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from eval import items
from index import parsers
from index.editions import Rulebook
from index.embedder import Embedder
from qa import compose
from qa.out_of_scope import VECTORS, Neighbour, OutOfScope

MULLIGAN = "my opening hand has no lands, mulligan how?"


@pytest.fixture(scope="module")
def questions():
    """The questions about what is not loaded that ship."""
    text = files("qa").joinpath("out_of_scope.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_no_question_that_measures_is_among_those_that_ship(questions):
    known = [row["question"].lower() for row in questions]
    assert len(set(known)) == len(known) > 1000
    measuring = [*items.unanswerable(), *items.dev(), *items.test(), *items.calibration()]
    assert not {item.question.lower() for item in measuring} & set(known)


def test_most_of_those_that_ship_need_rules_that_are_not_loaded(questions, book):
    loaded = [row for row in questions if row["needs"] and row["needs"] in book.current]
    assert len(loaded) < 0.05 * len(questions)


def test_the_nearest_question_tells_what_is_missing(book, embedder):
    out_of_scope = OutOfScope(book.current, embedder)
    mulligan, price = embedder.encode_questions([MULLIGAN, "what is a foil Ragavan worth?"])
    assert out_of_scope.nearest(mulligan).section == "103"
    assert out_of_scope.nearest(price).section is None


def test_what_is_loaded_is_not_out_of_scope(questions, book, embedder, small_release):
    """With every rule of section 103, or with a whole release, no mulligan is out of scope."""
    [vector] = embedder.encode_questions([MULLIGAN])
    shipped = book.current
    missing = {row["needs"] for row in questions if str(row["needs"]).startswith("103.")}
    with_103 = {n: replace(shipped.rule("702.2a"), number=n) for n in missing}
    larger = replace(shipped, by_number={**shipped.by_number, **with_103})
    assert OutOfScope(larger, embedder).nearest(vector).section != "103"
    whole = Rulebook([parsers.parse(small_release().encode(), "rules.txt")]).current
    assert OutOfScope(whole, embedder).nearest(vector).section is None


def test_the_vectors_that_ship_are_those_of_the_default_model(questions, book, embedder):
    """None is computed where they fit, and they are what would be computed."""
    steps = []
    OutOfScope(book.current, embedder, lambda done, total: steps.append(done))
    assert steps == []
    last = [row["question"] for row in questions[-8:]]
    with np.load(VECTORS) as file:
        shipped = file["vectors"][-8:] * file["scale"][-8:]
    np.testing.assert_allclose(shipped, embedder.encode_passages(last), atol=2e-3)


def test_another_model_computes_its_own_vectors(book):
    """It is stopped at the first step: all of them would take a minute."""

    class Stop(Exception):
        pass

    def stop(done, total):
        assert total > 1000
        raise Stop

    with pytest.raises(Stop):
        OutOfScope(book.current, Embedder("all-MiniLM-L6-v2"), stop)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("103", "It seems to be about section 103, which is not loaded."),
        ("701", "It seems to be about parts of section 701, which are not loaded."),
    ],
)
def test_a_refusal_says_what_is_missing(book, section, sentence):
    _, reason = compose.abstained([], Neighbour(section, 0.8), book.current)
    assert reason == sentence

"""The questions that are kept beside the rules: whose they are, and what they change."""

import json
from dataclasses import replace

import numpy as np
import pytest

from index import expansion
from index.embedder import PLAIN, Embedder
from index.expansion import Expansion
from index.searcher import Searcher
from index.stages import Weights

ASKED = "My 3/3 got tapped after I declared it as an attacker. Does it still deal its damage?"


@pytest.fixture(scope="module")
def rows():
    lines = expansion._QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def expanded(book, embedder):
    return Expansion(book.current, embedder)


def test_every_rule_has_its_own_questions_each_asked_once(rows):
    asked = [question for row in rows for question in row["questions"]]
    assert len(rows) > 2500
    assert len(asked) == len(set(asked)) > 7 * len(rows)


def test_nearly_all_shipped_rules_have_questions(book, expanded):
    for name in ("current", "2009-10-01"):
        rules = {rule.number for rule in book.edition(name).rules if not rule.is_heading}
        owned = {n for numbers in expansion._owners(book.edition(name)).values() for n in numbers}
        assert owned <= rules
        assert len(owned) > (0.9 if name == "current" else 0.4) * len(rules)


def test_a_rule_keeps_its_questions_when_its_number_changes(book):
    edition = book.current
    moved = replace(edition.rule("702.19b"), number="702.19z")
    rules = tuple(moved if rule.number == "702.19b" else rule for rule in edition.rules)
    owners = expansion._owners(
        replace(edition, rules=rules, by_number={rule.number: rule for rule in rules})
    )
    assert owners["702.19b"] == ["702.19z"]


def test_a_question_finds_the_rule_that_another_players_question_belongs_to(expanded, embedder):
    nearest = expanded.nearest(embedder.encode_questions([ASKED])[0])
    assert nearest.similarity > 0.7
    assert next(iter(nearest.scores)).startswith("506.4")
    assert list(nearest.scores.values()) == sorted(nearest.scores.values(), reverse=True)


def test_the_vectors_that_ship_are_those_of_the_default_model(rows, embedder):
    texts = expansion._texts()
    with np.load(expansion.VECTORS) as file:
        shipped = file["vectors"][-8:] * file["scale"][-8:]
    np.testing.assert_allclose(shipped, embedder.encode_passages(texts[-8:]), atol=2e-3)


def test_another_embedding_model_searches_without_them(book):
    nothing = Expansion(book.current, Embedder(PLAIN)).nearest(np.zeros(384, dtype="float32"))
    assert nothing == (0.0, {})


def test_search_does_without_them_where_it_is_told_to(searcher):
    assert isinstance(searcher, Searcher)
    without = searcher.with_weights(Weights(asked=float("-inf")))
    with_them, plain = (one.search([ASKED])[0] for one in (searcher, without))
    assert [hit.passage.number for hit in with_them.hits] != [
        hit.passage.number for hit in plain.hits
    ]
    assert {hit.passage.kind for hit in with_them.hits} <= {"rule", "example", "glossary"}

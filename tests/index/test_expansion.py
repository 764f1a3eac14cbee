"""The questions that are kept beside the rules: whose they are, and what they change."""

import json
from dataclasses import replace

import numpy as np
import pytest
from texts import small_release

from index import expansion, parsers
from index.editions import Rulebook
from index.embedder import PLAIN, Embedder
from index.expansion import Expansion
from index.stages import ScoreWeights

ASKED = "My 3/3 got tapped after I declared it as an attacker. Does it still deal its damage?"


@pytest.fixture(scope="module")
def rows():
    lines = expansion._EXPANSIONS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def vectors(embedder):
    return expansion.vectors(embedder.hash)


@pytest.fixture(scope="module")
def expanded(book, vectors):
    return Expansion(book.current, vectors)


def test_every_rule_has_its_own_questions_each_asked_once(rows):
    asked = [question for row in rows for question in row["questions"]]
    assert len(rows) > 2500
    assert len(asked) == len(set(asked)) > 7 * len(rows)


def test_nearly_every_question_is_answered_in_a_sentence(rows):
    answers = [answer for row in rows for answer in row["answers"]]
    assert all(len(row["answers"]) == len(row["questions"]) for row in rows)
    written = [answer for answer in answers if answer]
    assert len(written) > 0.95 * len(answers)
    assert all(answer == " ".join(answer.split()) and len(answer) < 220 for answer in written)
    assert sum(answer.startswith(("Yes. ", "No. ")) for answer in written) / len(written) > 0.3


def test_nearly_all_shipped_rules_have_questions(book):
    current = book.current
    rules = {rule.number for rule in current.rules if not rule.is_heading}
    owned = {match.rule for match in expansion.matches(current)}
    assert owned <= rules
    assert len(owned) > 0.95 * len(rules)


def test_a_rule_keeps_its_questions_when_its_number_changes(book):
    edition = book.current
    moved = replace(edition.rule("702.19b"), number="702.19z")
    by_number = {**edition.by_number, "702.19z": moved}
    del by_number["702.19b"]
    rows = {
        match.rule: match.row for match in expansion.matches(replace(edition, by_number=by_number))
    }
    assert rows["702.19z"] == "702.19b"


def test_a_rule_under_another_heading_keeps_its_questions_with_its_number(book):
    edition = replace(book.current, sections={})
    assert "506.4b" in {match.rule for match in expansion.matches(edition)}


def test_a_question_finds_the_rule_that_another_players_question_belongs_to(expanded, embedder):
    nearest = expanded.nearest(embedder.encode_questions([ASKED])[0])
    assert nearest.similarity > 0.7
    assert next(iter(nearest.scores)).startswith("506.4")
    assert list(nearest.scores.values()) == sorted(nearest.scores.values(), reverse=True)


def test_the_nearest_answered_questions_are_about_the_rules_that_are_named(expanded, embedder):
    vector = embedder.encode_questions([ASKED])[0]
    first, second = expanded.similar_questions(vector, ["506.4b", "702.19b"], 2)
    assert first.number == second.number == "506.4b"
    assert "tapped" in first.question
    assert first.answer
    assert first.similarity >= second.similarity >= 0.6
    assert expanded.similar_questions(vector, ["702.41b"], 9) == []  # none is like this one
    assert expanded.similar_questions(vector, ["999.1"], 2) == []


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("doesn’t remove", "removes", False),  # no other word, but the other sense
        ("it from combat", "it from combat unless it has banding", False),
        ("combat", "combat (see rule 101.1a)", False),
        ("doesn’t", "doesn't", True),
    ],
)
def test_a_rule_that_was_reworded_keeps_its_questions_but_not_their_answers(
    old, new, kept, book, vectors, embedder
):
    edition = book.current
    rule = edition.rule("506.4b")
    assert old in rule.text
    by_number = {**edition.by_number, rule.number: replace(rule, text=rule.text.replace(old, new))}
    reworded = Expansion(replace(edition, by_number=by_number), vectors)
    vector = embedder.encode_questions([ASKED])[0]
    assert next(iter(reworded.nearest(vector).scores)) == rule.number
    assert bool(reworded.similar_questions(vector, [rule.number], 2)) == kept


def test_a_rule_of_which_half_was_reworded_keeps_its_questions_only_in_its_place(book):
    edition = book.current
    old = edition.rule("506.4b")
    words = old.text.split()
    new = " ".join([*words[: len(words) // 2], "means nothing special once blockers get declared"])
    for number, kept in (("506.4b", True), ("506.4z", False)):
        reworded = replace(old, number=number, text=new)
        by_number = {**edition.by_number, number: reworded}
        found = {each.rule for each in expansion.matches(replace(edition, by_number=by_number))}
        assert (number in found) == kept


def test_a_rule_whose_references_were_renumbered_keeps_its_answers(book):
    edition = book.current
    rule = edition.rule("702.17b")
    text = rule.text.replace("702.9", "702.10")
    assert text != rule.text
    assert expansion.wording_digest(text) == expansion.wording_digest(rule.text)


def test_a_rule_that_is_cut_off_in_its_source_has_the_answers_of_the_whole(book):
    cut = {rule.number for rule in book.current.rules if rule.truncated}
    unchanged = {match.rule for match in expansion.matches(book.current) if match.unchanged}
    assert cut
    assert cut <= unchanged


def test_a_book_most_of_whose_rules_have_no_questions_is_not_judged_by_them(vectors, embedder):
    small = Rulebook([parsers.parse(small_release().encode(), "rules.txt")]).current
    nearest = Expansion(small, vectors).nearest(embedder.encode_questions([ASKED])[0])
    assert nearest.similarity is None
    assert expansion.words_beside(small) == {}


def test_the_vectors_that_ship_are_those_of_the_default_model(embedder):
    with np.load(expansion.VECTORS) as file:
        shipped = file["vectors"][-8:] * file["scale"][-8:]
    last = expansion._questions()[-8:]
    np.testing.assert_allclose(shipped, embedder.encode_passages(last), atol=2e-3)


def test_another_embedding_model_searches_without_them():
    assert expansion.vectors(Embedder(PLAIN).hash) is None
    assert expansion.digest(Embedder(PLAIN).hash) is None


def test_they_find_rules_that_are_not_found_without_them(searcher):
    without = searcher.with_score_weights(ScoreWeights(question=float("-inf")))
    asked = "Does summoning sickness stop my brand new guy from attacking this turn?"
    with_them, plain = (one.search([asked])[0] for one in (searcher, without))
    assert [h.passage.number for h in with_them.hits] != [h.passage.number for h in plain.hits]


def test_a_rule_that_is_masked_is_not_found_by_its_questions(searcher, rows):
    [row] = [row for row in rows if row["number"] == "702.19b"]
    asked = row["questions"][0]
    rule = searcher.rulebook.current.rule("702.19b")
    found, hidden = (
        [hit.passage.number for hit in searcher.search([asked], masked=[ids])[0].hits]
        for ids in ((), (rule.passage_id, rule.example_id(1), rule.example_id(2)))
    )
    assert found[0] == "702.19b"
    assert "702.19b" not in hidden

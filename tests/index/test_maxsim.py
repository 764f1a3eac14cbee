"""Question and rules, compared word by word by the real model."""

import numpy as np
import pytest

from index import wording
from index.embedder import Embedder
from index.searcher import Searcher, Weights
from index.maxsim import COMPARED, Wording

QUESTION = "my attacker with trample is blocked by two guys, must I kill both first?"
RULES = [
    "Trample: an attacking creature assigns damage.",
    "Flying: evasion.",
    "Scry: look at cards.",
]


@pytest.fixture
def asked(searcher):
    return searcher.embedder.read_questions([QUESTION, "what is scry?"])


def test_a_question_is_read_once_for_its_whole_and_its_words(searcher, asked):
    vectors = searcher.embedder.encode_questions([QUESTION, "what is scry?"])
    for one, vector in zip(asked, vectors, strict=True):
        np.testing.assert_allclose(one.vector, vector, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(one.words, axis=1), 1, atol=1e-3)
    assert len(asked[0].words) > len(asked[1].words) > 2


def test_a_rule_takes_up_a_question_as_its_nearest_words_do(searcher, asked):
    words = searcher.embedder.words(RULES)
    expected = [
        [np.mean([max(w @ r for r in rule.astype("float32")) for w in one.words]) for rule in words]
        for one in asked
    ]
    found = Wording(searcher.embedder).likeness([one.words for one in asked], [RULES, RULES])
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert np.argmax(found, axis=1).tolist() == [0, 2]


def test_a_rule_is_read_once_and_the_oldest_are_forgotten(searcher, asked, monkeypatch):
    compared = Wording(searcher.embedder)
    first = compared.likeness([asked[0].words], [RULES])
    monkeypatch.setattr(searcher.embedder, "words", lambda texts: [][: len(texts)])
    assert compared.likeness([asked[0].words], [RULES[::-1]])[0] == pytest.approx(first[0][::-1])
    monkeypatch.setattr(wording, "_KEPT", 2)
    compared.likeness([asked[0].words], [[]])
    assert list(compared._rules) == RULES[1:]


def test_nothing_to_compare_is_nothing(searcher, asked):
    assert Wording(searcher.embedder).likeness([], []) == []
    assert Wording(searcher.embedder).likeness([asked[0].words], [[]]) == [[]]


def test_search_orders_the_first_rules_by_their_words_too(searcher):
    without = Searcher(searcher.book, searcher.index, searcher.embedder, Weights(wording=0))
    before, after = without.search(QUESTION, 30), searcher.search(QUESTION, 30)
    assert [h.passage.id for h in before] != [h.passage.id for h in after]
    assert {h.passage.id for h in before[:COMPARED]} == {h.passage.id for h in after[:COMPARED]}
    assert [h.passage.id for h in before[COMPARED:]] == [h.passage.id for h in after[COMPARED:]]
    assert [h.rank for h in after] == list(range(1, 31))


def test_the_words_of_a_masked_rule_are_not_read(searcher):
    """702.19b is then found by its examples, and compared by them."""
    compared = Searcher(searcher.book, searcher.index, searcher.embedder)
    rule = searcher.book.current.by_number["702.19b"]
    found = compared.search(QUESTION, masked={f"{rule.edition}/702.19b"})
    assert "702.19b" in {hit.passage.number for hit in found}
    assert rule.examples
    assert not any(rule.text in text for text in compared._wording._rules)


def test_a_model_that_knows_no_words_in_their_place_does_without(searcher, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding

    tokenizer = searcher.embedder.model.tokenizer.backend_tokenizer
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)]).save(str(tmp_path))
    embedder = Embedder(str(tmp_path))
    [asked] = embedder.read_questions([QUESTION])
    np.testing.assert_allclose(asked.vector, embedder.encode_questions([QUESTION])[0], atol=1e-5)
    assert Wording(embedder).likeness([asked.words], [RULES]) == [[0, 0, 0]]

"""Question and rules, compared token by token by the real model."""

import numpy as np
import pytest

from index import maxsim
from index.embedder import Embedder
from index.maxsim import CANDIDATES, MaxSim
from index.searcher import Searcher
from index.stages import ScoreWeights

QUESTION = "my attacker with trample is blocked by two guys, must I kill both first?"
RULES = [
    "Trample: an attacking creature assigns damage.",
    "Flying: evasion.",
    "Scry: look at cards.",
]


class RecordingEmbedder:
    """The real one; `texts` records the rules whose tokens it is asked for."""

    def __init__(self, embedder):
        self._embedder, self.texts = embedder, []

    def __getattr__(self, name):
        return getattr(self._embedder, name)

    def token_vectors(self, texts):
        self.texts += texts
        return self._embedder.token_vectors(texts)


@pytest.fixture(scope="module")
def queries(embedder):
    return embedder.encode_queries([QUESTION, "what is scry?"])


def test_a_question_is_encoded_once_for_its_vector_and_its_tokens(embedder, queries):
    vectors = embedder.encode_questions([QUESTION, "what is scry?"])
    for query, vector in zip(queries, vectors, strict=True):
        np.testing.assert_allclose(query.vector, vector, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(query.tokens, axis=1), 1, atol=1e-3)
    assert len(queries[0].tokens) > len(queries[1].tokens) > 2


def test_a_score_is_the_mean_of_each_tokens_nearest(embedder, queries):
    rules = [tokens.astype("float32") for tokens in embedder.token_vectors(RULES)]
    expected = [
        [
            np.mean([max(token @ other for other in rule) for token in query.tokens])
            for rule in rules
        ]
        for query in queries
    ]
    scores = MaxSim(embedder).scores([query.tokens for query in queries], [RULES, RULES])
    np.testing.assert_allclose(scores, expected, atol=1e-3)
    assert np.argmax(scores, axis=1).tolist() == [0, 2]


def test_a_rule_is_encoded_once_and_the_oldest_are_forgotten(embedder, queries, monkeypatch):
    recording = RecordingEmbedder(embedder)
    compare = MaxSim(recording)
    [first] = compare.scores([queries[0].tokens], [RULES])
    assert compare.scores([queries[0].tokens], [RULES[::-1]])[0] == pytest.approx(first[::-1])
    assert recording.texts == RULES
    monkeypatch.setattr(maxsim, "_CACHED", 2)
    compare.scores([queries[0].tokens], [[]])
    compare.scores([queries[0].tokens], [RULES[1:]])
    assert recording.texts == RULES
    compare.scores([queries[0].tokens], [RULES[:1]])
    assert recording.texts == [*RULES, RULES[0]]


def test_nothing_to_compare_is_nothing(embedder, queries):
    assert MaxSim(embedder).scores([], []) == []
    assert MaxSim(embedder).scores([queries[0].tokens], [[]]) == [[]]


def test_search_orders_the_first_rules_by_their_tokens_too(searcher):
    without = searcher.with_score_weights(ScoreWeights(maxsim=0))
    before, after = (each.search([QUESTION], 30)[0].hits for each in (without, searcher))
    first, second = ([hit.passage.id for hit in hits] for hits in (before, after))
    assert first != second
    assert set(first[:CANDIDATES]) == set(second[:CANDIDATES])
    assert first[CANDIDATES:] == second[CANDIDATES:]
    assert [hit.rank for hit in after] == list(range(1, 31))


def test_the_text_of_a_masked_rule_is_not_compared(searcher):
    """702.19b is then found by its examples, and compared by them."""
    recording = RecordingEmbedder(searcher.embedder)
    rule = searcher.rulebook.current.rule("702.19b")
    [found] = Searcher(searcher.rulebook, searcher.index, recording).search(
        [QUESTION], masked=[{rule.passage_id}]
    )
    assert "702.19b" in {hit.passage.number for hit in found.hits}
    assert rule.examples
    assert len(recording.texts) == CANDIDATES
    assert not any(rule.text in text for text in recording.texts)


def test_a_model_without_token_vectors_does_without(embedder, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = embedder.model.tokenizer.backend_tokenizer
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)]).save(str(tmp_path))
    static = Embedder(str(tmp_path))
    [query] = static.encode_queries([QUESTION])
    np.testing.assert_allclose(query.vector, static.encode_questions([QUESTION])[0], atol=1e-5)
    assert MaxSim(static).scores([query.tokens], [RULES]) == [[0, 0, 0]]

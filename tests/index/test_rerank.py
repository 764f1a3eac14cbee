"""Reading question and rule together, with a reader that has learned nothing: the plumbing."""

import pytest
import torch

from index import rerank, tuned
from index.embed import PLAIN, Embedder
from index.errors import SticklerError
from index.rerank import NONE, READ, named
from index.search import Searcher, Weights

QUESTION = "my attacker with trample is blocked by two guys, must I kill both first?"


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("reader") / "reranker.safetensors"
    head = {"head.weight": 4 * torch.randn(1, 768), "head.bias": torch.zeros(1)}
    tuned.write(path, Embedder(PLAIN).folder, head)
    return named(str(path))


@pytest.fixture(scope="module")
def reading(searcher, reader):
    """The real search with that reader."""
    return Searcher(searcher.book, searcher.index, searcher.embedder, Weights(reading=5), reader)


def test_each_pair_is_read_alike_alone_and_among_others(reader):
    pairs = [(QUESTION, f"A rule of some length. {'It goes on. ' * at}") for at in range(40)]
    alone = reader.read([pairs[7]])[0]
    among = reader.read(pairs)[7]
    assert among == pytest.approx(alone, abs=1e-3)


def test_a_rule_kept_from_an_earlier_question_is_read_as_a_new_one(reader, monkeypatch):
    pairs = [(QUESTION, f"Another rule. {'It goes on. ' * at}") for at in range(9)]
    new, kept = reader.read(pairs), reader.read(pairs)
    assert kept == new
    monkeypatch.setattr(rerank, "_KEPT", 4)
    monkeypatch.setattr(rerank, "_PAIRS", 3)
    assert reader.read(pairs) == [pytest.approx(reading, abs=1e-3) for reading in new]
    assert len(reader._rules) <= 4


def test_nothing_to_read_is_nothing(reader):
    assert reader.read([]) == []


def test_search_orders_the_first_rules_anew_and_loses_none(searcher, reading):
    before = searcher.unread.find_many([QUESTION], READ)[0]
    after = reading.find_many([QUESTION], READ)[0]
    assert [h.passage for h in before.hits] != [h.passage for h in after.hits]
    assert {h.passage.number for h in before.hits} == {h.passage.number for h in after.hits}
    assert [h.rank for h in after.hits] == list(range(1, READ + 1))
    assert [h.score for h in after.hits] == sorted((h.score for h in after.hits), reverse=True)
    assert set(after.evidence.readings) == {h.passage.number for h in after.hits}
    assert before.evidence.readings == {}


def test_beyond_those_that_are_read_search_goes_on_in_its_own_order(searcher, reading):
    before, after = searcher.unread.search(QUESTION, 40), reading.search(QUESTION, 40)
    assert [h.passage for h in before[READ:]] == [h.passage for h in after[READ:]]


def test_rules_asked_for_by_number_stay_first_and_in_their_order(searcher, reading):
    for question in ("what about 702.19b and two blockers", "702.19"):
        before, after = searcher.unread.search(question), reading.search(question)
        asked = [hit.passage for hit in before if "number" in hit.via]
        assert asked
        assert [hit.passage for hit in after[: len(asked)]] == asked


def test_a_masked_passage_is_not_read(reading):
    masked = reading.search(QUESTION, 1)[0].passage
    found = reading.find_many([QUESTION], READ, masked=[{masked.id}])[0]
    assert masked.id not in {hit.passage.id for hit in found.hits}
    assert len(found.evidence.readings) == READ
    assert set(found.evidence.readings) == {hit.passage.number for hit in found.hits}


def test_search_does_without_where_a_setting_says_so():
    assert named(NONE) is None
    with pytest.raises(SticklerError, match="There is no reranker 'bert': name a file"):
        named("bert")


def test_how_much_reading_counts_is_a_weight(searcher, reader):
    still = Searcher(searcher.book, searcher.index, searcher.embedder, Weights(reading=0), reader)
    assert [h.passage for h in still.search(QUESTION)] == [
        h.passage for h in searcher.unread.search(QUESTION)
    ]

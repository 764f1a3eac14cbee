"""The published figures hold, and the evaluation cannot find its own answers."""

import pytest

from eval import items, metrics
from eval.check import check


def test_no_published_figure_is_missed(searcher):
    results = list(check(searcher))
    assert len(results) >= 4
    assert [str(result) for result in results if not result.kept] == []


def test_a_lower_figure_would_be_noticed(searcher, monkeypatch):
    few = items.players()[:40]
    monkeypatch.setattr(items, "players", lambda: few)
    monkeypatch.setattr(metrics, "hit", lambda found, gold, k: float(found[1:2] == list(gold[:1])))
    assert any(not result.kept for result in check(searcher))


def test_every_gold_rule_is_in_the_book(searcher):
    for name in ("players", "examples"):
        those = items.load(name, searcher.book)
        assert len({item.id for item in those}) == len(those)
        for item in those:
            book = searcher.book.edition(item.edition)
            assert item.gold_rules
            assert all(number in book.by_number for number in item.gold_rules)


def test_no_example_item_finds_its_own_text(searcher):
    those = items.examples(searcher.book)
    assert len(those) > 50
    for item in those:
        hits = searcher.search(item.question, 50, item.edition, item.masked)
        assert all(item.question not in hit.passage.shown for hit in hits)


def test_the_interval_holds_the_mean_and_is_the_same_twice():
    figure = metrics.mean([1.0, 0.0, 1.0, 1.0] * 25)
    assert figure.low < figure.value == 0.75 < figure.high
    assert metrics.mean([1.0, 0.0, 1.0, 1.0] * 25) == figure
    with pytest.raises(ValueError, match="nothing"):
        metrics.mean([])

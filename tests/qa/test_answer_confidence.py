"""What a model says is shown where it is likely right."""

import json
from dataclasses import replace

import pytest

from qa import answer_confidence
from qa.answer import Answer
from qa.answer_confidence import estimate, features
from qa.citations import Citation

TRAMPLE = Citation("702.19b", "2024-03-08", "Trample", "quote", "text", "supported")
ANSWER = Answer(
    question="How much damage goes through?",
    edition="current",
    settings="",
    generated="Two goes through [702.19b].",
    raw="Two goes through [702.19b]. Nothing else does [702.19c].",
    unsupported=1,
    mean_logprob=-0.3,
    confidence=0.9,
    citations=(TRAMPLE,),
    model="judged",
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A model that is trusted as far as its sentences are supported."""
    weights = dict.fromkeys(features(ANSWER), 0.0) | {"supported_share": 4.0}
    path = tmp_path / "answer_confidence.json"
    path.write_text(json.dumps({"judged": {"constant": -2, "features": weights, "threshold": 0.6}}))
    monkeypatch.setattr(answer_confidence, "WEIGHTS", path)
    answer_confidence._tables.cache_clear()
    yield
    answer_confidence._tables.cache_clear()


def test_what_is_known_of_an_answer_is_told_in_figures():
    found = features(ANSWER)
    kind = ("no_verdict_asked", "asks_how_many", "asks_definition", "cites_top_rule")
    assert [found[name] for name in kind] == [1, 1, 0, 1]
    said = ("supported_share", "mean_logprob", "verdict_log_odds")
    assert [found[name] for name in said] == [0.5, -0.3, 0]
    sure = features(replace(ANSWER, verdict_confidence=0.9, question="Does it die?"))
    assert (sure["no_verdict_asked"], sure["asks_how_many"]) == (0, 0)
    assert sure["verdict_log_odds"] == pytest.approx(2.197, abs=0.001)


def test_a_certain_probability_is_still_a_finite_figure():
    found = features(replace(ANSWER, verdict_confidence=1.0, confidence=1.0))
    assert found["verdict_log_odds"] == found["search_log_odds"] == pytest.approx(4.595, abs=0.001)


@pytest.mark.parametrize(("unsupported", "right", "enough"), [(0, 0.881, True), (1, 0.5, False)])
def test_it_is_enough_above_the_threshold(table, unsupported, right, enough):
    assert estimate(replace(ANSWER, unsupported=unsupported)) == (right, enough)


def test_of_a_model_that_nobody_judged_nothing_is_known(table):
    other = replace(ANSWER, model="another")
    assert estimate(other) == (None, True)
    assert estimate(replace(other, verdict="unclear")) == (None, False)

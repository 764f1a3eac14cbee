"""How sure a model's yes or no may be is fitted from its readings, and survives an interruption."""

import json

import pytest
from fakes import EchoModel

from eval import items, verdict_calibration
from qa.resources import Resources

LIMIT = 60


class InformedModel(EchoModel):
    """Tells a high probability of what is right, but of every fifth question the opposite."""

    def __init__(self, fails_after=None):
        super().__init__("")
        self._gold = {item.question: item.gold_verdict for item in items.fitted()}
        self._fails_after = fails_after

    def stream(self, request, stop):
        if len(self.requests) == self._fails_after:
            raise KeyboardInterrupt
        question = request.prompt.user.rsplit("Question: ", 1)[1]
        right = self._gold[question] == "yes"
        if len(question) % 5 == 0:
            right = not right
        self._probabilities = {"Yes": 0.9, "No": 0.1} if right else {"Yes": 0.1, "No": 0.9}
        yield from super().stream(request, stop)

    def generate(self, requests):
        from qa.models import collect

        return [collect(self.stream(request, None)) for request in requests]


@pytest.fixture
def table(tmp_path, monkeypatch):
    path = tmp_path / "verdict.json"
    path.write_text('{"other": {"slope": 2.0, "intercept": 0.0, "threshold": 0.9}}\n')
    monkeypatch.setattr(verdict_calibration, "CALIBRATION", path)
    return path


def fit(searcher, model):
    resources = Resources(searcher=searcher, load_model=lambda _: model)
    return verdict_calibration.fit(resources, "informed", LIMIT)


def test_a_model_that_is_often_right_gets_its_row(searcher, table):
    figures = fit(searcher, InformedModel())
    row = json.loads(table.read_text())["informed"]
    assert row["slope"] > 0
    assert 0.5 < row["threshold"] <= 1.01
    assert figures["AUC"].value > 0.6
    assert json.loads(table.read_text())["other"]["threshold"] == 0.9


def test_what_was_read_before_an_interruption_is_kept(searcher, table):
    with pytest.raises(KeyboardInterrupt):
        fit(searcher, InformedModel(fails_after=40))
    model = InformedModel()
    fit(searcher, model)
    assert 0 < len(model.requests) < LIMIT - 16


def test_a_threshold_is_the_lowest_that_is_right_often_enough():
    import numpy as np

    confidence = np.linspace(0.99, 0.5, 50)
    right = np.arange(50) < 30
    lowest = int(30 / verdict_calibration.PRECISION) - 1
    assert verdict_calibration._threshold(confidence, right) == pytest.approx(confidence[lowest])
    assert verdict_calibration._threshold(confidence, ~right) == 1.01

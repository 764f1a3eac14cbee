"""The fit on judged answers: what separates right from wrong is found, the threshold holds."""

import json
import random

import pytest

from eval import answer_calibration
from qa.confidence import logistic


def rows(count, right_share):
    """Answers that are right where they are likely, but for some; the other figure says nothing."""
    rng = random.Random(5)
    for at in range(count):
        good = rng.random() < right_share
        likely = rng.gauss(1.0 if good else -1.0, 0.6)
        judged = ["right" if good else rng.choice(["wrong", "misleading"])] * 2
        features = {"mean_logprob": likely, "no_verdict_asked": rng.random()}
        kind = "dev" if at % 5 == 0 else "calibration"
        yield {
            **{"id": f"a{at}", "set": kind, "features": features, "judged": judged},
            **{"verdict": None, "gold_verdict": None, "supported": "It does [1.1]."},
        }


@pytest.fixture
def fit(tmp_path, monkeypatch):
    weights = tmp_path / "answer_confidence.json"
    weights.write_text('{"another": {}}')
    monkeypatch.setattr(answer_calibration, "WEIGHTS", weights)

    def run(judged):
        path = tmp_path / "judged.jsonl"
        path.write_text("\n".join(map(json.dumps, judged)))
        return answer_calibration.fit("small", path), json.loads(weights.read_text())

    return run


def test_answers_above_the_threshold_are_right_often_enough(fit):
    figures, tables = fit(list(rows(400, 0.5)))
    assert set(tables) == {"another", "small"}
    table = tables["small"]
    assert logistic(table, {"mean_logprob": 2.0, "no_verdict_asked": 0.5}) > 0.9
    assert abs(table["features"]["no_verdict_asked"]) < abs(table["features"]["mean_logprob"])
    assert figures["calibration: right, all"].value == pytest.approx(0.5, abs=0.06)
    assert figures["calibration: sentences right"].value >= answer_calibration.MIN_RIGHT_SHARE
    assert (
        figures["calibration: sentences misleading"].value
        <= answer_calibration.MAX_MISLEADING_SHARE
    )
    assert 0.3 < figures["dev: sentences shown"].value < 0.7
    assert figures["readers agree"].value == 1


def test_a_likely_answer_that_no_rule_supports_is_not_shown(fit):
    judged = list(rows(400, 0.5))
    for row in judged[::2]:
        row["supported"] = ""
    figures, _ = fit(judged)
    assert 0.1 < figures["dev: sentences shown"].value < 0.4


def test_a_feature_that_is_the_same_for_all_weighs_nothing(fit):
    judged = list(rows(400, 0.5))
    for row in judged:
        row["features"]["no_verdict_asked"] = 1.0
    _, tables = fit(judged)
    assert tables["small"]["features"]["no_verdict_asked"] == pytest.approx(0, abs=1e-6)
    assert logistic(tables["small"], {"mean_logprob": 2.0, "no_verdict_asked": 1.0}) > 0.9


def test_where_nothing_tells_right_from_wrong_nothing_is_shown(fit):
    judged = list(rows(200, 0.4))
    for row in judged:
        row["features"]["mean_logprob"] = 1.0 + len(row["id"]) / 100
    figures, tables = fit(judged)
    assert tables["small"]["threshold"] > 1
    assert figures["calibration: sentences shown"].value == 0


def test_a_clear_verdict_is_shown_without_its_sentences_and_measured_by_the_gold_one(fit):
    judged = list(rows(400, 0.5))
    for row in judged:
        row["verdict"] = row["gold_verdict"] = "no"
        row["features"]["mean_logprob"] = 1.0
    for row in judged[::4]:
        row["verdict"] = "yes"
    for row in judged[1::4]:
        row["verdict"] = "unclear"
    figures, _ = fit([row for row in judged if row["set"] == "calibration"])
    assert figures["calibration: sentences shown"].value == 0
    assert figures["calibration: answers shown"].value == pytest.approx(0.75, abs=0.02)
    assert figures["calibration: answers right"].value == pytest.approx(2 / 3, abs=0.02)
    assert figures["calibration: answers misleading"].value == pytest.approx(1 / 3, abs=0.02)

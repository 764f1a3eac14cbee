"""Each measure computes what its name says, and each figure has its interval."""

import pytest

from eval import metrics, output_parsing
from qa.models import Generation


def record(id="a", gold=("702.19b",), found=(), cited=(), **more):
    return {
        "id": id,
        "kind": "yes_no",
        "gold_rules": list(gold),
        "found": list(found),
        "cited": list(cited),
        "valid": [True] * len(cited),
        "abstained": False,
        "confidence": 0.9,
        "tokens": 0,
        "ms": 10.0,
        **more,
    }


def test_the_interval_holds_the_mean_and_is_the_same_twice():
    figure = metrics.mean([1.0, 0.0, 1.0, 1.0] * 25)
    assert figure.low < figure.value == 0.75 < figure.high
    assert metrics.mean([1.0, 0.0, 1.0, 1.0] * 25) == figure
    with pytest.raises(ValueError, match="nothing"):
        metrics.mean([])


def test_retrieval_is_measured_at_the_rule_and_at_its_parent():
    records = [
        record("a", found=["702.19b", "702.2"]),
        record("b", found=["702.2", "702.19c", "702.19b"]),
        record("c", found=["702.2", "702.19a"]),
        record("d", found=[]),
    ]
    table = metrics.by_item(records)
    assert table["hit@1"] == {"a": 1, "b": 0, "c": 0, "d": 0}
    assert table["hit@3"] == {"a": 1, "b": 1, "c": 0, "d": 0}
    assert table["MRR"] == {"a": 1, "b": pytest.approx(1 / 3), "c": 0, "d": 0}
    assert table["hit@3, parent"] == {"a": 1, "b": 1, "c": 1, "d": 0}
    assert table["MRR, parent"]["b"] == 0.5


def test_citations_are_measured_by_recall_and_precision():
    table = metrics.by_item(
        [record(gold=["702.19b", "702.19c"], found=["702.19b"], cited=["702.19b", "509.1"])]
    )
    assert table["rule cited"] == {"a": 1}
    assert table["citation recall"] == {"a": 0.5}
    assert table["citation precision"] == {"a": 0.5}
    assert table["citations valid"] == {"a": 1}


def test_what_does_not_apply_is_not_measured():
    table = metrics.by_item([record(gold=())])
    assert "hit@1" not in table
    assert "rule cited" not in table
    assert "right, strict" not in table
    assert table["refused"] == {"a": 0}


def test_a_paired_test_tells_a_difference_from_chance():
    better = metrics.paired([0.0] * 30, [1.0] * 30)
    assert better.p < 0.001
    assert (better.first, better.second, better.low) == (0, 1, 1)
    mixed = metrics.paired([0.0, 1.0] * 15, [1.0, 0.0] * 15)
    assert mixed.p > 0.9
    assert mixed.low < 0 < mixed.high


def test_calibration_sets_confidence_against_truth():
    records = [
        record(str(n), confidence=0.85, cited=["702.19b"] if n < 3 else []) for n in range(4)
    ]
    records.append(record("r", abstained=True, confidence=0.1))
    assert metrics.calibration(records) == [(pytest.approx(0.85), 0.75, 4)]
    assert metrics.calibration_error(records) == pytest.approx(0.1)


def test_risk_grows_with_coverage_where_confidence_is_right():
    records = [
        record("sure", confidence=0.9, cited=["702.19b"]),
        record("unsure", confidence=0.5),
        record("refused", abstained=True),
    ]
    assert metrics.risk_coverage(records) == [
        (pytest.approx(1 / 3), 0),
        (pytest.approx(2 / 3), 0.5),
    ]


@pytest.mark.parametrize(
    ("raw", "strict", "lenient"),
    [
        ("Yes, it can.", "yes", "yes"),
        ("**No**: it cannot.", "no", "no"),
        ("The claim is right, so yes.", None, "yes"),
        ("It can't be blocked.", None, "no"),
        ("It is blocked.", None, "yes"),
        ("Nobody knows.", None, "yes"),
        ("", None, None),
    ],
)
def test_a_verdict_is_parsed_strictly_and_leniently(raw, strict, lenient):
    assert output_parsing.verdict(Generation(raw)) == (strict, lenient)


@pytest.mark.parametrize(
    ("raw", "strict", "lenient"),
    [
        ("B", "It dies.", "It dies."),
        ("(C) because", "It is tapped.", "It is tapped."),
        ("The answer is D.", None, "Nothing happens."),
        ("The answer is B", None, "It dies."),
        ("b) of course", None, "It dies."),
        ("A creature is tapped.", None, "It is tapped."),
        ("Who knows", None, None),
        ("I think it is tapped then.", None, "It is tapped."),
        ("", None, None),
    ],
)
def test_a_choice_is_parsed_strictly_and_leniently(raw, strict, lenient):
    choices = ["It lives.", "It dies.", "It is tapped.", "Nothing happens."]
    assert output_parsing.choice(Generation(raw), choices) == (strict, lenient)


def test_overlap_counts_shared_words():
    assert output_parsing.overlap("The creature is destroyed.", "The creature is destroyed.") == 1
    assert output_parsing.overlap("banana", "The creature is destroyed.") == 0
    assert 0 < output_parsing.overlap("the creature lives", "The creature is destroyed.") < 1


def test_probabilities_decide_where_a_model_tells_them():
    said = Generation("It dies.", {"Yes": 0.2, "No": 0.3})
    assert output_parsing.verdict(said) == ("no", "no")
    letters = Generation("A", dict(zip("ABCD", (0.1, 0.2, 0.6, 0.1), strict=True)))
    assert output_parsing.choice(letters, ["one", "two", "three", "four"]) == ("three", "three")


def verdict_record(id, gold, yes, verdict):
    return record(id, gold=["702.19b"]) | {"gold": gold, "yes_probability": yes, "verdict": verdict}


def test_the_area_under_the_curve_is_of_the_probabilities_of_yes():
    records = [
        verdict_record("a", "yes", 0.9, "yes"),
        verdict_record("b", "yes", 0.4, "unclear"),
        verdict_record("c", "no", 0.6, "unclear"),
        verdict_record("d", "no", 0.1, "no"),
    ]
    area = metrics.verdict_auc(records)
    assert (area.value, area.items) == (0.75, 4)
    assert area.low <= 0.75 <= area.high
    assert metrics.verdict_auc(records[:2]) is None
    figures = metrics.summary(records)
    assert figures["verdict AUC"] == area
    assert figures["verdict shown"].value == 0.5
    assert figures["shown verdict right"].value == 1.0
    assert figures["likelier verdict right"].value == 0.5

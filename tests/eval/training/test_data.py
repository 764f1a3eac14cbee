"""Nothing that measures is trained on, and the training data is consistent."""

import json

import pytest

from eval import items
from eval.items import TRAINING
from eval.training import data
from index import numbers, tuned_weights


@pytest.fixture(scope="module")
def known():
    return data.load()


@pytest.fixture(scope="module")
def pairs():
    """All pairs that were written, also those that no command trains on."""
    return [item for path in TRAINING.glob("pairs*.jsonl") for item in items.questions(path)]


@pytest.fixture(scope="module")
def invented():
    """All invented rules, by number."""
    rows = [row for path in TRAINING.glob("invented*.jsonl") for row in items.rows(path)]
    return {row["number"]: row for row in rows}


@pytest.mark.parametrize("held_out", [items.dev, items.test, items.calibration])
def test_nothing_that_measures_or_calibrates_is_trained_on(held_out, known, pairs):
    those = held_out()
    groups = {numbers.group(item.gold_rules[0]) for item in those}
    assert len(groups) > 15
    assert not groups & {rule.group for rule in known.rules.values()}
    asked = {question.text for question in known.questions} | {item.question for item in pairs}
    assert not {item.question for item in those} & asked


def test_every_question_is_about_rules_that_are_there(known):
    assert len(known.questions) > 17_000
    assert all(rule in known.rules for question in known.questions for rule in question.rules)


def test_the_retriever_that_ships_was_trained_on_this_data(known):
    card = json.loads((tuned_weights.FOLDER / "retriever.json").read_text(encoding="utf-8"))
    assert (card["data"], card["questions"]) == (known.hash, len(known.questions))


def test_a_limit_takes_the_first_questions_and_the_rules_around_them():
    few = data.load(30)
    assert len(few.questions) == 30
    assert len(few.rules) < 100


def test_pairs_are_balanced_and_about_real_or_invented_rules(book, pairs, invented):
    verdicts = [item.gold_verdict for item in pairs]
    assert abs(verdicts.count("yes") - verdicts.count("no")) < 0.05 * len(verdicts)
    assert all(i.gold_rules[0] in invented or i.gold_rules[0] in book.current for i in pairs)
    assert len({item.question for item in pairs}) == len(pairs)


def test_a_written_answer_starts_with_its_verdict(book, pairs):
    written = [item for item in pairs if item.gold_answer]
    assert len(written) > 13_000
    for item in written:
        verdict = f"{item.gold_verdict.capitalize()}: " if item.gold_verdict else ""
        assert item.gold_answer.startswith(verdict)
        assert verdict or not item.gold_answer.startswith(("Yes", "No:"))
        rule = book.current.by_number.get(item.gold_rules[0])
        assert rule is None or not rule.truncated  # what is cut off must not be answered from


def test_no_invented_rule_has_the_heading_of_a_real_one(book, invented):
    real = {rule.heading.lower() for rule in book.current.rules if rule.heading} - {"general"}
    assert not real & {rule["heading"].lower() for rule in invented.values()}


def test_a_turned_rule_changes_the_verdict_of_questions_about_that_rule(pairs, invented):
    by_id = {item.id: item for item in pairs}
    for turned in items.rows(TRAINING / "turned.jsonl"):
        assert turned["text"] != invented[turned["number"]]["text"]
        assert turned["flipped"]
        assert not set(turned["flipped"]) & set(turned["same"])
        about = [by_id[each] for each in turned["flipped"] + turned["same"]]
        assert all(item.gold_rules[0] == turned["number"] and item.gold_verdict for item in about)


def test_a_contrast_has_a_verdict_for_every_question_under_both_versions():
    contrasts = items.rows(TRAINING / "contrasts.jsonl")
    assert len({contrast["id"] for contrast in contrasts}) == len(contrasts)
    for contrast in contrasts:
        assert contrast["a"] != contrast["b"]
        questions = contrast["asks"]
        assert all({one["a"], one["b"]} <= {"yes", "no"} for one in questions)
        assert any(one["a"] != one["b"] for one in questions)
        assert all(("why a" in one) == ("why b" in one) for one in questions)


def test_no_example_of_the_documents_is_trained_on(book, known, pairs):
    """The evaluation sets are made from them."""
    examples = {
        example.text
        for edition in book.editions.values()
        for rule in edition.rules
        for example in rule.examples
    }
    assert not examples & {question.text for question in known.questions}
    assert not examples & {item.question for item in pairs}

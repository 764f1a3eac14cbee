import json
import re

import pytest

from eval import items
from eval.training import data
from index import numbers, tuned_weights


@pytest.mark.parametrize("held_out", [items.players, items.fresh, items.kept_back])
def test_nothing_that_measures_or_calibrates_is_trained_on(held_out):
    known, those = data.load(more=True, roundabout=True), held_out()
    groups = {numbers.group(item.gold_rules[0]) for item in those}
    assert len(groups) > 15
    assert not groups & {text.group for text in known.rules.values()}
    assert not {item.question for item in those} & {question.text for question in known.questions}


def test_every_question_is_about_rules_that_are_there():
    known = data.load(more=True)
    assert len(known.questions) > 21_000
    assert all(rule in known.rules for question in known.questions for rule in question.rules)


def test_our_own_questions_are_balanced_and_about_real_or_invented_rules(book):
    pairs = items.pairs(more=True, roundabout=True)
    invented = {rule["number"] for rule in items.invented(more=True)}
    said = [item.gold_verdict for item in pairs]
    assert abs(said.count("yes") - said.count("no")) < 0.05 * len(said)
    assert all(i.gold_rules[0] in invented or i.gold_rules[0] in book.current for i in pairs)
    assert len({item.question for item in pairs}) == len(pairs)


def test_a_written_answer_opens_with_its_verdict(book):
    pairs = items.pairs(more=True, roundabout=True)
    written = [item for item in pairs if item.gold_answer]
    assert len(written) > 13_000
    for item in written:
        said = f"{item.gold_verdict.capitalize()}: " if item.gold_verdict else ""
        assert item.gold_answer.startswith(said)
        assert said or not item.gold_answer.startswith(("Yes", "No:"))
        rule = book.current.by_number.get(item.gold_rules[0])
        assert rule is None or not rule.truncated  # what is cut off must not be answered from


def test_no_invented_rule_has_the_heading_of_a_real_one(book):
    real = {rule.heading.lower() for rule in book.current.rules if rule.heading} - {"general"}
    assert not real & {rule["heading"].lower() for rule in items.invented(more=True)}


def test_a_turned_rule_turns_questions_about_that_rule():
    rows = (items.SETS / "turned.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {rule["number"]: rule["text"] for rule in items.invented(more=True)}
    asked = {item.id: item for item in items.pairs(more=True, roundabout=True)}
    for turned in map(json.loads, rows):
        assert turned["text"] != texts[turned["number"]]
        assert turned["flipped"]
        assert not set(turned["flipped"]) & set(turned["same"])
        about = [asked[each] for each in turned["flipped"] + turned["same"]]
        assert all(item.gold_rules[0] == turned["number"] and item.gold_verdict for item in about)


def test_a_contrast_has_a_verdict_for_every_question_under_both_versions():
    rows = (items.SETS / "contrasts.jsonl").read_text(encoding="utf-8").splitlines()
    contrasts = [json.loads(row) for row in rows]
    assert len({contrast["id"] for contrast in contrasts}) == len(contrasts)
    for contrast in contrasts:
        assert contrast["a"] != contrast["b"]
        asks = contrast["asks"]
        assert all({ask["a"], ask["b"]} <= {"yes", "no"} for ask in asks)
        assert any(ask["a"] != ask["b"] for ask in asks)
        assert all(("why a" in ask) == ("why b" in ask) for ask in asks)


def test_a_schema_has_a_verdict_for_every_question_under_every_version():
    rows = (items.SETS / "schemas.jsonl").read_text(encoding="utf-8").splitlines()
    schemas = [json.loads(row) for row in rows]
    assert len({schema["id"] for schema in schemas}) == len(schemas) == 360
    for schema in schemas:
        versions = set(schema["texts"])
        assert len(versions) > 1
        assert all(set(ask) == versions | {"q"} for ask in schema["asks"])
        assert all(ask[version] in ("yes", "no") for ask in schema["asks"] for version in versions)
        blanks = {"name", "Name", *schema["slots"]}
        texts = [text for told in schema["texts"].values() for text in told]
        texts += [question for ask in schema["asks"] for question in ask["q"]]
        found = {blank for text in texts for blank in re.findall(r"\{([A-Za-z]{2,})\}", text)}
        assert found <= blanks


def test_no_document_example_is_trained_on(book):
    """They are what the evaluation sets are built from."""
    examples = {
        example.text
        for edition in book.editions.values()
        for r in edition.rules
        for example in r.examples
    }
    known = data.load(more=True, roundabout=True)
    assert not examples & {question.text for question in known.questions}


def test_the_cards_that_ship_are_of_this_data():
    card = json.loads((tuned_weights.FOLDER / "retriever.json").read_text(encoding="utf-8"))
    assert card["data"] == data.load().hash


def test_a_limit_takes_the_first_questions_and_the_rules_around_them():
    few = data.load(30)
    assert len(few.questions) == 30
    assert len(few.rules) < 100

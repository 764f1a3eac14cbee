"""The sets of questions, and a user's own."""

import json

import pytest

from eval import items
from index import numbers
from index.errors import SticklerError


def test_every_gold_rule_is_in_the_book(searcher):
    for name in ("dev", "test", "calibration", "examples", "rule", "outcome", "verdict", "free"):
        those = items.load(name, searcher.rulebook)
        assert len({item.id for item in those}) == len(those)
        for item in those:
            book = searcher.rulebook.edition(item.edition)
            assert item.gold_rules
            assert all(number in book.by_number for number in item.gold_rules)


def test_a_set_is_registered_under_its_name_with_a_description(book):
    for name, one in items.REGISTRY.items():
        assert one.name == name
        assert one.description
        assert items.load(name, book)
    assert set(items.DEFAULT) <= set(items.REGISTRY)


def test_dev_and_train_share_no_question_and_few_rules():
    dev, train = items.dev(), items.train()
    assert not {item.question for item in dev} & {item.question for item in train}
    groups = {numbers.group(item.gold_rules[0]) for item in train}
    shared = [item for item in dev if numbers.group(item.gold_rules[0]) in groups]
    assert len(shared) <= 13


def test_train_and_calibration_share_no_question_and_no_group_of_rules():
    train, calibration = items.train(), items.calibration()
    assert not {item.question for item in train} & {item.question for item in calibration}
    train_groups, calibration_groups = (
        {numbers.group(item.gold_rules[0]) for item in those} for those in (train, calibration)
    )
    assert len(calibration_groups) == 22
    assert not train_groups & calibration_groups
    assert {item.style for item in calibration} == {"plain", "roundabout"}


def test_a_version_tells_one_set_from_another():
    those = items.dev()
    assert items.version(those) == items.version(items.dev())
    assert items.version(those) != items.version(those[1:])


def written(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8-sig")
    return path


def test_a_users_questions_become_a_set(book, tmp_path):
    path = written(
        tmp_path,
        {"question": "can reach block a flyer?", "gold_rules": ["702.17b"], "verdict": "yes"},
        {"id": "b", "question": "and this?", "gold_rules": ["999.9"], "answer": "No idea."},
        {"id": "c", "question": "thumbs down", "gold_rules": []},
    )
    kept, left_out = items.add(path, "mine", book)
    assert [item.question for item in kept] == ["can reach block a flyer?"]
    assert left_out == ["b: rule 999.9 is not in edition current", "c: it names no deciding rule"]
    [item] = items.load("mine", book)
    assert (item.gold_rules, item.gold_verdict) == (("702.17b",), "yes")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("not json\n", "Line 1"),
        ('{"question": "x"}\n', "Line 1"),
        ('["question"]\n', "Line 1"),
        ('{"question": "x", "gold_rules": ["1.1"]}\n', "is not in edition"),
    ],
)
def test_a_question_file_that_cannot_be_used_is_refused_in_a_sentence(
    book, tmp_path, content, says
):
    path = tmp_path / "mine.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SticklerError, match=says):
        items.add(path, "mine", book)
    with pytest.raises(SticklerError, match="no question set 'mine'"):
        items.load("mine", book)


@pytest.mark.parametrize("name", ["dev", "../out", "", "a b"])
def test_a_set_cannot_take_a_name_that_is_taken_or_leads_away(book, tmp_path, name):
    path = written(tmp_path, {"question": "x", "gold_rules": ["702.17b"]})
    with pytest.raises(SticklerError, match="cannot be called"):
        items.add(path, name, book)


def test_a_missing_or_binary_file_is_an_error(book, tmp_path):
    with pytest.raises(SticklerError, match="Could not read"):
        items.add(tmp_path / "nowhere.jsonl", "mine", book)
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(SticklerError, match="UTF-8"):
        items.add(tmp_path / "b", "mine", book)

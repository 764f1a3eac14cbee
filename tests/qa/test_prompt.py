"""Prompt files have the placeholders that are filled, and the budget is kept."""

import pytest

from qa import prompt


@pytest.mark.parametrize("name", prompt.PLACEHOLDERS)
def test_a_prompt_file_has_exactly_its_placeholders(name):
    assert set(prompt.read(name).get_identifiers()) == prompt.PLACEHOLDERS[name]


def test_every_prompt_file_is_known():
    folder = prompt._FOLDER
    assert {path.name for path in folder.glob("*.txt")} == set(prompt.PLACEHOLDERS)


def test_a_wrong_placeholder_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "answer.txt").write_text("$rules $question $typo")
    monkeypatch.setattr(prompt, "_FOLDER", tmp_path)
    with pytest.raises(ValueError, match="typo"):
        prompt.read("answer.txt")


def test_the_best_rules_go_in_whole_and_none_in_part():
    rules = [("1", "a " * 50), ("2", "b " * 50), ("3", "c " * 50)]
    filled, used = prompt.fill("why?", rules, 110, lambda text: len(text.split()))
    assert used == ["1", "2"]
    assert " ".join(["b"] * 50) in filled.user
    assert "c c" not in filled.user
    _, only = prompt.fill("why?", rules, 1, lambda text: len(text.split()))
    assert only == ["1"]


def test_mana_symbols_and_dollars_pass_through():
    filled, _ = prompt.fill("does {T} cost $5 or ${X}?", [("1", "{W/B} $rules")], 99, len)
    assert "{T} cost $5 or ${X}?" in filled.user
    assert "- {W/B} $rules" in filled.user

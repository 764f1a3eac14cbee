"""Prompt files have the placeholders that are filled, and the budget is kept."""

import re

import pytest
from fakes import EchoModel

from eval import items
from index.expansion import AnsweredQuestion
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
    rules = [prompt.ShownRule(n, "", f"{word} " * 50) for n, word in zip("123", "abc", strict=True)]
    filled, used = prompt.fill("why?", rules, 110, EchoModel())
    assert used == ["1", "2"]
    assert " ".join(["b"] * 50) in filled.user
    assert "c c" not in filled.user
    _, only = prompt.fill("why?", rules, 1, EchoModel())
    assert only == ["1"]


def test_answered_questions_about_the_rules_shown_stand_before_the_question_nearest_last():
    rules = [prompt.ShownRule("1.1", "", "one " * 50), prompt.ShownRule("1.2", "", "two " * 90)]
    answered = [
        AnsweredQuestion("1.1", "Is it so?", "Yes. It is.", 0.9),
        AnsweredQuestion("1.2", "Does the rule that was left out say so?", "No. It doesn't.", 0.8),
        AnsweredQuestion("1.1", "How many {T}?", "Two {T}", 0.7),
    ]
    filled, _ = prompt.fill("why?", rules, 60, EchoModel(), answered)
    before, after = "How many {T}? Two {T} [1.1].", "Is it so? Yes. It is [1.1]."
    assert f"Answered before:\n{before}\n{after}\n\nQuestion: why?" in filled.user
    assert "left out" not in filled.user
    without, _ = prompt.fill("why?", rules, 60, EchoModel())
    assert "Answered" not in without.user


def test_mana_symbols_and_dollars_pass_through():
    filled, _ = prompt.fill(
        "does {T} cost $5 or ${X}?",
        [prompt.ShownRule("1.1", "Mana", "{W/B} $rules")],
        99,
        EchoModel(),
    )
    assert "{T} cost $5 or ${X}?" in filled.user
    assert "[1.1] Mana: {W/B} $rules" in filled.user


def test_worked_examples_are_of_the_training_set_and_in_the_answers_own_form():
    """None of dev, test or calibration, each sentence with a rule that it shows."""
    trained = {item.question for item in items.train()}
    examples = prompt.worked_examples()
    assert len(examples) >= 6
    for asked, answer in examples:
        question = asked.partition("Question: ")[2]
        assert question in {" ".join(each.split()) for each in trained}
        cited = re.findall(r"\[(\d{3}\.\w+)\]\.", answer)
        assert cited
        assert all(f"[{number}] " in asked for number in cited)


def test_the_fixed_part_is_the_same_for_all_questions():
    rules = [prompt.ShownRule("1.1", "Mana", "Mana is mana.")]
    one, other = (prompt.fill(q, rules, 99, EchoModel())[0] for q in ("why?", "when?"))
    assert one._replace(user="") == other._replace(user="")


def test_a_tuned_model_is_told_less():
    model = EchoModel()
    rules = [prompt.ShownRule("1.1", "Mana", "Mana is mana.")]
    untuned, _ = prompt.fill("why?", rules, 99, model)
    model.tuned = True
    tuned, _ = prompt.fill("why?", rules, 99, model)
    assert untuned.examples
    assert not tuned.examples
    assert len(tuned.system) < len(untuned.system)
    assert tuned.user == untuned.user

"""The command line's phrases: one for every action, and each makes a sentence."""

import pytest

from cli.remedies import PHRASES, phrase
from index import library
from index.errors import Action, Remedy, SticklerError


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("value", ["", "NAME"])
def test_every_action_has_a_phrase(action, value):
    words = phrase(Remedy(action, value))
    assert words
    assert not set(words) & set("{}[]")
    assert "  " not in words
    assert not words.endswith((".", " "))  # the sentence has a period of its own
    assert words[0].islower() or words.startswith("'stickler ")  # it stands behind a colon
    assert words.count("'") % 2 == 0


def test_a_value_stands_in_the_phrase_of_every_action_that_has_one():
    for action, words in PHRASES.items():
        assert ("NAME" in phrase(Remedy(action, "NAME"))) == ("{value}" in words)


def test_an_option_without_a_value_is_left_out():
    named = Remedy(Action.BUILD_INDEX, r"C:\models\[mine]")
    assert phrase(Remedy(Action.BUILD_INDEX)) == "run 'stickler index build'"
    assert phrase(named) == r"run 'stickler index build --embedder C:\models\[mine]'"


def test_a_missing_rule_is_told_with_the_commands_that_help():
    with pytest.raises(SticklerError) as caught:
        library.load().current.rule("702.18z")
    assert caught.value.sentence(phrase) == (
        "There is no rule 702.18z in the current edition (nearest: 702.18b and 702.19): "
        "see 'stickler rules list', or add a fuller document with 'stickler rules add FILE'."
    )

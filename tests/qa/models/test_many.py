"""Many answers of the embedded model at once, against one at a time."""

import pytest

from qa.models import DEFAULT, Prompt, decoding, many
from qa.models.local import Local
from qa.models.many import Many

RULES = [
    "A creature with reach can block creatures with flying.",
    "A creature with defender can’t attack.",
    "Multiple instances of menace on the same creature are redundant. " * 3,
    "Vigilance: attacking doesn’t cause this creature to tap.",
    "Trample has no effect when a creature with trample is blocking.",
]
PROMPTS = [Prompt("You are a judge. Answer in a few words.", f"- {rule}\nWhy?") for rule in RULES]


@pytest.fixture(scope="module")
def home(built_home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        yield


@pytest.fixture(scope="module")
def model(home):
    return Many(DEFAULT)


@pytest.fixture(scope="module")
def alone(home):
    """What transformers' own loop, cache and attention say to each by itself."""
    plain = Local(DEFAULT)
    return [plain.generate([prompt], 12)[0] for prompt in PROMPTS]


def test_together_they_are_answered_as_alone(model, alone, monkeypatch):
    assert model.generate(PROMPTS, 12) == alone
    monkeypatch.setattr(many, "_TOGETHER", 2)
    assert model.generate(PROMPTS, 12) == alone


@pytest.mark.parametrize("finished", [1, 2, 9])
def test_an_answer_that_ends_drops_out_and_the_others_go_on(model, alone, monkeypatch, finished):
    """Every answer is made to end at its first full stop or comma."""
    monkeypatch.setattr(many, "_FINISHED", finished)
    ends = [model._tokenizer(mark)["input_ids"][-1] for mark in (".", ",")]
    monkeypatch.setattr(model._model.generation_config, "eos_token_id", ends)
    cut = [min([text, *(text.split(mark)[0] for mark in ".,")], key=len).strip() for text in alone]
    assert len({len(text) for text in cut}) > 1
    assert model.generate(PROMPTS, 12) == cut


def test_answers_longer_than_the_room_made_for_them_at_once(model, alone, monkeypatch):
    monkeypatch.setattr(decoding, "_ROOM", 5)
    assert model.generate(PROMPTS, 12) == alone


def test_no_answer_is_longer_than_the_limit(model):
    assert [model.count(text) for text in model.generate(PROMPTS[:2], 1)] == [1, 1]


def test_few_are_answered_by_llama_cpp_and_many_by_transformers(built_home, monkeypatch):
    pytest.importorskip("xllamacpp")
    from qa.models import embedded

    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    monkeypatch.setattr(many, "_MANY", 3)
    both = embedded.load()
    assert len(both.generate(PROMPTS[:2], 4)) == 2
    assert "_many" not in vars(both)
    assert len(both.generate(PROMPTS[:3], 4)) == 3
    assert "_many" in vars(both)

"""The published schema is the answer's own, and real answers keep to it."""

import json
from pathlib import Path

import pytest
from fakes import EchoModel
from jsonschema import Draft202012Validator, ValidationError

from qa.answer_schema import answer_schema
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "answer.schema.json"
pytestmark = pytest.mark.usefixtures("shared_embeddings")


@pytest.fixture(scope="module")
def validator():
    return Draft202012Validator(json.loads(PUBLISHED.read_text(encoding="utf-8")))


def test_the_published_schema_is_current(stickler):
    code, out, err = stickler("schema")
    assert (code, err) == (0, "")
    assert out == PUBLISHED.read_text(encoding="utf-8"), "run 'stickler schema' to write it anew"
    Draft202012Validator.check_schema(answer_schema())


@pytest.mark.parametrize(
    "question",
    [
        "can a creature with reach block my flyer?",
        "702.19b",
        "how many cards does a deck need?",
        "and what about {T} “quotes” <b>?",
    ],
)
def test_real_answers_are_valid(searcher, validator, question):
    model = EchoModel("No. See rule 702.999.", probabilities={"Yes": 0.1, "No": 0.8})
    resources = Resources(searcher=searcher, load_model=lambda name: model)
    answer = Assistant(Settings(model="fake"), resources).ask(question, ["does trample kill?"])
    validator.validate(json.loads(json.dumps(answer.to_json())))


def test_a_field_too_many_or_too_few_is_noticed(searcher, validator):
    answer = Assistant(Settings(model="none"), Resources(searcher=searcher)).ask("702.19b")
    fields = json.loads(json.dumps(answer.to_json()))
    for wrong in ({**fields, "more": 1}, {k: v for k, v in fields.items() if k != "text"}):
        with pytest.raises(ValidationError):
            validator.validate(wrong)
    with pytest.raises(ValidationError):
        validator.validate({**fields, "verdict": "maybe"})

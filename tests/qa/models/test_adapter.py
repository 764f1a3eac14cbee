"""The adapters that ship: each belongs to the model it is laid over, and its card tells of it."""

import json

import gguf
import pytest

from index import files
from qa.models import catalog

TUNED = [model for model in catalog.catalog().values() if model.adapter_path]


@pytest.mark.parametrize("model", TUNED, ids=lambda model: model.name)
def test_an_adapter_names_the_file_it_is_laid_over(model):
    digest = gguf.GGUFReader(model.adapter_path).get_field("general.base_model.0.digest")
    assert digest.contents() == model.sha256


@pytest.mark.parametrize("model", TUNED, ids=lambda model: model.name)
def test_the_card_is_that_of_the_adapter(model):
    card = json.loads(model.adapter_path.with_suffix(".json").read_text())
    assert card["base"] == model.sha256
    assert card["weights"] == files.digest(model.adapter_path)


def test_the_default_model_is_tuned():
    assert TUNED

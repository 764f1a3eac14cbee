"""The tab Rules shows which texts are loaded, and how they are added."""

import pytest

import app
from page.service import Service
from qa.resources import Resources


@pytest.mark.parametrize("uploads", [True, False])
def test_texts_are_added_with_a_button_or_else_on_the_machine(uploads, searcher):
    page = app.build(Service(uploads=uploads, resources=Resources(searcher=searcher)))
    components = [each["props"] for each in page.config["components"]]
    (button,) = [each for each in components if each.get("label") == "Add a rules document"]
    (latest,) = [each for each in components if each.get("value") == "Get the latest rules"]
    notes = [each for each in components if "added on the server" in str(each.get("value"))]
    assert button["visible"] is latest["visible"] is uploads
    assert bool(notes) is not uploads

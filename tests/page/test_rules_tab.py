"""The tab Rules says how texts are added, also where visitors cannot add them."""

import pytest

import app
from page.service import Service


@pytest.mark.parametrize("uploads", [True, False])
def test_texts_are_added_with_a_button_or_else_on_the_machine(uploads, searcher):
    page = app.build(Service(uploads=uploads, searcher=searcher))
    parts = [each["props"] for each in page.config["components"]]
    (button,) = [part for part in parts if part.get("label") == "Add a rules text"]
    told = [part for part in parts if "Texts are added on the machine" in str(part.get("value"))]
    assert button["visible"] is uploads
    assert bool(told) is not uploads

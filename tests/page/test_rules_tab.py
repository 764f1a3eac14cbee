"""The tab Rules shows which texts are loaded, and how they are added."""

import pytest
from texts import HOSTILE

import app
from index.library import Document
from page.rules_tab import render_documents
from page.service import Service
from qa.resources import Resources


@pytest.mark.parametrize("uploads", [True, False])
def test_texts_are_added_with_a_button_or_else_on_the_machine(uploads, searcher):
    page = app.build(Service(uploads=uploads, resources=Resources(searcher=searcher)))
    components = [each["props"] for each in page.config["components"]]
    (button,) = [each for each in components if each.get("label") == "Add a rules text"]
    notes = [each for each in components if "added on the machine" in str(each.get("value"))]
    assert button["visible"] is uploads
    assert bool(notes) is not uploads


def test_of_a_file_that_was_added_only_the_name_is_shown():
    document = Document(
        "f", "official", "2020-01-01", f"/home/me/secret/{HOSTILE[:4]}.txt", "0", "today"
    )
    shown = render_documents([document])
    assert "secret" not in shown
    assert "&lt;img.txt" in shown

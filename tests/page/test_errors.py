"""Sentences of the command as the page says them."""

import pytest

from index.errors import SticklerError
from page import browse
from page.errors import here, told
from qa import compose


@pytest.mark.parametrize("number", ["999.9", "no such heading"])
def test_what_is_not_in_the_book_is_told_without_a_command(number, book):
    with pytest.raises(SticklerError, match="stickler rules") as command:
        book.current.find(number)
    assert "stickler " not in here(str(command.value))
    shown = browse.page(number, book.current)
    assert 'class="failure"' in shown
    assert "tab Rules" in shown
    assert "stickler " not in shown


def test_a_hint_at_missing_rules_names_the_tab_where_they_are_added():
    assert here(compose.ADD) == "Add the full rules in the tab Rules, under Rules texts."


def test_an_error_that_is_raised_on_the_page_speaks_of_the_page(book):
    import gradio as gr

    with pytest.raises(gr.Error) as shown, told():
        book.current.find("999.9")
    assert "add a fuller text in the tab Rules, under Rules texts." in shown.value.message


def test_a_sentence_without_a_command_stays_as_it_is():
    assert here("There is no such answer any more: ask again.") == (
        "There is no such answer any more: ask again."
    )

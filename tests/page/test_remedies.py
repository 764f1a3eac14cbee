"""What to do about an error, as the page says it."""

import pytest

from index.errors import Action, Remedy, SticklerError
from page.errors import gradio_errors
from page.remedies import phrase
from page.rule_page import render_page

# What only a command can do, and what a page that failed for it cannot remedy.
NOT_ON_A_PAGE = {
    Action.TUNE,
    Action.CHOOSE_FORMAT,
    Action.CHOOSE_FIELDS,
    Action.FEWER_WORKERS,
    Action.LEAVE_OUT_RAY,
    Action.LEAVE_OUT_ADDRESS,
    Action.CONTINUE_RUN,
}


@pytest.mark.parametrize("action", Action)
def test_every_action_has_a_phrase_or_is_left_out_on_purpose(action):
    said = phrase(Remedy(action, "2009-10-01"))
    assert bool(said) is (action not in NOT_ON_A_PAGE)
    assert "--" not in said
    assert "{" not in said


def test_what_cannot_be_done_on_a_page_is_left_out_of_the_sentence():
    error = SticklerError("It is broken", "mend it", Remedy(Action.CHOOSE_FORMAT))
    assert error.sentence(phrase) == "It is broken: mend it."


@pytest.mark.parametrize("query", ["999.9", "no such heading"])
def test_what_is_not_in_the_book_points_to_the_tab_rules(query, book):
    shown = render_page(query, book.current)
    assert 'class="failure"' in shown
    assert "in the Rules tab" in shown
    assert "stickler " not in shown


def test_gradio_shows_an_error_in_the_words_of_the_page(book):
    import gradio as gr

    with pytest.raises(gr.Error) as shown, gradio_errors():
        book.current.find("999.9")
    assert "add the full rules in the Rules tab, under Rules documents." in shown.value.message

"""How a batch ended, and its first answers, as HTML."""

from page.preview import render_counts, render_preview
from qa.batch.engines import Outcome
from qa.batch.run import Counts


def test_how_a_batch_ended_says_what_a_reader_should_know():
    plain = render_counts(Counts(answered=3, abstained=1))
    assert "Done: 3 answered, 1 not settled by the rules." in plain
    assert "only quote" not in plain
    assert "cell" not in plain
    shown = render_counts(Counts(answered=3, silent=2, cut=1))
    assert "2 only quote rules because the language model failed." in shown
    assert "1 cell is too long for a spreadsheet and marked as cut off" in shown


def test_questions_are_shown_as_text(book):
    hostile = "<img src=x onerror=alert(1)>"
    failed = [Outcome(hostile, None, hostile)]
    shown = render_preview(failed, 1, book.edition("current"))
    assert "<img" not in shown
    assert shown.count("&lt;img") == 2

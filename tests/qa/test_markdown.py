"""What stands in a Markdown file reads as it was written."""

import pytest

from qa.markdown import escape, escape_line


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("702. Keyword Abilities", "702\\. Keyword Abilities"),
        ("702.19b is a rule", "702.19b is a rule"),
        ("- not a list", "\\- not a list"),
        ("# *no* [markup](x) <b>", "\\# \\*no\\* \\[markup\\](x) \\<b\\>"),
        ("Pay {T}.", "Pay \\{T\\}."),
    ],
)
def test_text_is_shown_verbatim(text, escaped):
    assert escape(text) == escaped


def test_a_line_stays_one_line():
    assert escape_line("one\n702. two") == "one 702. two"
    assert escape_line("702.\ntwo") == "702\\. two"

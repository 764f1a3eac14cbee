"""Who has only excerpts is offered the rest, and what came of getting it is said in words."""

import pytest
from texts import HOSTILE

from index.diff import Diff
from index.editions import Rulebook
from index.errors import Action, Remedy, SticklerError
from index.latest import Latest
from index.library import Document
from index.rulebook import ParsedDocument, Rule
from page import rules_texts
from page.errors import render_error


@pytest.fixture(scope="module")
def whole():
    """A book with one whole edition."""
    rule = Rule("100.1", "These rules apply to any game.", "2025-07-04", "made up")
    return Rulebook([ParsedDocument("made up", "2025-07-04", (rule,), {"100": "General"})])


def test_only_who_has_excerpts_is_offered_the_whole_rules(book, whole):
    assert rules_texts.only_excerpts(book)
    assert not rules_texts.only_excerpts(whole)


def test_what_is_new_is_said_in_words():
    parsed = ParsedDocument("made up", "2025-07-04", (), {})
    diff = Diff("2024-03-08", "2025-07-04", (), ("Of one only excerpts are loaded.",))
    shown = rules_texts.render_latest(Latest("added", "2025-07-04", "2024-03-08", parsed, diff))
    assert "Added the edition 2025-07-04: 0 rules. Since 2024-03-08: nothing changed." in shown
    assert "Of one only excerpts are loaded." in shown
    assert "is already loaded" in rules_texts.render_latest(Latest("loaded", "2025-07-04", "x"))


def test_a_failure_is_said_in_the_words_of_the_page_and_runs_no_script():
    shown = render_error(SticklerError(HOSTILE, Remedy(Action.GET_LATEST)))
    assert "get the latest rules in the Rules tab" in shown
    assert "<img" not in shown


def test_of_a_file_that_was_added_only_the_name_is_shown():
    document = Document(
        "f", "official", "2020-01-01", f"/home/me/secret/{HOSTILE[:4]}.txt", "0", "today"
    )
    shown = rules_texts.render_documents([document])
    assert "secret" not in shown
    assert "&lt;img.txt" in shown

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index import parsers
from index.editions import Rulebook
from index.history import counterpart, history, word_changes

QUOTES = str.maketrans("‘’“”", "''\"\"")
TEXTS = st.lists(
    st.sampled_from(
        ["a", "creature", "its", "it’s", "it's", "“first", '"first', "strike.”", "damage", "{W/B}"]
    ),
    max_size=12,
).map(" ".join)


@pytest.fixture(scope="module")
def old(book):
    return book.edition("2009-10-01")


@pytest.mark.parametrize(
    ("number", "now"),
    [("702.17", "702.19"), ("702.17a", "702.19a"), ("702.17b", "702.19b"), ("702.17c", "702.19d")],
)
def test_trample_moved_from_702_17_to_702_19(number, now, book, old):
    assert counterpart(old.rule(number), book.current).number == now
    assert counterpart(book.current.rule(now), old).number == number


def test_a_rule_that_was_not_there_has_no_counterpart(book, old):
    assert counterpart(book.current.rule("702.153"), old) is None
    assert counterpart(book.current.rule("702.19c"), old) is None


def test_no_rule_of_a_new_keyword_has_a_counterpart_under_another_keyword(book, old):
    """Casualty came after 2009: conspire is worded like it and is not its earlier version."""
    new = [r for r in book.current.subrules("702") if r.heading and not old.headed(r.heading)]
    assert "702.153a" in [rule.number for rule in new]
    wrong = {r.number: c.heading for r in new if (c := counterpart(r, old))}
    assert wrong == {}


def test_trample_has_three_editions_oldest_first(book):
    versions = history(book.current.rule("702.19"), book)
    assert [(v.rule.edition, v.rule.number) for v in versions] == [
        ("2009-10-01", "702.17"),
        ("2022-06-10", "702.19"),
        ("2024-03-08", "702.19"),
    ]
    assert [change for v in versions for change in v.changes] == [("same", "Trample")] * 3


def test_a_rules_versions_each_differ_from_the_one_before(book):
    versions = history(book.current.rule("702.19b"), book)
    assert [v.rule.edition for v in versions] == ["2009-10-01", "2022-06-10", "2024-03-08"]
    assert {kind for kind, _ in versions[0].changes} == {"same"}
    for before, after in itertools.pairwise(versions):
        assert tuple(word_changes(before.rule.text, after.rule.text)) == after.changes
        assert joined(after.changes, "new") == after.rule.text
    assert any(kind == "new" and "battle" in text for kind, text in versions[2].changes)


def joined(changes, kind):
    return "".join(text for which, text in changes if which in ("same", kind))


@given(TEXTS | st.text(), TEXTS | st.text())
@example("it's  a\ncreature", "it’s a creature ")
@example("", "a")
@example("a", "")
def test_what_stayed_and_came_is_the_new_text_and_what_stayed_and_went_the_old(old, new):
    changes = word_changes(old, new)
    assert joined(changes, "new") == new
    gone = [w.translate(QUOTES) for k, t in changes if k != "new" for w in t.split()]
    assert gone == old.translate(QUOTES).split()
    assert all(text for _, text in changes)


@given(TEXTS | st.text())
def test_an_unchanged_text_has_no_changes(text):
    assert {kind for kind, _ in word_changes(text, text)} <= {"same"}


def test_a_new_shape_of_quotation_mark_is_no_change():
    assert word_changes('it\'s "first strike"', "it’s “first strike”") == [
        ("same", "it’s “first strike”")
    ]


def test_a_changed_word_is_told_from_its_neighbours():
    assert word_changes("he or she draws a card", "they draw a card") == [
        ("gone", "he or she draws "),
        ("new", "they draw "),
        ("same", "a card"),
    ]


def test_a_rule_of_every_release_is_followed_through_all(releases):
    book = Rulebook(parsers.parse(f.read_bytes(), f.name) for f in releases.glob("*.txt"))
    versions = history(book.current.rule("702.19b"), book)
    assert [(v.rule.edition, v.rule.number) for v in versions] == [
        ("2009-10-01", "702.17b"),
        ("2013-05-01", "702.18b"),
        ("2015-07-17", "702.19b"),
        ("2022-06-10", "702.19b"),
        ("2024-03-08", "702.19b"),
        ("2026-04-17", "702.19b"),
    ]

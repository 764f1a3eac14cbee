"""What changed between two editions: each rule is matched by text before it is by number."""

import time

import pytest

from index import parsers
from index.diff import compare, two_editions
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Coverage, Example, ParsedDocument, Rule

SECTIONS = {"7": "Additional Rules", "700": "General", "702": "Keyword Abilities"}
VIGILANCE = "Attacking doesn’t cause creatures with vigilance to tap."
FLYING = "A creature with flying can’t be blocked except by creatures with flying and/or reach."
OLD = {
    "700.1": "Anything that happens in a game is an event.",
    "700.2": "A spell is modal if it has two or more options in a bulleted list.",
    "702.2": "Banding",
    "702.2a": "Banding is a static ability that modifies the rules for declaring attackers.",
    "702.9": "Flying",
    "702.9a": "Flying is an evasion ability.",
    "702.9b": FLYING,
    "702.20": "Vigilance",
    "702.20a": "Vigilance is a static ability.",
    "702.20b": VIGILANCE,
}


def parsed(edition, texts, whole=True, sections=SECTIONS, **more):
    rules = tuple(Rule(n, text, edition, "made up", **more) for n, text in texts.items())
    coverage = Coverage() if whole else Coverage(min(texts), max(texts))
    return ParsedDocument("made up", edition, rules, sections, coverage=(coverage,))


def diff(old, new):
    """What changed from one document to another."""
    book = Rulebook([old, new])
    return compare(book.edition(old.edition), book.edition(new.edition))


def changes(old, new):
    """What changed as rows: number before, number after, kinds."""
    found = diff(parsed("2020-01-01", old), parsed("2021-01-01", new))
    return [
        (each.old and each.old.number, each.new and each.new.number, *each.kinds)
        for section in found.sections
        for each in section.changes
    ]


def without(*numbers):
    return {number: text for number, text in OLD.items() if number not in numbers}


def test_an_edition_and_its_like_do_not_differ():
    assert changes(OLD, OLD) == []
    found = diff(parsed("2020-01-01", OLD), parsed("2021-01-01", OLD))
    assert (found.summary, found.sections, found.notes) == ("nothing changed", (), ())


def test_a_rule_that_is_not_in_the_other_edition_was_added_or_removed():
    assert changes(without("700.2"), OLD) == [(None, "700.2", "added")]
    assert changes(OLD, without("700.2")) == [("700.2", None, "removed")]


def test_a_rule_that_moved_is_neither_added_nor_removed():
    moved = {**without("702.20", "702.20a", "702.20b"), "702.21": "Vigilance"}
    moved |= {"702.21a": OLD["702.20a"], "702.21b": VIGILANCE}
    assert changes(OLD, moved) == [
        (f"702.20{letter}", f"702.21{letter}", "renumbered") for letter in ("", "a", "b")
    ]


def test_a_rule_that_was_reworded_keeps_its_number():
    assert changes(OLD, OLD | {"702.9b": FLYING.replace("and/or", "or")}) == [
        ("702.9b", "702.9b", "reworded")
    ]


def test_a_rule_that_moved_and_was_reworded_is_told_as_both():
    new = {**without("702.9b"), "702.9c": FLYING.replace("and/or", "or"), "702.9b": "It is new."}
    assert changes(OLD, new) == [
        (None, "702.9b", "added"),
        ("702.9b", "702.9c", "renumbered", "reworded"),
    ]
    found = diff(parsed("2020-01-01", OLD), parsed("2021-01-01", new))
    assert found.counts == {"added": 1, "removed": 0, "renumbered": 1, "reworded": 1}


def test_a_rule_that_moved_to_another_section_is_found_there():
    moved = {**without("700.2"), "702.1": OLD["700.2"].replace("bulleted", "numbered")}
    assert changes(OLD, moved) == [("700.2", "702.1", "renumbered", "reworded")]


def test_where_two_rules_changed_places_each_is_renumbered():
    swapped = OLD | {"702.20a": VIGILANCE, "702.20b": OLD["702.20a"]}
    assert changes(OLD, swapped) == [
        ("702.20b", "702.20a", "renumbered"),
        ("702.20a", "702.20b", "renumbered"),
    ]


def test_a_keyword_worded_like_another_is_not_that_keyword():
    new = {**without("702.2", "702.2a"), "702.2": "Haste", "702.2a": "Haste is a static ability."}
    assert changes(OLD, new) == [
        (None, "702.2", "added"),
        ("702.2", None, "removed"),
        (None, "702.2a", "added"),
        ("702.2a", None, "removed"),
    ]


def test_a_keyword_that_only_changed_its_name_is_reworded():
    new = OLD | {"702.2": "Bonding", "702.2a": OLD["702.2a"].replace("Banding", "Bonding")}
    assert changes(OLD, new) == [("702.2", "702.2", "reworded"), ("702.2a", "702.2a", "reworded")]


def test_a_changed_example_and_no_new_shape_of_quotation_mark_is_a_rewording():
    old = parsed("2020-01-01", {"700.1": "It’s an “event.”"}, examples=(Example("One."),))
    same = parsed("2021-01-01", {"700.1": 'It\'s an "event."'}, examples=(Example("One."),))
    other = parsed("2022-01-01", {"700.1": "It’s an “event.”"}, examples=(Example("Two."),))
    assert diff(old, same).sections == ()
    ((change,),) = [section.changes for section in diff(old, other).sections]
    assert change.kinds == ("reworded",)
    assert change.words[1:] == [("gone", "One."), ("new", "Two.")]


def test_the_words_of_what_was_added_are_new_and_of_what_was_removed_gone():
    old, new = parsed("2020-01-01", OLD), parsed("2021-01-01", without("700.1") | {"702.3": "New."})
    first, second = (section.changes[0] for section in diff(old, new).sections)
    assert first.words == [("gone", OLD["700.1"])]
    assert second.words == [("new", "New.")]


def test_sections_are_in_order_and_what_was_removed_stands_where_its_section_is_now():
    sections = SECTIONS | {"700": "Brand New", "701": "General"}
    new = {"701.1": OLD["700.1"], **without("700.1", "700.2")}
    found = diff(parsed("2020-01-01", OLD), parsed("2021-01-01", new, sections=sections))
    (section,) = found.sections
    assert (section.number, section.name) == ("701", "General")
    assert [change.kinds for change in section.changes] == [("removed",), ("renumbered",)]


def test_of_excerpts_only_the_rules_that_they_have_are_compared():
    excerpts = parsed("2020-01-01", {"702.9a": OLD["702.9a"], "702.9z": "Gone now."}, whole=False)
    whole = parsed("2021-01-01", OLD)
    forth, back = diff(excerpts, whole), diff(whole, excerpts)
    assert forth.counts == {"added": 0, "removed": 1, "renumbered": 0, "reworded": 0}
    assert back.counts == {"added": 1, "removed": 0, "renumbered": 0, "reworded": 0}
    (note,) = forth.notes
    assert note.startswith("Only excerpts of the edition 2020-01-01 are loaded (2 rules): only")
    assert note.endswith("no rule can be reported as added.")
    assert back.notes[0].endswith("no rule can be reported as removed.")


def test_what_a_source_cut_off_is_no_rewording():
    cut = parsed("2020-01-01", {"702.9b": FLYING[:50]}, whole=False, truncated=True)
    assert diff(cut, parsed("2021-01-01", OLD)).sections == ()


def test_the_two_newest_whole_editions_are_compared_by_default():
    days = ["2018-01-01", "2019-01-01", "2020-01-01"]
    excerpts = parsed("2021-01-01", {"702.9": "Flying", "702.9a": "It flies."}, whole=False)
    book = Rulebook([*(parsed(day, OLD) for day in days), excerpts])
    assert [each.name for each in two_editions(book)] == days[1:]
    assert [each.name for each in two_editions(book, (days[2], days[0]))] == [days[2], days[0]]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (None, r"fewer than two full editions to compare \(loaded: 2020-01-01\): name two"),
        (("2020-01-01", "2020-01-01"), "2020-01-01 cannot be compared with itself"),
        (("2020-01-01", "2031-01-01"), "There is no edition 2031-01-01: choose one of 2020-01-01"),
    ],
)
def test_editions_that_cannot_be_compared_are_one_sentence(names, sentence):
    with pytest.raises(SticklerError, match=sentence):
        two_editions(Rulebook([parsed("2020-01-01", OLD)]), names)


def test_two_whole_releases_are_compared_in_seconds(releases):
    files = [releases / f"{day}.txt" for day in ("2024-03-08", "2026-04-17")]
    book = Rulebook(parsers.parse(file.read_bytes(), file.name) for file in files)
    started = time.monotonic()
    found = compare(*two_editions(book))
    assert time.monotonic() - started < 10
    rows = {
        (each.old and each.old.number, each.new and each.new.number): each.kinds
        for section in found.sections
        for each in section.changes
    }
    assert rows["702.89", "702.89"] == ("reworded",)  # totem armor is umbra armor now
    assert rows["701.7", "701.8"] == ("renumbered",)  # destroy
    assert rows["509.4", "509.2"] == ("renumbered", "reworded")
    assert rows["509.2", None] == ("removed",)  # no more damage assignment order
    assert rows[None, "107.18"] == ("added",)
    assert found.notes == ()
    old, new = (len(book.editions[name].rules) for name in (found.old, found.new))
    assert old + found.counts["added"] - found.counts["removed"] == new

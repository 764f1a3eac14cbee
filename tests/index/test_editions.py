from collections import Counter
from dataclasses import replace

import pytest

from index import library, parsers
from index.editions import Rulebook
from index.errors import Action, Remedy, SticklerError
from index.rulebook import Coverage, Example, ParsedDocument, Reference, Rule


@pytest.fixture(scope="module")
def current(book):
    return book.current


def numbers_of(rules):
    return [rule.number for rule in rules]


# The current view: the newest edition, its gaps filled where the numbering holds.


def test_the_current_view_marks_each_rule_with_its_edition(current):
    assert Counter(rule.edition for rule in current.rules) == {
        "2024-03-08": 300,
        "2022-06-10": 503,
    }
    assert len(current.rules) == len(current.by_number) == 803


def test_a_filled_rule_is_the_older_editions_own(book, current):
    older = book.edition("2022-06-10").by_number
    filled = [rule for rule in current.rules if rule.edition == "2022-06-10"]
    assert all(rule == older[rule.number] for rule in filled)
    assert current.rule("702.19b").edition == "2024-03-08"
    assert current.rule("702.153b").edition == "2022-06-10"


def test_no_older_rule_stands_inside_a_page_of_the_newest(book, current):
    """The pages are in string order: the third goes from 702.16g over 702.2 to 702.31c."""
    for number in book.edition("2022-06-10").by_number:
        if "702.16g" <= number <= "702.31c":
            assert current.by_number.get(number, Rule("", "", "2024-03-08", "")).edition == (
                "2024-03-08"
            )


def small(edition, rules, *coverage):
    made = tuple(Rule(number, text, edition, "page") for number, text in rules.items())
    return ParsedDocument("page", edition, made, {}, (), coverage)


NEWEST = small(
    "2024-03-08",
    {"702.2": "Deathtouch", "702.2a": "Deathtouch is a static ability.", "702.2c": "It is last."},
    Coverage("702.2", "702.2c"),
)


@pytest.mark.parametrize(
    ("heading", "filled"), [("Deathtouch", {"702.3", "800.1"}), ("Flying", set())]
)
def test_a_gap_is_filled_only_where_the_headings_agree(heading, filled):
    """702.2b lies inside what the newest page speaks for: it is no rule any more."""
    texts = {
        "702.2": heading,
        "702.2a": "Deathtouch is a static ability.",
        "702.2b": "It was dropped.",
        "702.3": "Defender",
        "800.1": "A multiplayer game has more than two players.",
    }
    current = Rulebook([NEWEST, small("2022-06-10", texts)]).current
    assert {r.number for r in current.rules if r.edition == "2022-06-10"} == filled
    assert current.rule("702.2").text == "Deathtouch"


def test_2009_stands_by_itself(book, current):
    old = book.edition("2009-10-01")
    assert len(old.rules) == 319
    assert old.rule("702.17").text == "Trample"
    assert current.rule("702.17").text != "Trample"
    assert not any(rule.edition == "2009-10-01" for rule in current.rules)


def test_editions_are_named_by_their_day_newest_first(book):
    assert list(book.editions) == ["2024-03-08", "2022-06-10", "2009-10-01"]
    assert book.edition() is book.edition("current") is book.current
    assert [len(edition.rules) for edition in book.editions.values()] == [300, 603, 319]
    with pytest.raises(SticklerError, match="no edition 1999-01-01: choose one of 2024-03-08"):
        book.edition("1999-01-01")


def test_a_book_without_rules_says_how_to_get_some():
    with pytest.raises(SticklerError, match="No rules are loaded") as refusal:
        Rulebook([])
    assert refusal.value.remedies == (Remedy(Action.ADD_RULES),)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("cut_part", ["text", "example"])
def test_of_two_texts_of_one_edition_the_whole_one_wins(cut_part, turned):
    whole = Rule("510.1c", "All of it.", "2024-03-08", "b", examples=(Example("One. Two."),))
    cut = (
        replace(whole, text="All", truncated=True, document="a")
        if cut_part == "text"
        else replace(whole, examples=(Example("One.", truncated=True),), document="a")
    )
    parsed_documents = [
        ParsedDocument(rule.document, rule.edition, (rule,), {}) for rule in (cut, whole)
    ]
    found = Rulebook(parsed_documents[::-1] if turned else parsed_documents).current.rule("510.1c")
    assert found == whole


@pytest.mark.parametrize("turned", [False, True])
def test_a_whole_release_replaces_every_cut_text_of_its_edition(turned, releases):
    assert sum(rule.truncated for rule in library.load().current.rules) == 38
    library.add(str(releases / "2024-03-08.txt"))
    documents = library.documents()
    current = library.load(documents[::-1] if turned else documents).current
    assert len(current.rules) == 2941
    assert {rule.edition for rule in current.rules} == {"2024-03-08"}
    assert not any(rule.truncated for rule in current.rules)
    assert not any(example.truncated for rule in current.rules for example in rule.examples)


def test_a_release_added_later_has_the_last_word_on_a_whole_text(releases):
    """The data set lacks the second paragraph of 509.1b, and nothing there says so."""
    library.add(str(releases / "2024-03-08.txt"))
    assert "\nA restriction may be created" in library.load().current.rule("509.1b").text


def test_the_newest_release_makes_the_current_view_alone(releases):
    library.add(str(releases / "2026-04-17.txt"))
    book = library.load()
    assert len(book.current.rules) == 3138
    assert {rule.edition for rule in book.current.rules} == {"2026-04-17"}
    assert len(book.edition("2024-03-08").rules) == 300
    assert next(iter(book.editions)) == "2026-04-17"


def test_an_older_release_fills_only_where_its_numbering_still_holds(current, releases):
    library.add(str(releases / "2015-07-17.txt"))
    after = library.load()
    assert set(numbers_of(after.current.rules)) - set(numbers_of(current.rules)) == {
        "514.3",
        "514.3a",
    }
    assert after.current.rule("514.3a").edition == "2015-07-17"
    assert len(after.edition("2015-07-17").rules) == 2040


@pytest.mark.parametrize("added", [None, "2015-07-17.txt"])
def test_the_current_view_calls_no_section_what_an_older_edition_called_it(added, releases):
    if added:
        library.add(str(releases / added))
    newest = parsers.parse((releases / "2024-03-08.txt").read_bytes(), "2024").sections
    named = library.load().current.sections
    assert {n: h for n, h in named.items() if newest.get(n) != h} == {}


def test_names_that_a_document_gives_itself_go_before_those_of_the_list(monkeypatch):
    listed = {"2022-06-10": {"702": "Something Else", "703": "A Section"}}
    known = {**library._toml(), "sections": listed}
    monkeypatch.setattr(library, "_toml", lambda: known)
    named = library.load().edition("2022-06-10").sections
    assert (named["702"], named["703"]) == ("Keyword Abilities", "A Section")


def test_a_chapter_is_named_but_holds_no_rules(current):
    assert current.sections["5"] == "Turn Structure"
    assert "5" not in current
    assert current.headed("turn structure") == []


# Moving about.


def test_a_rule_bears_the_nearest_heading_above_it(current):
    assert current.rule("702.16g").heading == "Protection"
    assert current.rule("702.19").heading == "Trample"
    assert current.rule("702.1a").heading == "Keyword Abilities"
    assert current.rule("510.1c").heading == "Combat Damage Step"
    assert current.path("702.19b") == ["Additional Rules", "Keyword Abilities", "Trample"]
    assert current.path("510.1c") == ["Turn Structure", "Combat Damage Step"]
    assert current.path("514.2") == ["Turn Structure", "Cleanup Step"]  # no page names it


def test_rules_stand_as_people_count(current):
    order = numbers_of(current.rules)
    assert order.index("702.2") < order.index("702.10") < order.index("702.100")
    assert order.index("702.99a") < order.index("702.100")
    assert order[0] == "506.4b"
    assert order[-1] == "702.153b"


def test_what_is_below_and_beside_a_number(current):
    assert numbers_of(current.subrules("702.19")) == [f"702.19{c}" for c in "abcdefg"]
    assert current.subrules("702.19b") == []
    assert len(current.subrules("702")) == 603
    assert "702.2" not in numbers_of(current.subrules("702.20"))
    before, behind = current.neighbours("702.19")
    assert (before.number, behind.number) == ("702.18b", "702.19a")
    assert current.neighbours("506.4b")[0] is None
    assert current.neighbours("702.153b")[1] is None
    assert current.rule("702.19b").parent == "702.19"


def test_references_say_whether_the_book_has_them(current):
    assert current.references(current.rule("702.2b")) == [Reference("704", known=False)]
    assert Reference("702.19b", known=True) in current.references(current.rule("702.19c"))
    assert Reference("509", known=True) in current.references(current.rule("702.31b"))
    assert "509" in current
    assert "704" not in current


def test_a_rule_knows_who_refers_to_it(current):
    assert current.referred_from("702.19b") == ["702.19c"]
    assert "702.31b" in current.referred_from("509")
    assert current.referred_from("702.153b") == []
    for rule in current.rules:
        for number in rule.references:
            assert number == rule.number or rule.number in current.referred_from(number)


def test_a_heading_leads_to_its_numbers(current, book):
    assert current.headed("trample") == ["702.19"]
    assert current.headed("  First   STRIKE ") == ["702.7"]
    assert current.headed("combat damage step") == ["510"]
    assert current.headed("banana") == []
    assert book.edition("2009-10-01").headed("Trample") == ["702.17"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("702.19b", ["702.19b"]),
        ("rule 702.19b?", ["702.19b"]),
        ("510.1c-d", ["510.1c", "510.1d"]),
        ("510.1c–d", ["510.1c", "510.1d"]),
        ("Trample", ["702.19", *(f"702.19{c}" for c in "abcdefg")]),
        ("702.20", ["702.20", "702.20a", "702.20b", "702.20c"]),
        ("702.20-21", ["702.20", "702.20a", "702.20b", "702.20c", "702.21", "702.21a", "702.21b"]),
        ("512", ["512.1"]),
    ],
)
def test_find_takes_a_number_a_range_a_section_or_a_heading(query, expected, current):
    assert numbers_of(current.find(query)) == expected


def test_find_takes_a_whole_section(current):
    assert current.find("702") == current.find("keyword abilities") == current.subrules("702")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("banana", "'banana' is neither a rule number nor a heading of the current edition: try"),
        ("", "'' is neither"),
        ("702.19z", r"no rule 702.19z in the current edition \(nearest: 702.19g and 702.20"),
        ("999", r"no rule 999 in the current edition \(nearest: 702.153b\)"),
        ("100.1", r"no rule 100.1 in the current edition \(nearest: 506.4b\)"),
        ("702.19b-z", "no rule 702.19h"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(query, sentence, current):
    with pytest.raises(SticklerError, match=sentence) as refusal:
        current.find(query)
    assert Remedy(Action.LIST_HEADINGS) in refusal.value.remedies
    assert "\n" not in str(refusal.value)

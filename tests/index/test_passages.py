"""A passage shows a rule's words and is embedded with the headings that lead to it."""

from index import parsers
from index.editions import CURRENT, Rulebook
from index.passages import passages


def test_every_rule_and_every_example_with_words_is_a_passage(book):
    found = passages(book.current)
    kinds = [passage.kind for passage in found]
    assert (kinds.count("rule"), kinds.count("example"), kinds.count("glossary")) == (803, 46, 0)
    assert len({passage.id for passage in found}) == len(found)


def test_what_is_embedded_differs_from_what_is_shown(book):
    by_id = {passage.id: passage for passage in passages(book.current)}
    rule, example = by_id["2024-03-08/702.19b"], by_id["2024-03-08/702.19b#1"]
    assert rule.shown == book.current.rule("702.19b").text
    assert rule.embedded == f"Keyword Abilities > Trample: {rule.shown}"
    assert example.number == "702.19b"
    assert example.embedded == f"Keyword Abilities > Trample: {example.shown}"
    priority = by_id["2024-03-08/507.2"]  # its section's name is in no document
    assert priority.embedded == f"Turn Structure > Beginning of Combat Step: {priority.shown}"


def test_a_bare_heading_is_not_embedded(book):
    empty = {passage.number for passage in passages(book.current) if not passage.embedded}
    assert empty == {rule.number for rule in book.current.rules if rule.is_heading}


def test_a_cut_text_is_marked(book):
    cut = [p for p in passages(book.current) if p.truncated and p.kind == "rule"]
    assert len(cut) == 38


def test_a_glossary_entry_points_to_its_rule(releases):
    parsed = parsers.parse((releases / "2024-03-08.txt").read_bytes(), "release")
    found = {
        p.heading: p for p in passages(Rulebook([parsed]).edition(CURRENT)) if p.kind == "glossary"
    }
    assert len(found) == len(parsed.glossary)
    assert found["Absorb"].number == "702.64"
    assert found["Absorb"].embedded.startswith("Absorb: A keyword ability")

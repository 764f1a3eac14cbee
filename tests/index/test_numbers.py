import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index import numbers

SECTIONS = st.integers(100, 999).map(str)
RULES = st.builds("{}.{}".format, SECTIONS, st.integers(1, 9999))
LETTERS = st.sampled_from(numbers.LETTERS) | st.builds(
    "{}{}".format, st.sampled_from("ab"), st.sampled_from(numbers.LETTERS)
)
SUBRULES = st.builds("{}{}".format, RULES, LETTERS)
NUMBERS = SECTIONS | RULES | SUBRULES
DASHES = st.sampled_from("-‐‑‒–—−")
# Text in which numbers, dashes and odd letters are likely, beside any text at all.
NUMBERISH = st.lists(
    st.sampled_from(
        ["702", "510.1c", "000", "001.1", "601.2f", ".", "-", "–", " to ", " through ", "rule ",
         "rules ", "sections ", ", ", " and ", "a", "l", "o", "z", "aa", "0", "7", "12345",
         "ſ", "İ", "K", "٧٠٢", "²", "\n"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)  # fmt: skip


def test_numbers_sort_as_people_count():
    ordered = ["702", "702.1", "702.2", "702.2a", "702.2b", "702.10", "702.10z", "702.10aa",
               "702.10ab", "702.10ba", "702.100", "702.100a", "703", "703.1"]  # fmt: skip
    assert sorted(set(ordered), key=numbers.parse) == ordered


@given(NUMBERS)
def test_a_number_survives_parsing(number):
    assert str(numbers.parse(number)) == number
    assert numbers.is_number(number)


@given(SUBRULES)
def test_a_subrule_stands_between_its_rule_and_the_next(number):
    rule = numbers.parent(number)
    parts = numbers.parse(number)
    following = f"{parts.section}.{parts.rule + 1}"
    if numbers.is_number(following):
        assert numbers.parse(rule) < parts < numbers.parse(following)
    assert numbers.group(number) == rule
    assert numbers.parent(rule) == str(parts.section)
    assert numbers.parent(str(parts.section)) is None


@pytest.mark.parametrize(
    "text", ["", "70", "7022", "702.", "702.19B", "702.19bcd", "702.12345", " 702", "702.b", "a"]
)
def test_what_is_no_number_is_refused(text):
    assert not numbers.is_number(text)
    with pytest.raises(ValueError, match="not a rule number"):
        numbers.parse(text)


def test_a_number_is_written_in_plain_digits():
    assert not numbers.is_number("７０２.１")


@pytest.mark.parametrize(
    ("previous", "number"),
    [
        ("702.1", "702.1a"),
        ("702.1a", "702.1b"),
        ("702.1k", "702.1m"),
        ("702.1n", "702.1p"),
        ("702.1z", "702.1aa"),
        ("702.1az", "702.1ba"),
        ("702.1", "702.2"),
        ("702.9c", "702.10"),
        ("702.153b", "703.1"),
        ("702.153b", "800.1"),
    ],
)
def test_a_number_follows_another(previous, number):
    assert numbers.follows(number, previous)
    assert not numbers.follows(previous, number)


@pytest.mark.parametrize(
    ("previous", "number"),
    [
        ("702.1", "702.1"),
        ("702.1", "702.1b"),
        ("702.1a", "702.1c"),
        ("702.1k", "702.1l"),
        ("702.1", "702.3"),
        ("702.1", "702.2a"),
        ("702.1", "703.2"),
        ("702.1", "703.1a"),
        ("702.1l", "702.1a"),
        ("702.1o", "702.1a"),
    ],
)
def test_a_number_does_not_follow_where_something_is_missing(previous, number):
    assert not numbers.follows(number, previous)


@given(RULES, st.integers(0, 23), st.integers(0, 23), DASHES)
def test_a_range_of_letters_names_each_and_skips_l_and_o(rule, one, other, dash):
    first, last = sorted((one, other))
    expected = [f"{rule}{letter}" for letter in numbers.LETTERS[first : last + 1]]
    written = f"{expected[0]}{dash}{expected[-1][-1]}"
    assert set(string.ascii_lowercase) - set(numbers.LETTERS) == {"l", "o"}
    if first < last:
        assert numbers.asked(written) == expected
        assert numbers.references(f"(See rules {written}.)") == tuple(expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("702.19b", ["702.19b"]),
        ("  rule 702.19b?", ["702.19b"]),
        ("CR 702.19B", ["702.19b"]),
        ("702", ["702"]),
        ("702.", ["702"]),
        ("702.19.", ["702.19"]),
        ("510.1c-d", ["510.1c", "510.1d"]),
        ("510.1c – 510.1d", ["510.1c", "510.1d"]),
        ("601.2f–h", ["601.2f", "601.2g", "601.2h"]),
        ("704.5k-p", ["704.5k", "704.5m", "704.5n", "704.5p"]),
        ("704.5y-ab", ["704.5y", "704.5z", "704.5aa", "704.5ab"]),
        ("701.3-5", ["701.3", "701.4", "701.5"]),
        ("701.9 to 701.11", ["701.9", "701.10", "701.11"]),
        ("Rule 510.1c through Rule 510.1d", ["510.1c", "510.1d"]),
        ("702-704", ["702", "703", "704"]),
        ("510.1d-c", ["510.1d"]),
        ("510.1k-l", ["510.1k", "510.1l"]),
        ("100.1-999.1", ["100.1", "999.1"]),
        ("100.1-9999", ["100.1", "100.9999"]),
        ("trample", []),
        ("702.19b and 702.19c", []),
        ("what does 702.19b say", []),
        ("1702.19b", []),
        ("702.19bcd", []),
        ("", []),
    ],
)
def test_a_query_that_is_only_a_number_or_range_is_recognised(query, expected):
    assert numbers.asked(query) == expected


@pytest.mark.parametrize("letter", ["l", "o"])
def test_a_range_from_a_letter_that_rules_skip_names_nothing_before_it(letter):
    found = numbers.expand(f"510.1{letter}", "q")
    assert all(numbers.parse(number) >= numbers.parse(f"510.1{letter}") for number in found)
    assert found[-1] == "510.1q"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("costs in rules 601.2b and 601.2f–h.", ["601.2b", "601.2f", "601.2g", "601.2h"]),
        ("(See rule 509, “Declare Blockers Step.”)", ["509"]),
        ("See Rule 704.", ["704"]),
        ("described in Rule 510.1c through Rule 510.1d.", ["510.1c", "510.1d"]),
        ("described in rules 510.1c-d.", ["510.1c", "510.1d"]),
        ("banding (see 702.22j).", ["702.22j"]),
        ("assigns 702.19b to a creature", ["702.19b"]),
        ("702.19b – a creature", ["702.19b"]),
        ("sections 509, 510, and 511", ["509", "510", "511"]),
        ("rules 701.3, 702.2b, or 701.3", ["701.3", "702.2b"]),
        ("rule 613, “Interaction,” and rule 707.2", ["613", "707.2"]),
        ("rule 704.5k’s", ["704.5k"]),
        ("Rule 702.19B", ["702.19b"]),
        ("in 2009, 702 players paid 100.50 for 3.141", ["100.50"]),
        ("part 1702.19b, v2.702.19, 702.19bcd and 702.12345", []),
        ("section 6, “Spells, Abilities, and Effects.”", []),
        ("rule 7022 and rule 70", []),
        ("Fire//Ice has {2}{U}{R}", []),
    ],
)
def test_references_in_a_sentence(sentence, expected):
    assert list(numbers.references(sentence)) == expected


@given(st.lists(RULES | SUBRULES, min_size=1, max_size=6))
def test_every_number_in_a_sentence_is_found_once_and_in_order(named):
    sentence = "See " + ", and also ".join(f"rule {number}" for number in named) + "."
    assert list(numbers.references(sentence)) == list(dict.fromkeys(named))


@given(st.text() | NUMBERISH)
@example("702.1ſ")  # re.IGNORECASE lets [a-z] match the long s ...
@example("702.1a-ſ")
@example("702.1a-İ")  # ... and a dotted capital I, which is two letters in lower case
@example("001.1-5")  # a section has three digits, also when it is counted on from
@example("rule ٧٠٢")
def test_any_text_gives_references_that_are_numbers(text):
    for number in (*numbers.references(text), *numbers.asked(text)):
        assert numbers.is_number(number), number
        assert number.isascii()


@given(RULES | SUBRULES, RULES | SUBRULES | LETTERS | st.integers(0, 9999).map(str))
def test_a_range_ascends_and_starts_where_it_says(start, end):
    found = numbers.expand(start, end)
    assert found[0] == start
    keys = [numbers.parse(number) for number in found]
    assert keys == sorted(set(keys))
    assert len(found) <= 201

"""Damaged documents are parsed soundly or refused in one sentence; never half a rule."""

import datetime
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import small_release

from index import library, numbers, parsers
from index.editions import Rulebook
from index.errors import SticklerError

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
SOUND = {  # name -> bytes, and the edition where the text does not say it
    document.file: (
        document.path.read_bytes(),
        None if document.format == "rulings" else document.edition,
    )
    for document in library.documents()
}
SOUND["release"] = (small_release().encode(), None)
WHOLE = {name: parsers.parse(data, name, edition) for name, (data, edition) in SOUND.items()}
LINES = {name: data.decode().split("\n") for name, (data, _) in SOUND.items()}
every_document = pytest.mark.parametrize("name", SOUND)


def outcome(data, name):
    """The parsed document, or None where it was refused in one sentence; all else is a bug."""
    try:
        found = parsers.parse(data, name, SOUND[name][1])
    except SticklerError as error:
        sentence = str(error)
        assert not set(sentence) & set("\r\n"), repr(sentence)
        assert sentence.endswith(".")
        assert "Traceback" not in sentence
        assert "Error" not in sentence
        return None
    is_sound(found)
    return found


def is_sound(found):
    """What any parsed document must be: one that can be arranged, searched and shown."""
    assert found.rules
    datetime.date.fromisoformat(found.edition)
    for rule in found.rules:
        assert numbers.is_number(rule.number)
        assert isinstance(rule.text, str)
        assert all(isinstance(example.text, str) for example in rule.examples)
    book = Rulebook([found]).current
    for rule in book.rules:
        assert all(numbers.is_number(ref.number) for ref in book.references(rule))


def order(text):
    """The rule numbers that lines begin with, in order."""
    found = re.findall(r"^(?:[-+] )?\**(\d{3}\.\d+(?:\*\*\d*)?[a-z]{0,2})\b", text, re.M)
    return [number.replace("*", "") for number in found]


@every_document
def test_a_sound_document_has_the_order_that_the_tests_below_go_by(name):
    assert order(SOUND[name][0].decode()) == [rule.number for rule in WHOLE[name].rules]


def warned(found, ends_open):
    """True where a notice says more than every Markdown text's: 'It ends with rule 702.153b'."""
    return any(ends_open or not notice.startswith("It ends with") for notice in found.notices)


def holds_only_whole_rules(name, data):
    """Inside a line a cut can be seen: no notice excuses half a text that is not marked as cut."""
    found = outcome(data, name)
    if found is None or warned(found, ends_open=data.endswith(b"\n")):
        return
    expected = WHOLE[name].rules[: len(found.rules)]
    if found.rules[-1].truncated and not expected[-1].truncated:
        assert expected[-1].text.startswith(found.rules[-1].text)
        assert found.rules[:-1] == expected[:-1]
    else:
        assert found.rules == expected, f"cut at byte {len(data)}"


@every_document
@settings(max_examples=60)
@given(st.data())
def test_a_document_cut_at_any_byte_loses_whole_rules_or_is_refused(name, data):
    whole = SOUND[name][0]
    holds_only_whole_rules(name, whole[: data.draw(st.integers(0, len(whole)))])


@every_document
@settings(max_examples=60)
@given(st.data())
def test_a_document_cut_behind_a_sentence_loses_whole_rules_or_is_refused(name, data):
    """The cut that is hardest to see: what is left reads like a rule."""
    whole = SOUND[name][0]
    ends = [match.end() for match in re.finditer(rb"[.)\n]|\xe2\x80\x9d", whole)]
    holds_only_whole_rules(name, whole[: data.draw(st.sampled_from(ends))])


@every_document
@pytest.mark.parametrize("seed", range(5))
def test_shuffled_lines_are_refused(name, seed):
    lines = LINES[name].copy()
    random.Random(seed).shuffle(lines)
    assert order("\n".join(lines)) != order("\n".join(LINES[name]))
    assert outcome("\n".join(lines).encode(), name) is None


@every_document
@settings(max_examples=25)
@given(st.data())
def test_two_rules_that_changed_places_are_refused(name, data):
    """Swaps whole rows on a data set's page, whole lines elsewhere."""
    lines = LINES[name].copy()
    places = [at for at, line in enumerate(lines) if order(line)]
    one, other = data.draw(st.lists(st.sampled_from(places), min_size=2, max_size=2, unique=True))
    for line in range(4 if "-rules-" in name else 1):
        lines[one + line], lines[other + line] = lines[other + line], lines[one + line]
    assert outcome("\n".join(lines).encode(), name) is None


@every_document
@settings(max_examples=40)
@given(st.data())
def test_a_document_without_some_lines_says_nothing_new(name, data):
    """Of the small release that cannot be asked: its second paragraph may lose its number."""
    lines = LINES[name]
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, min(len(lines), start + 40)))
    found = outcome("\n".join(lines[:start] + lines[end:]).encode(), name)
    if found is not None and not warned(found, ends_open=False) and name != "release":
        texts = {rule.number: rule.text for rule in WHOLE[name].rules}
        for rule in found.rules:
            assert texts[rule.number].startswith(rule.text), (start, end)


@every_document
@settings(max_examples=40)
@given(st.data())
def test_flipped_bytes_are_parsed_soundly_or_refused(name, data):
    changed = bytearray(SOUND[name][0])
    for at in data.draw(st.lists(st.integers(0, len(changed) - 1), min_size=1, max_size=20)):
        changed[at] ^= data.draw(st.integers(1, 255))
    outcome(bytes(changed), name)


@every_document
@settings(max_examples=40)
@given(st.data())
def test_odd_characters_are_parsed_soundly_or_refused(name, data):
    """The document stays text, so that the damage gets past decoding."""
    text = SOUND[name][0].decode()
    odd = st.text(max_size=4) | st.sampled_from(
        [*'\x0b\x0c\x1b\x85\u2028\ufeff,.…[]{}"*_#+-|<>09lo', "...", "702.1", "²", "٣", "ſ", "\n"]
    )
    for at in data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=4)):
        text = text[:at] + data.draw(odd) + text[at + data.draw(st.integers(0, 3)) :]
    outcome(text.encode(errors="surrogatepass"), name)


@every_document
@settings(max_examples=40)
@given(noise=st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_noise_behind_a_sound_opening_is_parsed_soundly_or_refused(name, noise):
    opening = b"\n".join(SOUND[name][0].split(b"\n")[:20])
    outcome(opening + b"\n" + noise, name)


@settings(max_examples=200)
@given(st.binary(max_size=600) | st.text(max_size=300).map(str.encode))
def test_pure_noise_is_refused(noise):
    assert outcome(noise, "release") is None


@pytest.mark.parametrize(
    "data", [b"", b" \r\n\t", b"\0", b"\0" * 5000, b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff\xd8"]
)
def test_nothing_is_refused(data):
    assert outcome(data, "release") is None


@every_document
def test_a_nul_anywhere_is_refused(name):
    data = SOUND[name][0]
    for at in (0, len(data) // 2, len(data)):
        assert outcome(data[:at] + b"\0" + data[at:], name) is None


@pytest.mark.parametrize("odd", ["\x0b", "\x1b[2J", "\u2028"])
def test_a_damaged_line_is_quoted_without_characters_that_move_the_cursor(odd):
    with pytest.raises(SticklerError, match="damaged") as refusal:
        parsers.parse(small_release().replace("100.1. ", f"All{odd} of ").encode(), "release")
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("'# **702.** Keywords\\n\\n702.' + '1' * 50_000", id="digits in markdown"),
        pytest.param(
            "'General Rulings - 702702 - K\\n- 702.1 - ' + '<-' * 50_000 +"
            " ' [CompRules 2009/07/08]\\n'",
            id="open angles in rulings",
        ),
        pytest.param("'Comprehensive Rules ' * 100_000", id="titles"),
        pytest.param("'number\\nstringlengths\\n' * 100_000", id="headers"),
    ],
)
def test_a_hostile_line_is_refused_at_once(text):
    code = (
        "from index import parsers; from index.errors import SticklerError\n"
        f"try: parsers.parse(({text}).encode(), 'x', '2024-03-08')\n"
        "except SticklerError: print('refused')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=3
    )
    assert run.stdout == "refused\n", run.stderr

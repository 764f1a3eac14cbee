import re
from dataclasses import replace

import pytest

from index import library, numbers, parsers
from index.errors import Action, Remedy, SticklerError

SHIPPED = {document.file: document for document in library.documents()}
COMBAT = "2024-03-08-rules-506.4b-to-514.2.txt"
ACTIONS = "2024-03-08-rules-615.1a-to-701.19j.txt"
KEYWORDS = "2024-03-08-rules-702.16g-to-702.31c.txt"
MARKDOWN = "2022-06-10-section-702.md"
RULINGS = "2009-10-01-rulings-702.txt"
HEADER = 16  # lines of a data set page before its first row


def parsed(file):
    return library.read(SHIPPED[file])


def source(file):
    return SHIPPED[file].path.read_text(encoding="utf-8")


def rule(file, number):
    (found,) = [rule for rule in parsed(file).rules if rule.number == number]
    return found


def examples(file):
    return [example for rule in parsed(file).rules for example in rule.examples]


@pytest.mark.parametrize(
    ("file", "first", "last", "rules", "with_examples"),
    [
        (COMBAT, "506.4b", "514.2", 100, 11),
        (ACTIONS, "615.1a", "701.19j", 100, 13),
        (KEYWORDS, "702.16g", "702.31c", 100, 13),
        (MARKDOWN, "702.1", "702.153b", 603, 23),
        (RULINGS, "702.1", "702.82b", 319, 15),
    ],
)
def test_a_shipped_document_is_read_whole(file, first, last, rules, with_examples):
    found = parsed(file)
    assert (found.rules[0].number, found.rules[-1].number) == (first, last)
    assert len(found.rules) == len({rule.number for rule in found.rules}) == rules
    assert len(examples(file)) == with_examples
    ends_open = "It ends with rule 702.153b; whether that is the last rule is not known."
    assert found.notices == ((ends_open,) if file == MARKDOWN else ())
    assert {rule.edition for rule in found.rules} == {SHIPPED[file].edition}
    assert {rule.document for rule in found.rules} == {file}


def test_the_combat_page_says_which_texts_its_source_cut_off():
    found = parsed(COMBAT).rules
    assert sum(rule.truncated for rule in found) == 38
    assert sum(any(e.truncated for e in rule.examples) for rule in found) == 4
    assert sum(bool(example.text) for example in examples(COMBAT)) == 10
    assert not any(rule.text.endswith("..") for rule in found)
    empty = rule(COMBAT, "510.1c").examples[1]
    assert (empty.text, empty.truncated) == ("", True)
    assert not rule(COMBAT, "510.1c").examples[0].truncated


@pytest.mark.parametrize("file", [ACTIONS, KEYWORDS, MARKDOWN, RULINGS])
def test_the_other_documents_are_cut_off_nowhere(file):
    assert not any(rule.truncated for rule in parsed(file).rules)
    assert not any(example.truncated for example in examples(file))
    assert all(example.text for example in examples(file))


def test_the_markdown_has_numbers_whose_bold_ends_inside():
    found = [numbers.parse(rule.number) for rule in parsed(MARKDOWN).rules]
    assert sum(not number.letters for number in found) == 153
    assert sum(bool(number.letters) for number in found) == 450
    assert rule(MARKDOWN, "702.100").text == "Evolve"
    assert rule(MARKDOWN, "702.100a").text.startswith("Evolve is a triggered ability.")
    assert rule(MARKDOWN, "702.124h").text
    assert rule(MARKDOWN, "702.124i").text
    assert parsed(MARKDOWN).sections == {"702": "Keyword Abilities"}


def test_a_second_paragraph_of_the_markdown_belongs_to_its_rule():
    old = "+ **702.2a** Deathtouch is a static ability.\n"
    data = changed(MARKDOWN, old, f"{old}\n      A second paragraph.\n")
    found = {r.number: r.text for r in parsers.parse(data, MARKDOWN, "2022-06-10").rules}
    assert found["702.2a"] == "Deathtouch is a static ability.\nA second paragraph."
    assert len(found) == 603


def test_the_rulings_page_gives_each_wording_its_day_and_no_stamp():
    found = parsed(RULINGS).rules
    headings = [rule for rule in found if rule.dated is None]
    assert (len(headings), len(found) - len(headings)) == (81, 238)
    assert all(rule.is_heading for rule in headings)
    assert {rule.dated for rule in found} == {None, "2009-07-08", "2009-10-01"}
    assert rule(RULINGS, "702.2c").dated == "2009-07-08"
    assert rule(RULINGS, "702.2d").dated == "2009-10-01"
    words = " ".join([r.text for r in found] + [e.text for e in examples(RULINGS)])
    assert "CompRules" not in words
    assert "<-" not in words
    assert "->" not in words
    assert '"Unearth [cost]" means "[Cost]: Return' in rule(RULINGS, "702.81a").text


def test_quotes_mana_symbols_and_dashes_survive():
    assert "“[keyword ability] cost,”" in rule(MARKDOWN, "702.1a").text
    assert "{2}{U}{R}" in rule(MARKDOWN, "702.1b").examples[1].text
    assert rule(MARKDOWN, "702.153a").text.endswith("in rules 601.2b and 601.2f–h.")
    assert "event occurs—they can’t “go back in time”" in rule(ACTIONS, "615.4").text
    for file in SHIPPED:
        had = re.findall(r"\{[^}\s]+\}|[“”‘’—–−]", source(file))
        words = "".join(r.text + "".join(e.text for e in r.examples) for r in parsed(file).rules)
        assert re.findall(r"\{[^}\s]+\}|[“”‘’—–−]", words) == had


def dataset_words(text):
    lines = text.split("\n")[HEADER:]
    for number, words, cell, _index in zip(*[iter(lines)] * 4, strict=True):
        cell = re.sub(r"^\[\s*|\s*\]$|\.\.\.$", "", cell)
        yield from [number, *re.sub(r"\.\.\.$", "", words).split()]
        yield from re.sub(r'"\s*,\s*"', " ", cell).replace('"', " ").split()


def markdown_words(text):
    for line in text.split("\n"):
        line = re.sub(r"^\s*(\+ |Example: )?", "", line.replace("**", ""))
        if not line.startswith("# "):
            yield from re.sub(r"^(\d{3}\.\d+[a-z]?)\. ", r"\1 ", line).split()


def rulings_words(text):
    for line in text.split("\n"):
        if re.match(r"\||This search based|General Rulings", line):
            continue
        line = re.sub(r"^(?:- )?(\d{3}\.\w+) - |^Example: ", r"\1 ", line)
        line = re.sub(r"\s*\[CompRules \d{4}/\d\d/\d\d\]$", "", line)
        yield from line.replace("<-", "[").replace("->", "]").split()


def words_of(rules):
    for each in rules:
        yield from " ".join([each.number, each.text, *(e.text for e in each.examples)]).split()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (COMBAT, dataset_words),
        (ACTIONS, dataset_words),
        (KEYWORDS, dataset_words),
        (MARKDOWN, markdown_words),
        (RULINGS, rulings_words),
    ],
)
def test_no_word_of_a_document_is_lost_or_doubled(file, words):
    expected = list(words(source(file)))
    assert len(expected) > 3000
    assert list(words_of(parsed(file).rules)) == expected


@pytest.mark.parametrize("file", SHIPPED)
def test_a_format_is_told_from_the_content_not_the_name(file):
    document = SHIPPED[file]
    data = document.path.read_bytes()
    for name in ("rules", "rules.md", "2009-10-01.txt", "page.html"):
        assert parsers.detect_format(parsers.decode(data, name), name) == document.format
        found = parsers.parse(data, name, document.edition)
        assert [replace(r, document=file) for r in found.rules] == list(parsed(file).rules)


@pytest.mark.parametrize("file", [COMBAT, ACTIONS, KEYWORDS, MARKDOWN])
def test_a_text_that_does_not_say_its_day_asks_for_it(file):
    with pytest.raises(SticklerError, match="does not say when its rules took effect") as refusal:
        parsers.parse(SHIPPED[file].path.read_bytes(), file)
    assert refusal.value.remedies == (Remedy(Action.NAME_EDITION),)


def test_the_rulings_page_is_of_the_day_of_its_newest_wording():
    assert parsers.parse(SHIPPED[RULINGS].path.read_bytes(), RULINGS).edition == "2009-10-01"


ENCODINGS = {
    "utf-8": (b"", "utf-8"),
    "utf-8-sig": (b"\xef\xbb\xbf", "utf-8"),
    "utf-16-le": (b"\xff\xfe", "utf-16-le"),
    "utf-16-be": (b"\xfe\xff", "utf-16-be"),
    "cp1252": (b"", "cp1252"),
}
LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}


def encoded(text, encoding, ends):
    mark, codec = ENCODINGS[encoding]
    return mark + text.replace("\n", LINE_ENDS[ends]).encode(codec)


@pytest.mark.parametrize("ends", LINE_ENDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_and_line_end_reads_alike(encoding, ends, small_release):
    found = parsers.parse(encoded(small_release(), encoding, ends), "rules.txt")
    texts = {rule.number: rule.text for rule in found.rules}
    assert list(texts) == [
        "100.1", "100.1a", "100.2", "101.1", "702.1", "702.2", "702.2a", "702.2b",
    ]  # fmt: skip
    assert texts["100.1"] == "These rules apply to any Magic® game with two or more players."
    assert texts["100.2"] == (
        "To play, each player needs a deck – “sixty cards” or more — and {W/B} or {2/U} mana.\n"
        "A second paragraph can’t be lost: it’s the player’s."
    )
    assert texts["101.1"].startswith("Whenever a card contradicts")
    assert texts["702.2b"].startswith("A creature dealt damage")
    assert [e.text for e in found.rules[2].examples] == [
        "Ana’s deck has 61 cards. She may play.",
        "Bo has 59 cards. He “can’t.”",
    ]
    assert [(g.term, len(g.senses), g.see) for g in found.glossary] == [
        ("Ability", 2, "See rule 702, “Keyword Abilities.”"),
        ("Deathtouch", 1, ""),
    ]
    assert found.sections == {
        "1": "Game Concepts", "100": "General", "101": "The Magic Golden Rules",
        "7": "Additional Rules", "702": "Keyword Abilities",
    }  # fmt: skip
    assert (found.edition, found.notices) == ("2024-03-08", ())


@pytest.mark.parametrize("ends", LINE_ENDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("file", [COMBAT, MARKDOWN, RULINGS])
def test_a_shipped_document_reads_alike_in_every_encoding(file, encoding, ends):
    edition, data = SHIPPED[file].edition, encoded(source(file), encoding, ends)
    expected = parsers.parse(source(file).encode(), file, edition)
    assert parsers.parse(data, file, edition) == expected


@pytest.mark.parametrize("ends", LINE_ENDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_whole_release_reads_alike_in_every_encoding(encoding, ends, releases):
    original = (releases / "2015-07-17.txt").read_bytes()
    text = original.decode("cp1252").replace("\r\n", "\n")
    expected = parsers.parse(original, "release")
    assert parsers.parse(encoded(text, encoding, ends), "release") == expected


# What a parser must refuse: each is one small change to a sound document.


def changed(file, old, new):
    text = source(file)
    assert old in text
    return text.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param(KEYWORDS, "[]\n1,900", '{"a": 1}\n1,900', id="examples are a table"),
        pytest.param(KEYWORDS, "[]\n1,900", '"abc"\n1,900', id="examples are one string"),
        pytest.param(KEYWORDS, "[]\n1,900", "[1, 2]\n1,900", id="examples are figures"),
        pytest.param(KEYWORDS, "[]\n1,900", "[" * 9999 + "\n1,900", id="examples nest deeply"),
        pytest.param(KEYWORDS, "[]\n1,901", "[]\n,", id="a row's index is a comma"),
        pytest.param(KEYWORDS, "[]\n1,901", "[]\n" + "1" * 5000, id="a row's index is endless"),
        pytest.param(KEYWORDS, "[]\n1,901", "[]\n1,902", id="a row's index is skipped"),
        pytest.param(KEYWORDS, "702.16h\n", "702.16g\n", id="a row's number comes twice"),
        pytest.param(MARKDOWN, "**702.2.**", "**702.1.**", id="a number of the text comes twice"),
        pytest.param(MARKDOWN, "**702.2.** ", "", id="a line has lost its number"),
        pytest.param(RULINGS, " [CompRules 2009/07/08]", "", id="a wording has lost its day"),
        pytest.param(RULINGS, "2009/07/08", "2009/13/45", id="a wording's day is none"),
        pytest.param(RULINGS, "702.2 - Death", "702.1 - Death", id="a ruling comes twice"),
    ],
)
def test_a_damaged_document_is_refused_in_one_sentence(file, old, new):
    with pytest.raises(SticklerError, match="damaged"):
        parsers.parse(changed(file, old, new), file, SHIPPED[file].edition)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("March 8", "March 32", id="the day is none"),
        pytest.param("702.2a Death", "702.12345 Death", id="a number has too many digits"),
        pytest.param("702.2a Death", "702.2c Death", id="a number stands too early"),
        pytest.param("\n101. The Magic Golden Rules\n\n101", "\n101", id="a heading is missing"),
        pytest.param("Contents\n", "\n", id="no contents"),
        pytest.param("\nCredits\n\nGame", "\nGame", id="no credits"),
    ],
)
def test_a_damaged_release_is_refused_in_one_sentence(old, new, small_release):
    text = small_release()
    assert old in text
    with pytest.raises(SticklerError, match="damaged"):
        parsers.parse(text.replace(old, new, 1).encode(), "rules.txt")


def test_a_release_is_not_taken_for_another_day(small_release):
    with pytest.raises(SticklerError, match="2024-03-08, not on 2023-01-01"):
        parsers.parse(small_release().encode(), "rules.txt", "2023-01-01")


def test_a_paragraph_that_begins_with_a_figure_is_not_lost_in_silence(small_release):
    text = small_release().replace("See rule 704.", "See rule 704.\n\n7. Then it is destroyed.")
    found = parsers.parse(text.encode(), "rules.txt")
    assert found.sections["7"] == "Additional Rules"
    assert "Then it is destroyed." in found.rules[-1].text

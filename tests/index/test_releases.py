import re

import pytest

from index import library, parsers
from index.errors import SticklerError

RELEASES = {  # the figures of shared/releases/README.md, and the day each text itself states
    "2009-10-01.txt": ("2009-10-01", 1599, 195, "ascii"),
    "2013-04-29.txt": ("2013-05-01", 1930, 223, "utf-16"),
    "2015-07-17.txt": ("2015-07-17", 2040, 226, "cp1252"),
    "2022-06-10.txt": ("2022-06-10", 2668, 266, "utf-8-sig"),
    "2024-03-08.txt": ("2024-03-08", 2941, 276, "utf-8-sig"),
    "2026-04-17.txt": ("2026-04-17", 3138, 277, "utf-8-sig"),
}
_KEPT = {}


def parsed(releases, file):
    if file not in _KEPT:
        _KEPT[file] = parsers.parse((releases / file).read_bytes(), file)
    return _KEPT[file]


def lines(releases, file):
    """The text's lines, stripped and without the early italics marks, by means of its own."""
    text = (releases / file).read_bytes().decode(RELEASES[file][3])
    if file < "2014":
        text = re.sub(r"_([^_\r\n]+)_", r"\1", text)
    return [line.strip() for line in re.split(r"\r\n|\r|\n", text)]


def between(lines, first, last):
    """From the second line `first` to the last line `last`: both stand in the contents too."""
    start = [at for at, line in enumerate(lines) if line == first][1]
    end = [at for at, line in enumerate(lines) if line == last][-1]
    return lines[start:end]


def rule(found, number):
    (one,) = [rule for rule in found.rules if rule.number == number]
    return one


@pytest.mark.parametrize("file", RELEASES)
def test_a_release_gives_its_rules_examples_and_day(file, releases):
    edition, rules, examples, _ = RELEASES[file]
    found = parsed(releases, file)
    assert (len(found.rules), sum(len(r.examples) for r in found.rules)) == (rules, examples)
    assert found.edition == edition
    assert {r.edition for r in found.rules} == {edition}
    assert not any(r.truncated for r in found.rules)
    assert (
        parsers.detect_format(parsers.decode((releases / file).read_bytes(), file), "x")
        == "official"
    )


@pytest.mark.parametrize("file", RELEASES)
def test_no_word_of_the_body_is_lost_or_doubled(file, releases):
    body = between(lines(releases, file), "1. Game Concepts", "Glossary")
    expected = []
    number = ""
    for line in filter(None, body):
        if re.match(r"(\d|\d{3})\. ", line):
            continue
        if match := re.match(r"(\d{3}\.\d+[a-z]*)(?:\.| )", line):
            line = (
                line[match.end() :] if match[1] == number else f"{match[1]} {line[match.end() :]}"
            )
            number = match[1]
        expected += line.removeprefix("Example:").split()
    words = []
    for each in parsed(releases, file).rules:
        words += " ".join([each.number, each.text, *(e.text for e in each.examples)]).split()
    assert len(words) > 70_000
    assert words == expected


@pytest.mark.parametrize("file", RELEASES)
def test_no_word_of_the_glossary_is_lost_or_doubled(file, releases):
    source = between(lines(releases, file), "Glossary", "Credits")[1:]
    expected = [word for line in source for word in re.sub(r"^\d+\. ", "", line).split()]
    entries = parsed(releases, file).glossary
    words = [word for e in entries for word in " ".join([e.term, *e.senses, e.see]).split()]
    assert len(words) > 10_000
    assert words == expected
    assert all(entry.term and all(entry.senses) for entry in entries)


@pytest.mark.parametrize("file", RELEASES)
def test_the_sections_are_those_of_the_contents(file, releases):
    all_lines = lines(releases, file)
    contents = all_lines[all_lines.index("Contents") : all_lines.index("Glossary")]
    expected = dict(m.groups() for line in contents if (m := re.match(r"(\d+)\. (.+)", line)))
    assert len(expected) > 120
    assert parsed(releases, file).sections == expected


@pytest.mark.parametrize("file", RELEASES)
def test_neither_contents_nor_credits_get_into_a_rule(file, releases):
    found = parsed(releases, file)
    texts = [t for r in found.rules for t in (r.text, *(e.text for e in r.examples))]
    texts += [sense for entry in found.glossary for sense in (*entry.senses, entry.see)]
    for stray in ("effective as of", "Published by", "Richard Garfield", "Credits", "Contents"):
        assert [text for text in texts if stray in text] == []


@pytest.mark.parametrize("file", RELEASES)
def test_only_2009_has_something_to_note(file, releases):
    notices = parsed(releases, file).notices
    if not file.startswith("2009"):
        assert notices == ()
        return
    assert any("702.30d" in notice and "twice" in notice for notice in notices)
    assert any("113.7c and 113.9" in notice for notice in notices)
    both = rule(parsed(releases, file), "702.30d").text
    assert both.startswith("Objects with more than one kicker cost")
    assert "\nIf part of a spell's ability" in both


def test_numbers_with_a_missing_or_extra_full_stop_or_no_space_are_read(releases):
    assert rule(parsed(releases, "2022-06-10.txt"), "606.5").text.startswith("If the total cost")
    found = parsed(releases, "2024-03-08.txt")
    assert rule(found, "119.1d").text.startswith("In a two-player Brawl game")
    assert rule(found, "901.4").text.startswith("All plane and phenomenon cards")


@pytest.mark.parametrize("file", list(RELEASES)[1:])
def test_a_rule_of_two_paragraphs_is_kept_together(file, releases):
    one, two = rule(parsed(releases, file), "205.4c").text.split("\n")
    assert re.match('Any land with the supertype [“"]basic[”"]', one)
    assert two.startswith("Cards printed in sets prior to the Eighth Edition")


def test_a_glossary_entry_keeps_its_senses_apart(releases):
    entries = {entry.term: entry for entry in parsed(releases, "2024-03-08.txt").glossary}
    assert entries["Ability"].senses == (
        "Text on an object that explains what that object does or can do.",
        "An activated or triggered ability on the stack. This kind of ability is an object.",
    )
    assert entries["Ability"].see.startswith("See rule 113, “Abilities,”")
    assert entries["Ability"].text.split("\n")[1].startswith("2. An activated")
    assert entries["Absorb"].text.startswith("A keyword ability that prevents damage. See rule")


@pytest.mark.parametrize("document", [d for d in library.documents() if d.edition > "2020"])
def test_a_shipped_document_says_what_its_release_says(document, releases):
    """Of 509.1b the data set itself lacks the second paragraph."""
    whole = {r.number: r for r in parsed(releases, f"{document.edition}.txt").rules}
    for ours in library.read(document).rules:
        theirs = whole[ours.number]
        text = theirs.text.split("\n")[0] if ours.number == "509.1b" else theirs.text
        assert text.startswith(ours.text) if ours.truncated else text == ours.text
        cut = any(example.truncated for example in ours.examples)
        pairs = list(zip(ours.examples, theirs.examples, strict=not cut))
        for mine, full in pairs:
            same = full.text.startswith(mine.text) if mine.truncated else full.text == mine.text
            assert same, ours.number


@pytest.mark.parametrize("file", RELEASES)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.97])
def test_a_release_that_was_cut_off_is_refused(file, share, releases):
    data = (releases / file).read_bytes()
    with pytest.raises(SticklerError):
        parsers.parse(data[: int(len(data) * share)], file)

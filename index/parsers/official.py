"""The publisher's plain text of a whole release, of any year from 2009 on.

It opens with the day it takes effect and a list of contents, then come the rules, the glossary
and the credits. Numbers may lack their full stop, have an extra one, or have no space after it.
"""

import re

from index import numbers
from index.parsers.validation import check_order, damaged, iso_date
from index.rulebook import Example, GlossaryEntry, ParsedDocument, Rule

_TITLE = re.compile(r"_?Magic: The Gathering_? Comprehensive Rules|.{0,80}Comprehensive Rules")
_EFFECTIVE = re.compile(r"effective as of (\w+) (\d{1,2}), (\d{4})")
_SECTION = re.compile(r"(\d|\d{3})\. (\S.*)")
_RULE = re.compile(rf"({numbers.RULE})(?:\.\s*|\s+)(\S.*)", re.ASCII)
_LIKE_A_RULE = re.compile(r"\d{3}\.\d", re.ASCII)
_SENSE = re.compile(r"\d+\. (.+)")
_ITALICS = re.compile(r"_(?=\S)([^_\n]+?)(?<=\S)_")


def recognises(text: str) -> bool:
    opening = text[:3000].lstrip("\ufeff \n")
    return _TITLE.match(opening) is not None and _EFFECTIVE.search(opening) is not None


def parse(text: str, document: str, edition: str | None) -> ParsedDocument:
    effective = _EFFECTIVE.search(text[:3000])
    if effective is None:
        raise damaged(document, "the day the rules take effect is missing")
    month, day, year = effective.groups()
    stated = iso_date(year, month, day, document)
    if edition not in (None, stated):
        raise damaged(document, f"it took effect on {stated}, not on {edition}")
    if text.lstrip().startswith("_"):
        text = _ITALICS.sub(r"\1", text)
    lines = [line.strip() for line in text.split("\n")]
    promised, body, glossary = _divide(lines, document)
    sections, rules, notices = _body(body, promised, stated, document)
    missing = [number for number in promised if number not in sections]
    if missing:
        raise damaged(document, f"the contents list section {missing[0]}, but it is not there")
    return ParsedDocument(
        document, stated, rules, sections, _glossary(glossary, stated), notices=tuple(notices)
    )


def _divide(lines: list[str], document: str) -> tuple[dict[str, str], list[str], list[str]]:
    """Contents, body and glossary; their titles occur in the table of contents too."""

    def places(word: str) -> list[int]:
        return [at for at, line in enumerate(lines) if line == word]

    contents, glossary, closing = places("Contents"), places("Glossary"), places("Credits")
    if not contents or len(glossary) < 2 or len(closing) < 2 or closing[-1] < glossary[-1]:
        raise damaged(document, "the contents, the glossary or the credits are missing")
    promised: dict[str, str] = {}
    for line in lines[contents[0] : glossary[0]]:
        if match := _SECTION.fullmatch(line):
            promised[match[1]] = match[2]
    first = next(iter(promised), None)
    openings = places(f"{first}. {promised[first]}") if first else []
    if len(openings) < 2:
        raise damaged(document, "the first section that the contents list is missing")
    return promised, lines[openings[1] : glossary[-1]], lines[glossary[-1] + 1 : closing[-1]]


def _body(
    lines: list[str], promised: dict[str, str], edition: str, document: str
) -> tuple[dict[str, str], tuple[Rule, ...], list[str]]:
    sections: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    examples: dict[str, list[Example]] = {}
    notices: list[str] = []
    number = ""
    for line in filter(None, lines):
        if match := _RULE.fullmatch(line):
            if match[1] == number:
                notices.append(f"Rule {number} occurs twice; both texts are kept as one.")
            elif match[1] in found:
                raise damaged(document, f"rule {match[1]} comes after rule {number}")
            number = match[1]
            found.setdefault(number, []).append(match[2])
        elif (match := _SECTION.fullmatch(line)) and promised.get(match[1]) == match[2]:
            sections[match[1]] = match[2]
            number = ""
        elif not number or _LIKE_A_RULE.match(line):
            raise damaged(document, f"it has a line that is not a rule, '{line[:40]}'")
        elif match := re.fullmatch(r"Example: ?(.+)", line):
            examples.setdefault(number, []).append(Example(match[1]))
        else:
            found[number].append(line)
    notices += check_order(found, document)
    rules = tuple(
        Rule(n, "\n".join(texts), edition, document, examples=tuple(examples.get(n, ())))
        for n, texts in found.items()
    )
    strays = [number for number in found if number[:3] not in sections]
    if strays:
        raise damaged(document, f"rule {strays[0]} is outside its section")
    return sections, rules, notices


def _glossary(lines: list[str], edition: str) -> tuple[GlossaryEntry, ...]:
    entries: list[GlossaryEntry] = []
    for block in "\n".join(lines).split("\n\n"):
        term, *body = [line for line in block.split("\n") if line] or [""]
        if not body:
            continue
        senses = [match[1] for line in body if (match := _SENSE.fullmatch(line))]
        rest = [line for line in body if not _SENSE.fullmatch(line)]
        if senses:
            entries.append(GlossaryEntry(term, tuple(senses), " ".join(rest), edition))
        else:
            entries.append(GlossaryEntry(term, (" ".join(body),), "", edition))
    return tuple(entries)

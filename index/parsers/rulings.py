"""A page of 'General Rulings' from 2009: '- 702.2a - words [CompRules 2009/07/08]'.

Each wording has the date it is from; '<-cost->' stands for '[cost]'.
"""

import re

from index import numbers
from index.parsers.validation import check_order, damaged, iso_date
from index.rulebook import Coverage, Example, ParsedDocument, Rule

_SECTION = re.compile(r"General Rulings - (\d{3})\1 - (.+)")
_HEADING = re.compile(r"(\d{3}\.\d+) - (\S.*)")
_RULE = re.compile(r"- (\d{3}\.\d+[a-z]{0,2}) - (\S.*)")
_STAMP = re.compile(r" ?\[CompRules (\d{4})/(\d\d)/(\d\d)\]$")
_FRAME = re.compile(r"\||This search based on the .+ release of the Rulings\.")


def recognises(text: str) -> bool:
    return _SECTION.search(text[:1000]) is not None and "[CompRules " in text


def parse(text: str, document: str, edition: str | None) -> ParsedDocument:
    sections: dict[str, str] = {}
    found: dict[str, tuple[str, str | None]] = {}
    examples: dict[str, list[Example]] = {}
    number, frames = "", 0
    for line in filter(str.strip, text.split("\n")):
        if match := _SECTION.fullmatch(line):
            sections[match[1]] = match[2]
        elif match := _RULE.fullmatch(line):
            number = match[1]
            _once(number, found, document)
            found[number] = _dated(match[2], number, document)
        elif line.startswith("Example: ") and number:
            example, _ = _dated(line.removeprefix("Example: "), number, document)
            examples.setdefault(number, []).append(Example(example))
        elif match := _HEADING.fullmatch(line):
            number = match[1]
            _once(number, found, document)
            found[number] = (match[2], None)
        elif _FRAME.fullmatch(line):
            frames += line.startswith("This search")
        else:
            raise damaged(document, f"it has a line that is not a rule, '{line[:40]}'")
    if frames < 2:
        raise damaged(document, "the line that closes the page is missing")
    notices = check_order(found, document)
    newest = max((dated for _, dated in found.values() if dated), default="")
    rules = tuple(
        Rule(
            n,
            words,
            edition or newest,
            document,
            examples=tuple(examples.get(n, ())),
            dated=dated,
        )
        for n, (words, dated) in found.items()
    )
    coverage = tuple(Coverage.of_section(section) for section in sections)
    return ParsedDocument(
        document, edition or newest, rules, sections, (), coverage, tuple(notices)
    )


def _once(number: str, found: dict[str, tuple[str, str | None]], document: str) -> None:
    if number in found or not numbers.is_number(number):
        raise damaged(document, f"'{number[:20]}' is not a number, or occurs twice")


def _dated(words: str, number: str, document: str) -> tuple[str, str]:
    """The words without their stamp, and the stamp's day."""
    stamp = _STAMP.search(words)
    if stamp is None:
        raise damaged(document, f"a wording of rule {number} has no date")
    plain = re.sub(r"<-([^<>]*)->", r"[\1]", words[: stamp.start()])
    year, month, day = stamp.groups()
    return plain, iso_date(year, month, day, document)

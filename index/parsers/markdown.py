"""A section of the rules as Markdown: bold numbers, '+' before subrules, indented examples.

The bold may end inside a number: '**702.10**0a' is 702.100a.
"""

import re

from index import numbers
from index.parsers.validation import check_order, damaged, undated
from index.rulebook import Coverage, Example, ParsedDocument, Rule

_SECTION = re.compile(r"#+ \**(\d{3})\.\** (.+)")
_RULE = re.compile(r"(?:\+ )?\**(\d{3}\.[\d*]{1,8}[a-z]{0,2})\.?\**\s+(\S.*)")
_EXAMPLE = re.compile(r"\s+Example: (.+)")


def recognises(text: str) -> bool:
    return re.match(r"\s*#+ \**\d{3}\.", text) is not None


def parse(text: str, document: str, edition: str | None) -> ParsedDocument:
    if edition is None:
        raise undated(document)
    sections: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    examples: dict[str, list[Example]] = {}
    number = ""
    for line in text.split("\n"):
        if not line.strip():
            continue
        if match := _SECTION.fullmatch(line.strip()):
            sections[match[1]] = match[2]
        elif match := _RULE.fullmatch(line.rstrip()):
            number = match[1].replace("*", "")
            if number in found or not numbers.is_number(number):
                raise damaged(document, f"'{number}' is not a number, or occurs twice")
            found[number] = [match[2]]
        elif match := _EXAMPLE.fullmatch(line.rstrip()):
            if not number:
                raise damaged(document, "an example comes before the first rule")
            examples.setdefault(number, []).append(Example(match[1]))
        elif number and line.startswith(" "):
            found[number].append(line.strip())
        else:
            raise damaged(document, f"it has a line that is not a rule, '{line[:40]}'")
    notices = check_order(found, document)
    rules = tuple(
        Rule(n, "\n".join(texts), edition, document, examples=tuple(examples.get(n, ())))
        for n, texts in found.items()
    )
    if rules:
        if not text.endswith("\n"):
            raise damaged(document, f"it breaks off in rule {number}")
        notices.append(f"It ends with rule {number}; whether that is the last rule is not known.")
    coverage = tuple(Coverage.of_section(section) for section in sections)
    return ParsedDocument(document, edition, rules, sections, (), coverage, tuple(notices))

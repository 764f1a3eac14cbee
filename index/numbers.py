"""Rule numbers: parse, sort, expand ranges, find references in a text.

A number is a section (702), a rule (702.19) or a subrule (702.19b). Letters skip l and o and
continue after z with aa.
"""

import functools
import re
from typing import NamedTuple

LETTERS = "abcdefghijkmnpqrstuvwxyz"
DASH = r"[-\u2010-\u2015\u2212]"
SECTION = r"[1-9]\d\d"
RULE = rf"{SECTION}\.\d{{1,4}}[a-z]{{0,2}}"  # never a bare section

_PLAIN = re.ASCII | re.IGNORECASE
_NUMBER = re.compile(rf"({SECTION})(?:\.(\d{{1,4}})([a-z]{{0,2}}))?", re.ASCII)
_TAIL = (  # a bare letter only directly after a dash: '702.19b to a creature' is not a range
    rf"(?:(?:{DASH}(?P<short>\d{{1,4}}[a-z]{{0,2}}|[a-z]{{1,2}})"
    rf"|\s*(?:{DASH}|\bthrough\b|\bto\b)\s*(?:rules?\s+)?(?P<full>{RULE}))(?!\.?\w))?"
)
_RANGE = re.compile(rf"(?P<start>{RULE})(?!\w){_TAIL}", _PLAIN)
_WHOLE_QUERY = re.compile(
    rf"(?:rules?\s+|cr\s*)?(?P<start>{RULE}|{SECTION})\.?{_TAIL}[\s?.!]*", _PLAIN
)
_SECTIONS = re.compile(
    rf"\b(?:rules?|sections?)\s+(?P<list>{SECTION}(?!\w|\.\d)"
    rf"(?:(?:,|,?\s+(?:and|or))\s+(?:rules?\s+)?{SECTION}(?!\w|\.\d))*)",
    _PLAIN,
)
_MOST_IN_A_RANGE = 200


class Number(NamedTuple):
    """The parts of a number; tuples compare in the order of the rulebook."""

    section: int
    rule: int  # 0 for a bare section
    width: int  # 'aa' comes after 'z'
    letters: str

    def __str__(self) -> str:
        return f"{self.section}.{self.rule}{self.letters}" if self.rule else str(self.section)


@functools.lru_cache(maxsize=1 << 17)
def parse(number: str) -> Number:
    """'702.19b' -> its parts; ValueError for anything that is not a rule number."""
    match = _NUMBER.fullmatch(number)
    if match is None:
        raise ValueError(f"'{number}' is not a rule number.")
    section, rule, letters = match.groups()
    return Number(int(section), int(rule or 0), len(letters or ""), letters or "")


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def parent(number: str) -> str | None:
    """702.19b -> 702.19 -> 702 -> None."""
    parts = parse(number)
    if parts.letters:
        return f"{parts.section}.{parts.rule}"
    return str(parts.section) if parts.rule else None


@functools.lru_cache(maxsize=1 << 17)
def group(number: str) -> str:
    """The rule a subrule belongs to: 702.19 for 702.19b; a non-number is returned as is."""
    return number.rstrip("abcdefghijklmnopqrstuvwxyz") if is_number(number) else number


def follows(number: str, previous: str) -> bool:
    """True if `number` can directly follow `previous`, with nothing missing in between."""
    here, before = parse(number), parse(previous)
    if here.section != before.section:
        return here.section > before.section and here.rule == 1 and not here.letters
    if here.rule != before.rule:
        return here.rule == before.rule + 1 and not here.letters
    return here.letters == _next_letters(before.letters)


def _next_letters(letters: str) -> str:
    if not letters:
        return "a"
    if letters[-1] == "z":
        return _next_letters(letters[:-1]) + "a"
    return letters[:-1] + min(letter for letter in LETTERS if letter > letters[-1])


def expand(start: str, end: str | None) -> list[str]:
    """The numbers of a range: ('510.1c', 'd') -> 510.1c and 510.1d; only its ends if too long."""
    if end is None:
        return [start]
    first = parse(start)
    last = _range_end(first, end)
    if last is None:
        return [start]
    if not first < last:
        return [start]
    if first.letters and last.letters and (first.section, first.rule) == (last.section, last.rule):
        numbers, letters = [start], first.letters
        while letters != last.letters and len(numbers) < _MOST_IN_A_RANGE:
            letters = _next_letters(letters)
            numbers.append(f"{first.section}.{first.rule}{letters}")
        return numbers if letters == last.letters else [start, str(last)]
    if not (first.rule or last.rule) and last.section - first.section < _MOST_IN_A_RANGE:
        return [str(section) for section in range(first.section, last.section + 1)]
    same_section = first.section == last.section
    plain = first.rule and last.rule and not (first.letters or last.letters)
    if same_section and plain and last.rule - first.rule < _MOST_IN_A_RANGE:
        return [f"{first.section}.{rule}" for rule in range(first.rule, last.rule + 1)]
    return [start, str(last)]


def _range_end(first: Number, end: str) -> Number | None:
    end = end.lower()
    if end.isalpha():
        return parse(f"{first.section}.{first.rule}{end}") if first.letters else None
    if "." in end:
        return parse(end)
    digits = end.rstrip("abcdefghijklmnopqrstuvwxyz")
    if first.rule == 0:
        return parse(end) if _NUMBER.fullmatch(end) else None
    return parse(f"{first.section}.{int(digits)}{end[len(digits) :]}")


def references(text: str) -> tuple[str, ...]:
    """The rule numbers that a text names, in order, each once, with ranges expanded."""
    found: list[tuple[int, list[str]]] = []
    for match in _RANGE.finditer(text):
        if match.start() and (text[match.start() - 1].isalnum() or text[match.start() - 1] == "."):
            continue
        found.append(
            (match.start(), expand(match["start"].lower(), match["short"] or match["full"]))
        )
    for match in _SECTIONS.finditer(text):
        found.append((match.start(), re.findall(r"\d{3}", match["list"])))
    return tuple(dict.fromkeys(n for _, numbers in sorted(found) for n in numbers))


def asked(query: str) -> list[str]:
    """The numbers in a query that is just a number or a range ('510.1c-d'); otherwise none."""
    match = _WHOLE_QUERY.fullmatch(query.strip())
    if match is None:
        return []
    return expand(match["start"].lower(), match["short"] or match["full"])

"""A page of the rules as shown by a data set viewer: four lines per row, in string order.

A row is number, text, list of examples, row index. The viewer truncates long cells with '...'.
"""

import json
import re

from index import numbers
from index.parsers.validation import damaged, undated
from index.rulebook import Coverage, Example, ParsedDocument, Rule

_HEADER = re.compile(
    r"number\nstringlengths\n\d+\n\d+\ntext\nstringlengths\n\S+\n\S+\n"
    r"examples\nlistlengths\n\d+\n\d+\n__index_level_0__\nint64\n\S+\n\S+\n"
)
_ROW = re.compile(r"\d{1,3}(?:,\d{3}){0,2}", re.ASCII)
_ROWS_A_PAGE = 100
_ELLIPSIS = "..."


def recognises(text: str) -> bool:
    return text.lstrip().startswith("number\nstringlengths\n")


def parse(text: str, document: str, edition: str | None) -> ParsedDocument:
    if edition is None:
        raise undated(document)
    header = _HEADER.match(text.lstrip())
    if header is None:
        raise damaged(document, "the header of the page is incomplete")
    lines = text.lstrip()[header.end() :].rstrip("\n").split("\n")
    if len(lines) % 4:
        raise damaged(document, "its last row is incomplete")
    rules, rows = [], []
    for at in range(0, len(lines), 4):
        number, words, examples, row = lines[at : at + 4]
        if not numbers.is_number(number) or not _ROW.fullmatch(row) or not words:
            raise damaged(document, f"'{number[:40]}' is where the row of a rule should begin")
        rows.append(int(row.replace(",", "")))
        rules.append(
            Rule(
                number=number,
                text=_uncut(words),
                edition=edition,
                document=document,
                examples=_examples(examples, number, document),
                truncated=words.endswith(_ELLIPSIS),
            )
        )
    found = [rule.number for rule in rules]
    if rows != list(range(rows[0], rows[0] + len(rows))) or found != sorted(set(found)):
        raise damaged(document, "its rows are not in the order of the data set")
    notices = []
    if len(rows) < _ROWS_A_PAGE:
        notices.append(f"The page holds {len(rows)} of {_ROWS_A_PAGE} rows.")
    covered = Coverage(found[0], found[-1])
    return ParsedDocument(document, edition, tuple(rules), {}, (), (covered,), tuple(notices))


def _uncut(words: str) -> str:
    return words.removesuffix(_ELLIPSIS).rstrip() if words.endswith(_ELLIPSIS) else words


def _examples(cell: str, number: str, document: str) -> tuple[Example, ...]:
    if not cell.endswith(_ELLIPSIS):
        try:
            texts = json.loads(cell)
        except (ValueError, RecursionError):
            texts = None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise damaged(document, f"the examples of rule {number} are not a list of texts")
        return tuple(Example(text) for text in texts)
    whole = cell.removeprefix("[").removesuffix(_ELLIPSIS).strip().removeprefix('"')
    *before, last = whole.split('", "')
    return (*(Example(text) for text in before), Example(last.rstrip('"'), truncated=True))

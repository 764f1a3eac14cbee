"""Finds the column with the questions and turns records into rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from qa.batch.tables import Record, Row

QUESTION = ("question", "questions", "prompt", "query", "text", "input", "message", "q")
_SHOWN = 20  # columns that a sentence names


class Finder:
    """Turns records into rows; the first record with a question determines its column."""

    def __init__(self, wanted: str | None = None) -> None:
        self.wanted = wanted
        self.column: str | None = None
        self.seen: list[str] = []  # the columns of the first record, for a sentence
        self._made = 0

    def row(self, record: Record) -> Row | None:
        """The row of a record; None where it is empty."""
        cells = record.cells
        if record.error is None and not any(_filled(value) for value in cells.values()):
            return None
        self._made += 1
        self.seen = self.seen or list(cells)
        column = self._column(cells)
        id_column = next((name for name in cells if name.casefold() == "id"), None)
        own = cells.get(id_column) if id_column else None
        question = cells.get(column) if column else None
        error = record.error or (None if column else self._missing(record))
        if error is None and not isinstance(question, str | int | float | None):
            error = f"The question at {record.place} is not text: write it as a string."
        return Row(
            id=_written(own) if _filled(own) else f"q{self._made}",
            question=_written(question).strip(),
            carried={n: v for n, v in cells.items() if n not in (column, id_column)},
            error=error,
        )

    def _column(self, cells: dict[str, Any]) -> str | None:
        if self.column in cells:
            return self.column
        found = known(cells, self.wanted)
        if found is None and self.wanted is None and self.column is None:
            others = [name for name in cells if name.casefold() != "id"]
            found = others[0] if len(others) == 1 else None
        self.column = self.column or found
        return found

    def _missing(self, record: Record) -> str:
        what = f"column '{self.wanted}'" if self.wanted else "question"
        return f"There is no {what} at {record.place}, only {listed(record.cells)}."


def known(columns: Iterable[str], wanted: str | None = None) -> str | None:
    """The named column, or one whose name suggests that it contains questions."""
    by_name = {name.strip().casefold(): name for name in reversed(list(columns))}
    for name in [wanted.strip().casefold()] if wanted else QUESTION:
        if name in by_name:
            return by_name[name]
    return None


def headerless(first: Sequence[Any], wanted: str | None) -> bool:
    """True if the first row is itself a question: a plain list that was saved as a table."""
    if wanted or len(first) != 1 or known([str(first[0])]):
        return False
    text = str(first[0]).strip()
    return text.endswith("?") or len(text.split()) > 2  # a column's name is a word or two


def listed(columns: Iterable[str]) -> str:
    """Columns as a sentence names them."""
    found = list(columns)
    shown = ", ".join(f"'{name[:40]}'" for name in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"the columns {shown}{more}" if found else "no columns"


def clashing(carried: Sequence[str], own: Iterable[str]) -> dict[str, str]:
    """The output names of carried columns: 'text' becomes 'input_text' if we have such a field."""
    taken = set(own)
    written = {}
    for name in carried:
        new = name
        while new in taken:
            new = f"input_{new}"
        taken.add(new)
        written[name] = new
    return written


def _filled(value: Any) -> bool:
    return value is not None and (not isinstance(value, str) or bool(value.strip()))


def _written(value: Any) -> str:
    """A cell as text; a spreadsheet's 702.0 is 702."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)

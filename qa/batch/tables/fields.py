"""What is written for a result: the whole answer, or selected fields.

JSON has the answer as `stickler ask --json` prints it, with the row's own id, and the other input
columns under `input`; a row that failed has id, question, `error` and `input`. A table has the
fields of DEFAULT followed by those columns; 'text' becomes 'input_text' if a name is taken.
"""

import base64
import datetime
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from index.errors import Action, Remedy, SticklerError
from qa.answer import VERSION
from qa.batch.tables import Row
from qa.batch.tables.columns import clashing

DEFAULT = (
    *(
        "id",
        "question",
        "verdict",
        "verdict_confidence",
        "text",
        "generated",
        "generated_confidence",
        "unsure",
        "abstained",
        "reason",
        "confidence",
        "citations",
    ),
    *("edition", "model", "error"),
)
# Every field of an answer, with its type in a typed table.
OWN = {
    "version": "int",
    "id": "text",
    "question": "text",
    "standalone_question": "text",
    "verdict": "text",
    "verdict_confidence": "float",
    "yes_probability": "float",
    "text": "text",
    "generated": "text",
    "generated_confidence": "float",
    "unsure": "bool",
    "raw": "text",
    "mean_logprob": "float",
    "unsupported": "int",
    "abstained": "bool",
    "reason": "text",
    "confidence": "float",
    "open_condition": "text",
    "similar_questions": "text",
    "citations": "text",
    "hits": "text",
    "edition": "text",
    "model": "text",
    "settings": "text",
    "timings": "text",
    "error": "text",
}


class Result(NamedTuple):
    """A row, and the answer's JSON or why there is none."""

    row: Row
    answer: dict[str, Any] | None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A line of JSON: the answer with this row's id, and what else the row held as `input`."""
        row = self.row
        told = self.answer or {"version": VERSION, "error": self.error}
        carried = {"input": {n: plain(v) for n, v in row.carried.items()}} if row.carried else {}
        first = {"version": told["version"], "id": row.id, "question": row.question}
        return {**first, **{k: v for k, v in told.items() if k not in first}, **carried}


class Column(NamedTuple):
    name: str  # as it is written
    key: str  # as the answer or the input calls it
    carried: bool = False


def columns(wanted: str | None, carried: Sequence[str], every: bool) -> list[Column] | None:
    """The columns to write; None means whole answers, if none are selected and not `every`."""
    own = {name: Column(name, name) for name in OWN}
    renamed = clashing(carried, own)
    others = {new: Column(new, old, carried=True) for old, new in renamed.items()}
    if wanted is None:
        return [*(own[name] for name in DEFAULT), *others.values()] if every else None
    found: dict[str, Column] = {}
    for name in [part.strip() for part in wanted.split(",") if part.strip()]:
        if name == "input":
            found.update(others)
        elif column := own.get(name) or others.get(name):
            found[name] = column
        else:
            known = ", ".join([*own, "input", *list(others)[:20]])
            raise SticklerError(f"There is no field '{name}': choose from {known}.")
    if not found:
        raise SticklerError("No fields were selected", Remedy(Action.CHOOSE_FIELDS))
    return list(found.values())


def value(result: Result, column: Column) -> Any:
    """What a result has in a column, as it is."""
    if column.carried:
        return result.row.carried.get(column.key)
    if column.key in ("id", "question"):
        return getattr(result.row, column.key)
    if column.key == "error":
        return result.error
    return (result.answer or {}).get(column.key)


def flat(result: Result, column: Column) -> Any:
    """The same for a table: rules by their numbers, anything nested as JSON."""
    found = value(result, column)
    if not column.carried and column.key in ("citations", "hits") and found is not None:
        # Numbers that a model named by itself have no quote, and are not cited.
        return "; ".join(each["number"] for each in found if each.get("quote", True))
    return line(found) if isinstance(found, dict | list) else found


def plain(found: Any) -> Any:
    """A cell as JSON has it."""
    if isinstance(found, dict):
        return {str(key): plain(each) for key, each in found.items()}
    if isinstance(found, list | tuple):
        return [plain(each) for each in found]
    if isinstance(found, float):
        return found if math.isfinite(found) else None
    if isinstance(found, bytes):
        return base64.b64encode(found).decode()
    if isinstance(found, datetime.datetime | datetime.date | datetime.time):
        return found.isoformat()
    return found if isinstance(found, str | int | None) else str(found)


def line(found: Any) -> str:
    """JSON on one line; a lone surrogate, which UTF-8 cannot encode, stays escaped."""
    try:
        text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):  # a date, a NaN: rare enough to be looked for only then
        found = plain(found)
        text = json.dumps(found, ensure_ascii=False)
    return text if _encodable(text) else json.dumps(found)


def written(found: Any) -> str:
    """A cell of a table as text."""
    if found is None:
        return ""
    if isinstance(found, bool):
        return "true" if found else "false"
    text = plain(found)
    text = line(text) if isinstance(text, dict | list) else str("" if text is None else text)
    return text if _encodable(text) else text.encode(errors="replace").decode()


# Kinds that one column can hold together, and the kind that it then is.
_JOINED = (
    ({"bool"}, "bool"),
    ({"int", "long"}, "int"),
    ({"int", "float"}, "float"),
)


def kinds(chosen: Iterable[Column], carried: dict[str, set[str]]) -> dict[str, str]:
    """The type of each column in a typed table; text if its values have different types."""
    found = {}
    for column in chosen:
        those = carried.get(column.key, set()) if column.carried else {OWN[column.key]}
        found[column.name] = next((to for some, to in _JOINED if those and those <= some), "text")
    return found


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Tables of questions in, tables of answers out: what a row is, and which format a file has.

Every format is read record by record and never whole. A record that cannot be read is a row too:
it carries the sentence that says why.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from index.errors import Action, Remedy, SticklerError

LONGEST = 1 << 24  # characters of a line or a JSON value; what is longer is not kept whole
MOST_COLUMNS = 16_384  # as many as a spreadsheet has

INPUTS = {
    ".txt": "text",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}
OUTPUTS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".md": "markdown",
    ".xlsx": "xlsx",
}


class Record(NamedTuple):
    """What a reader found: cells by column, and where; without cells or error, an empty line."""

    place: str
    cells: dict[str, Any]
    error: str | None = None


class Row(NamedTuple):
    """One question of the input and all that came with it."""

    id: str
    question: str
    carried: dict[str, Any]  # the other columns
    error: str | None = None  # why it cannot be asked


Reader = Callable[[Path, str | None], Iterator[Record]]  # a file, the column that was named


def reader(format: str) -> Reader:
    """The reader of a format; its dependencies are imported on demand."""
    from qa.batch.tables import columnar, delimited, objects

    readers: dict[str, Reader] = {
        "text": delimited.text,
        "csv": delimited.csv_rows,
        "tsv": delimited.tsv_rows,
        "jsonl": objects.json_lines,
        "json": objects.json_array,
        "parquet": columnar.parquet,
        "xlsx": columnar.excel,
    }
    return readers[format]


def input_format(name: str, chosen: str | None) -> str | None:
    """The chosen format, or the one implied by the file name; None for standard input."""
    if chosen is not None:
        if chosen not in INPUTS.values():
            known = ", ".join(dict.fromkeys(INPUTS.values()))
            raise SticklerError(f"There is no format '{chosen}': choose one of {known}.")
        return chosen
    if name == "-":
        return None
    ending = Path(name).suffix.lower()
    if ending not in INPUTS:
        raise SticklerError(
            f"Questions cannot be read from {name} (its ending is not a known format)",
            f"rename it to end in {_either(INPUTS)}",
            Remedy(Action.CHOOSE_FORMAT),
        )
    return INPUTS[ending]


def output_format(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in OUTPUTS:
        raise SticklerError(
            f"Answers cannot be written to {path}: choose a name that ends in {_either(OUTPUTS)}."
        )
    return OUTPUTS[ending]


def names(header: list[Any], source: Path) -> list[str]:
    """A header's column names, made non-empty and unique."""
    if len(header) > MOST_COLUMNS:
        raise SticklerError(
            f"{source} has {len(header)} columns, more than the {MOST_COLUMNS} of a spreadsheet: "
            "remove those that are not needed."
        )
    found: dict[str, None] = {}
    for place, cell in enumerate(header, 1):
        wanted = name = str(cell if cell is not None else "").strip() or f"column_{place}"
        again = 2
        while name in found:
            name, again = f"{wanted}_{again}", again + 1
        found[name] = None
    return list(found)


def unreadable(path: Path, what: str, why: object) -> SticklerError:
    return SticklerError(
        f"{path} cannot be read as {what} ({str(why).strip() or type(why).__name__})",
        "check the file",
        Remedy(Action.CHOOSE_FORMAT),
    )


def _either(endings: dict[str, str]) -> str:
    *first, last = endings
    return f"{', '.join(first)} or {last}"

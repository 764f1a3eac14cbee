"""Answers as JSON lines, JSON, CSV, TSV, Parquet, Excel and Markdown, row by row to a file."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index.errors import Action, Remedy, SticklerError
from qa import compose
from qa.batch.tables import MOST_COLUMNS
from qa.batch.tables.fields import Column, Result, flat, kinds, line, plain, value, written
from qa.markdown import escape

_GROUP = 4_000  # rows of a Parquet row group
_GROUP_CHARACTERS = 1 << 24
CELL = 32_767  # characters that a cell of a spreadsheet holds, in units of UTF-16
CUT = " … [cut off: too long for a spreadsheet cell]"  # the end of a cell that was longer
_SHEET = 1_048_576  # rows of a spreadsheet, its header among them
_FORMULA = tuple("=+-@\t\r\n")  # what a spreadsheet may take for a formula
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML


@dataclass(frozen=True)
class Layout:
    """Which columns, and what is known of those that are carried."""

    columns: list[Column] | None  # None: whole answers
    kinds: dict[str, set[str]] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)  # Arrow's, where the input was Parquet

    @property
    def chosen(self) -> list[Column]:
        assert self.columns is not None
        return self.columns


Results = Iterable[Result]
Writer = Callable[[Path, Results, Layout], int | None]  # how many cells it had to cut, if any


def json_lines(path: Path, results: Results, layout: Layout) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for result in results:
            file.write(line(_object(result, layout)) + "\n")


def json_array(path: Path, results: Results, layout: Layout) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        mark = "[\n"
        for result in results:
            file.write(mark + line(_object(result, layout)))
            mark = ",\n"
        file.write("\n]\n" if mark != "[\n" else "[]\n")


def csv_rows(path: Path, results: Results, layout: Layout, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow([guarded(column.name) for column in layout.chosen])
        for result in results:
            table.writerow([_cell(flat(result, column)) for column in layout.chosen])


def tsv_rows(path: Path, results: Results, layout: Layout) -> None:
    csv_rows(path, results, layout, "\t")


def _cell(found: Any) -> str:
    return written(found) if isinstance(found, int | float) else guarded(written(found))


def guarded(text: str) -> str:
    """A cell that a spreadsheet shows and does not evaluate; a number like -5 stays one."""
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def parquet(path: Path, results: Results, layout: Layout) -> None:
    import pyarrow as pa
    from pyarrow import parquet as pq

    arrow = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    kind = kinds(layout.chosen, layout.kinds)
    carried = [c for c in layout.chosen if c.carried and c.key in layout.types]
    given = {column.name: layout.types[column.key] for column in carried}
    schema = pa.schema([(c.name, given.get(c.name, arrow[kind[c.name]])) for c in layout.chosen])
    with pq.ParquetWriter(path, schema) as file:
        for group in _groups(results):
            parts = []
            for column in layout.chosen:
                raw = column.name in given or kind[column.name] != "text"
                cells = [value(r, column) if raw else _text(flat(r, column)) for r in group]
                parts.append(pa.array(cells, type=schema.field(column.name).type))
            file.write_batch(pa.record_batch(parts, schema=schema))


def excel(path: Path, results: Results, layout: Layout) -> int:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Answers")
    cut = 0

    def cell(found: Any) -> Any:
        nonlocal cut
        if isinstance(found, float | None) or (isinstance(found, int) and abs(found) < 2**53):
            return plain(found)
        whole = _ILLEGAL.sub("\ufffd", written(found))
        shown = fitting(whole)
        cut += shown != whole
        text = WriteOnlyCell(sheet, shown)
        text.data_type = "s"  # a string, also where it looks like a formula
        return text

    try:
        sheet.append([cell(column.name) for column in layout.chosen])
        for result in results:
            sheet.append([cell(flat(result, column)) for column in layout.chosen])
        book.save(path)
    finally:
        book.close()
    return cut


def fitting(text: str) -> str:
    """Text cut to the size of a spreadsheet cell; if it was cut, its end says so."""
    units = text.encode("utf-16-le")
    if len(units) <= 2 * CELL:
        return text
    # Half of a character that takes two units is left out.
    return units[: 2 * (CELL - len(CUT))].decode("utf-16-le", errors="ignore") + CUT


def markdown(path: Path, results: Results, layout: Layout) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("# Answers\n")
        for result in results:
            title = f"{result.row.id}: {result.row.question}"
            file.write(f"\n## {escape(' '.join(title.split()))}\n\n")
            file.writelines(f"{part}\n" for part in _paragraphs(result, layout))


def _paragraphs(result: Result, layout: Layout) -> Iterator[str]:
    others = layout.columns
    if others is None:
        others = [Column(name, name, carried=True) for name in result.row.carried]
        if result.answer is None:
            yield f"**Not answered:** {escape(result.error or '')}\n"
        else:
            yield from _told(result.answer)
    for column in others:
        if column.key not in ("id", "question") or column.carried:
            text = written(flat(result, column))
            yield f"- {escape(column.name)}: {escape(' '.join(text.split()))}"


def _told(answer: dict[str, Any]) -> Iterator[str]:
    cited = [each for each in answer["citations"] if each["quote"]]
    first = cited[0]["span"] if cited else None
    said = answer["text"][: first[0]] if first else answer["text"]
    if said.strip():
        yield f"{escape(said.strip())}\n"
    for each in cited:
        title = f"{each['number']} {each['heading']}".strip()
        quote = escape(" ".join(each["quote"].split()))
        stump = " [cut off in the source]" if _is_stump(each) else ""
        yield f"- **{escape(title)}** [{each['edition']}]: “{quote}”{escape(stump)}"
    if reading := compose.reading(answer["verdict"], answer["generated"], answer["unsure"]):
        yield f"\nAs {escape(answer['model'])} reads it: {escape(reading)}\n"
    if cited and (more := answer["text"].rpartition("\n")[2]).startswith("... and "):
        yield f"\n{escape(more)}\n"
    sure = f", confidence {answer['confidence']:.2f}" if answer["model"] != "book" else ""
    yield f"\nEdition {answer['edition']}, model {escape(answer['model'])}{sure}\n"


def _is_stump(citation: dict[str, Any]) -> bool:
    return bool(citation.get("truncated")) and citation["text"].endswith(citation["quote"])


def _object(result: Result, layout: Layout) -> dict[str, Any]:
    if layout.columns is None:
        return result.to_json()
    return {column.name: value(result, column) for column in layout.columns}


def _groups(results: Results) -> Iterator[list[Result]]:
    """Some thousand results at a time, fewer where they are long."""
    group: list[Result] = []
    size = 0
    for result in results:
        group.append(result)
        size += len(result.row.question) + sum(
            len(v) for v in result.row.carried.values() if isinstance(v, str)
        )
        if len(group) == _GROUP or size > _GROUP_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _text(found: Any) -> str | None:
    return None if found is None else written(found)


WRITERS: dict[str, Writer] = {
    "jsonl": json_lines,
    "json": json_array,
    "csv": csv_rows,
    "tsv": tsv_rows,
    "parquet": parquet,
    "xlsx": excel,
    "markdown": markdown,
}
WHOLE = {"jsonl", "json", "markdown"}  # formats that hold a whole answer where nothing was chosen


def check_size(format: str, rows: int, columns: int) -> None:
    """Raise an error before any work is done if the output format cannot hold the result."""
    if format not in WHOLE and columns > MOST_COLUMNS:
        raise SticklerError(
            f"The answers would have more than {MOST_COLUMNS} columns",
            "write JSON lines (.jsonl)",
            Remedy(Action.CHOOSE_FIELDS),
        )
    if format == "xlsx" and rows >= _SHEET:
        raise SticklerError(
            f"A spreadsheet holds {_SHEET - 1} answers but there would be {rows}: write .csv."
        )

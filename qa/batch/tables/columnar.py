"""Parquet, a batch of rows at a time, and the first sheet of an Excel file, row by row."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from index.errors import SticklerError
from qa.batch.tables import Record, names, unreadable
from qa.batch.tables.columns import headerless

_BATCH = 1000  # rows
_MOST_UNPACKED = 2_000_000_000  # bytes; a sheet's texts are held in memory: no zip bombs


def parquet(path: Path, column: str | None = None) -> Iterator[Record]:
    import pyarrow as pa
    from pyarrow import parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            header = names(file.schema_arrow.names, path)
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for values in zip(*(part.to_pylist() for part in batch.columns), strict=True):
                    number += 1
                    yield Record(f"row {number}", dict(zip(header, values, strict=True)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(path, "Parquet", str(error).split("\n")[0]) from None


def types(path: Path) -> dict[str, Any]:
    """The Arrow types of a Parquet file's columns."""
    from pyarrow import parquet as pq

    schema = pq.read_schema(path)
    return dict(zip(names(schema.names, path), schema.types, strict=True))


def excel(path: Path, column: str | None = None) -> Iterator[Record]:
    import zipfile

    import openpyxl

    warnings.filterwarnings("ignore", module="openpyxl")  # about formatting, irrelevant here
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > _MOST_UNPACKED:
            raise SticklerError(
                f"{path} unpacks to {size // 1_000_000} MB: save the sheet as CSV and use that."
            )
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            if not book.worksheets:
                raise SticklerError(f"{path} has no sheet with cells: choose another file.")
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what a file says of its own size need not be true
            yield from _sheet(path, sheet.iter_rows(values_only=True), column)
        finally:
            book.close()
    except SticklerError:
        raise
    except Exception as error:  # a damaged file fails in many ways, most of them not its own class
        raise unreadable(path, "Excel", str(error).split("\n")[0] or type(error).__name__) from None


def _sheet(path: Path, rows: Iterator[tuple[Any, ...]], column: str | None) -> Iterator[Record]:
    header: list[str] = []
    for number, values in enumerate(rows, 1):
        last = max((at for at, value in enumerate(values, 1) if value not in (None, "")), default=0)
        cells = list(values[: max(last, len(header))])
        if not last:
            yield Record(f"row {number}", {})
        elif not header and not headerless(cells, column):
            header = names(cells, path)
        elif not header:
            header = ["question"]
            yield Record(f"row {number}", {"question": cells[0]})
        elif last > len(header):
            problem = f"Row {number} has cells beyond the {len(header)} columns of the header."
            yield Record(f"row {number}", dict(zip(header, cells, strict=False)), problem)
        else:
            cells += [None] * (len(header) - len(cells))
            yield Record(f"row {number}", dict(zip(header, cells, strict=True)))

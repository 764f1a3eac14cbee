"""Every format that answers go out in, and what could break or be run in one."""

import csv
import json
from datetime import datetime

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from index.errors import SticklerError
from qa.answer import VERSION
from qa.batch.tables import Row, fields, writers
from qa.batch.tables.fields import Result
from qa.batch.tables.source import open_source

ANSWER = {
    "version": VERSION,
    "id": "x",
    "question": "why?",
    "verdict": None,
    "text": "702.9b: “No.”",
    "raw": "",
    "generated": "",
    "unsure": False,
    "abstained": False,
    "reason": None,
    "confidence": 0.5,
    "citations": [
        {
            "number": "702.9b",
            "quote": "No.",
            "heading": "Flying",
            "edition": "22",
            "span": [0, 6],
        },
        {"number": "702.9c", "quote": "Yes.", "heading": "", "edition": "22", "span": [9, 15]},
        {"number": "999.1", "quote": "", "heading": "", "edition": "22", "span": None},
    ],
    "hits": [{"number": "702.9b"}, {"number": "702.2"}],
    "edition": "current",
    "model": "none",
    "settings": "0",
    "timings": {"total_ms": 1.0},
}


@pytest.fixture
def write(tmp_path):
    """Writes results in a format, and gives the path."""

    def path(format, results, wanted=None, kinds=None, types=None):
        names = list(dict.fromkeys(name for result in results for name in result.row.carried))
        chosen = fields.columns(wanted, names, format not in writers.WHOLE)
        target = tmp_path / f"out.{format}"
        layout = writers.Layout(chosen, kinds or {n: {"text"} for n in names}, types or {})
        writers.WRITERS[format](target, results, layout)
        return target

    return path


def asked(id="1", question="why?", error=None, **carried):
    return Result(Row(id, question, carried, error), None if error else ANSWER, error)


def test_a_line_of_json_is_the_whole_answer_and_what_was_carried(write):
    lines = write("jsonl", [asked(n=1), asked("2", error="It failed.", n=2), asked("3")])
    first, failed, bare = map(json.loads, lines.read_text("utf-8").splitlines())
    assert first == {**ANSWER, "id": "1", "input": {"n": 1}}
    assert failed == {
        **{"version": VERSION, "id": "2", "question": "why?", "error": "It failed."},
        "input": {"n": 2},
    }
    assert "input" not in bare
    array = json.loads(write("json", [asked(n=1), asked("3")]).read_text("utf-8"))
    assert array == [first, bare]


def test_a_table_has_flat_fields_and_the_carried_columns(write):
    with write("csv", [asked(text="own", n=1), asked("2", error="It failed.")]).open() as file:
        first, failed = csv.DictReader(file)
    assert list(first) == [*fields.DEFAULT, "input_text", "n"]
    assert first["citations"] == "702.9b; 702.9c"
    assert (first["text"], first["input_text"], first["n"]) == ("702.9b: “No.”", "own", "1")
    assert (first["abstained"], first["confidence"], first["error"]) == ("false", "0.5", "")
    assert (failed["id"], failed["error"], failed["text"]) == ("2", "It failed.", "")


def test_fields_are_chosen_by_name(write):
    results = [asked(n=1, m=[2])]
    assert json.loads(write("jsonl", results, "m,id,hits").read_text()) == {
        "m": [2],
        "id": "1",
        "hits": ANSWER["hits"],
    }
    assert write("csv", results, "id, hits,timings,input").read_text().splitlines() == [
        "id,hits,timings,n,m",
        '1,702.9b; 702.2,"{""total_ms"": 1.0}",1,[2]',
    ]
    with pytest.raises(SticklerError, match="There is no field 'nope': choose from version, id"):
        write("csv", results, "id,nope")
    with pytest.raises(SticklerError, match="No fields were selected"):
        write("csv", results, " , ")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_what_a_spreadsheet_would_run_is_text(start, write):
    evil = f"{start}1+HYPERLINK(1)"
    results = [asked(evil, evil, error=evil, **{evil: evil})]
    for ending, mark in [("csv", ","), ("tsv", "\t")]:
        with write(ending, results).open(newline="") as file:
            header, cells = csv.reader(file, delimiter=mark)
        assert (header[-1], cells[0], cells[1]) == (f"'{evil}",) * 3
        assert (cells[-1], cells[-2]) == (f"'{evil}",) * 2
    sheet = openpyxl.load_workbook(write("xlsx", results)).active
    kinds = {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value is not None}
    assert kinds == {"s"}
    if start not in "\r\n":  # XML turns those into spaces
        assert sheet.cell(2, 1).value == evil


def test_a_negative_number_stays_a_number(write):
    with write("csv", [asked(a=-5, b="-5", c="+1/+1", d="-2.5")], "input").open() as file:
        assert list(csv.reader(file))[1] == ["-5", "-5", "'+1/+1", "-2.5"]


def test_parquet_keeps_types_and_falls_back_to_text(write):
    when = datetime(2024, 3, 8)
    results = [asked("1", n=1, f=2.5, mixed="a", when=when), asked("2", n=None, f=1, mixed=3)]
    kinds = {"n": {"int"}, "f": {"int", "float"}, "mixed": {"int", "text"}, "when": {"text"}}
    table = pq.read_table(write("parquet", results, None, kinds, {"when": pa.timestamp("us")}))
    assert {name: str(table.schema.field(name).type) for name in (*kinds, "abstained")} == {
        "n": "int64",
        "f": "double",
        "mixed": "string",
        "when": "timestamp[us]",
        "abstained": "bool",
    }
    rows = table.to_pylist()
    assert [(row["mixed"], row["when"]) for row in rows] == [("a", when), ("3", None)]
    assert rows[0]["citations"] == "702.9b; 702.9c"


def test_markdown_shows_text_as_it_is(write):
    hostile = "<script>x</script> *a* [b](c) # d"
    text = write(
        "markdown", [asked("702.", hostile, n="7. x"), asked("2", error="No.")]
    ).read_text()
    assert r"## 702.: \<script\>x\</script\> \*a\* \[b\](c) \# d" in text
    assert "- **702.9b Flying** [22]: “No.”" in text
    assert "999.1" not in text
    assert r"- n: 7\. x" in text
    assert "**Not answered:** No." in text


@pytest.mark.parametrize("format", writers.WRITERS)
def test_no_text_breaks_a_format(format, write):
    odd = 'nul \0 half \ud800 quote " comma , tab \t line \n\r\n mark \ufeff end \x1b'
    path = write(format, [asked("1", odd, a=odd), asked("2", odd, error=odd, a=None)])
    assert path.stat().st_size > 100
    if format == "jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
        assert [row["question"] for row in rows] == [odd, odd]


@given(
    st.lists(
        st.tuples(st.text(min_size=1), st.text(), st.none() | st.integers() | st.floats()),
        min_size=1,
        max_size=5,
    )
)
def test_what_was_carried_comes_back_from_json_lines(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("again")
    results = [asked(str(n), q, a=a, b=b) for n, (q, a, b) in enumerate(rows)]
    writers.json_lines(folder / "a.jsonl", results, writers.Layout(None))
    source = open_source(str(folder / "a.jsonl"), None, None, None, folder / "copy")
    again = [row for row in source.rows() if row]
    assert [row.question for row in again] == [q.strip() for q, _, _ in rows]
    for row, (_, a, b) in zip(again, rows, strict=True):
        assert row.carried["input"] == fields.plain({"a": a, "b": b})

"""Every format that questions come in and answers go out in, and what is wrong with some files."""

import csv
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from index.errors import SticklerError
from qa.tables import LONGEST, Row, fields, writers
from qa.tables.fields import Result
from qa.tables.source import open_source

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def read(tmp_path):
    """The rows of a file with this content, its empty ones among them as None."""

    def rows(name, content, column=None, format=None, limit=None):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = open_source(str(path), format, column, limit, tmp_path / "copy")
        source.survey()
        return list(source.rows())

    return rows


def questions(rows):
    return [row.question for row in rows if row]


# In.


def test_a_text_file_has_one_question_a_line_and_empty_lines_are_none(read):
    rows = read("a.txt", "what is reach?\r\n\n  \n\tmay I block? \rlast")
    assert questions(rows) == ["what is reach?", "may I block?", "last"]
    assert rows.count(None) == 2
    assert [row.id for row in rows if row] == ["q1", "q2", "q3"]
    assert {tuple(row.carried) for row in rows if row} == {()}


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_text_is_read_in_the_encodings_people_save_it_in(name, encoding, read):
    asked = "may I “counter” Lim-Dûl’s spell – or not?"
    content = {
        "a.txt": asked,
        "a.csv": f'id,question\n1,"{asked}"',
        "a.tsv": f"id\tquestion\n1\t{asked}",
        "a.jsonl": json.dumps({"question": asked}, ensure_ascii=False),
        "a.json": json.dumps([{"question": asked}], ensure_ascii=False, indent=1),
    }[name]
    assert questions(read(name, (content + "\n").encode(encoding))) == [asked]


def test_one_line_in_another_encoding_does_not_spoil_the_others(read):
    content = "Lim-Dûl?\n".encode() + "Lim-Dûl again?\n".encode("cp1252") + "“Dûl”?\n".encode()
    assert questions(read("a.txt", content)) == ["Lim-Dûl?", "Lim-Dûl again?", "“Dûl”?"]


def test_a_csv_file_keeps_ids_carries_columns_and_reads_quoted_newlines(read):
    text = 'ID;Note;Question\n7;"a;b";"two\nlines?"\n;x;second?\n;;\n'
    rows = read("a.csv", text)
    assert rows[:2] == [
        Row("7", "two\nlines?", {"Note": "a;b"}),
        Row("q2", "second?", {"Note": "x"}),
    ]
    assert rows[2] is None


@pytest.mark.parametrize(
    ("header", "column", "found"),
    [
        ("a,question,text", None, "2"),
        ("a,Prompt,c", None, "2"),
        ("query,b,text", None, "1"),
        ("a,b, TEXT ", None, "3"),
        ("a,question,c", "a", "1"),
        ("a,question,c", "C", "3"),
    ],
)
def test_the_questions_column_is_found_or_named(header, column, found, read):
    assert questions(read("a.csv", f"{header}\n1,2,3\n", column)) == [found]


def test_a_bare_list_of_requests_saved_as_a_table_loses_none(read):
    asked = ["Explain first strike", "Explain deathtouch"]
    assert questions(read("a.csv", "\n".join(asked))) == asked


def test_the_only_column_holds_the_questions_whatever_it_is_called(read):
    assert questions(read("a.csv", "Frage\nWas ist Trampel?\n")) == ["Was ist Trampel?"]
    assert questions(read("a.csv", "id,Frage\n1,Was?\n")) == ["Was?"]
    assert questions(read("a.jsonl", '{"id": 1, "frage": "Was?"}')) == ["Was?"]


def test_a_bare_list_that_was_saved_as_a_table_loses_no_question(read):
    assert questions(read("a.csv", "what is reach?\nwhat is trample?\n")) == [
        "what is reach?",
        "what is trample?",
    ]


def test_columns_without_or_with_the_same_name_are_all_carried(read):
    (row,) = read("a.csv", "question,a,a,,a_2\nq?,1,2,3,4\n")
    assert row.carried == {"a": "1", "a_2": "2", "column_4": "3", "a_2_2": "4"}


def test_ten_thousand_columns_are_carried_and_more_than_a_sheet_has_are_refused(read):
    names = ",".join(f"c{n}" for n in range(9_999))
    (row,) = read("a.csv", f"question,{names}\nwhy?{',x' * 9_999}\n")
    assert len(row.carried) == 9_999
    with pytest.raises(SticklerError, match="has 20001 columns"):
        read("b.csv", f"question{',c' * 20_000}\nwhy?{',x' * 20_000}\n")


def test_a_row_with_the_wrong_number_of_cells_fails_by_its_line(read):
    rows = read("a.csv", 'question,a\n"two\nlines?",1\nIf I attack, may I, too?,1\nshort?\n')
    assert [row.error for row in rows] == [
        None,
        "The row at line 4 has 4 cells where the header names 2: "
        "quote a cell that holds a delimiter.",
        "The row at line 5 has 1 cells where the header names 2: "
        "quote a cell that holds a delimiter.",
    ]


def test_a_quote_that_never_ends_fails_its_row_only(read):
    rows = read("a.csv", 'question,a\nfirst?,1\n"open?,2\nswallowed?,3')
    assert (rows[0].question, rows[0].error) == ("first?", None)
    assert "row at line 3 never ends" in rows[1].error
    assert len(rows) == 2
    with pytest.raises(SticklerError, match="first line never ends"):
        read("b.csv", '"question,a\nb,c\n')


def test_json_lines_hold_objects_or_bare_questions_and_a_broken_one_fails_by_its_line(read):
    text = '{"question": "one?", "n": 1, "x": NaN}\n\n"two?"\n{"question": \n[1]\n{}\n{"n": 2}\n'
    rows = read("a.jsonl", text)
    assert rows[0] == Row("q1", "one?", {"n": 1, "x": None})
    assert rows[1] is None
    assert rows[2].question == "two?"
    assert [row.error for row in rows[3:]] == [
        "Line 4 is not valid JSON (Expecting value): mend it.",
        "What is at line 5 is neither an object nor a question in quotes.",
        "The object at line 6 is empty.",
        "There is no question at line 7, only the columns 'n'.",
    ]


def test_json_that_is_too_deep_or_no_text_fails_its_row(read):
    rows = read("a.jsonl", "[" * 100_000 + '\n{"question": ["a"]}\n{"question": 702.19}\n')
    assert "RecursionError" in rows[0].error
    assert rows[1].error == "The question at line 2 is not text: write it as a string."
    assert rows[2].question == "702.19"


def test_a_json_array_is_read_item_by_item(read, monkeypatch):
    monkeypatch.setattr("qa.tables.objects._CHUNK", 7)
    items = [{"question": f"question {n}?", "deep": {"a": [n]}} for n in range(50)]
    rows = read("a.json", json.dumps([*items, "bare?", 12345], indent=1))
    assert questions(rows)[:51] == [*(item["question"] for item in items), "bare?"]
    assert rows[3].carried == {"deep": {"a": [3]}}
    assert "item 52 is neither" in rows[51].error
    assert questions(read("b.json", '{"question": "in lines?"}\n"two?"\n')) == ["in lines?", "two?"]


@pytest.mark.parametrize(
    "text", ['["a?" "b?"]', '["a?"', '["a?", ]', '["a?"] x', '["a?", {"b": }]', "[1e]"]
)
def test_a_broken_json_array_is_refused_before_anything_is_asked(text, read):
    with pytest.raises(SticklerError, match="no valid JSON array at item"):
        read("a.json", text)


def test_parquet_is_read_in_batches_with_its_types(read, tmp_path, monkeypatch):
    monkeypatch.setattr("qa.tables.columnar._BATCH", 3)
    table = pa.table(
        {
            "prompt": [f"question {n}?" for n in range(9)] + [None],
            "id": range(10),
            "when": [datetime(2024, 3, 8)] * 9 + [None],
            "tags": [["a", "b"]] * 10,
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    rows = read("a.parquet", None)
    assert questions(rows) == [f"question {n}?" for n in range(9)] + [""]
    assert rows[8] == Row("8", "question 8?", {"when": datetime(2024, 3, 8), "tags": ["a", "b"]})


def test_the_first_sheet_of_an_excel_file_is_read(read, tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for cells in [["id", "question", "n"], [1.0, "why?", 3], [None, None, None], ["x", 702, None]]:
        sheet.append(cells)
    sheet["E4"] = "beyond"
    book.create_sheet("other").append(["question"])
    book.save(tmp_path / "a.xlsx")
    rows = read("a.xlsx", None)
    assert rows[:2] == [Row("1", "why?", {"n": 3}), None]
    assert (rows[2].id, rows[2].question) == ("x", "702")
    assert rows[2].error == "Row 4 has cells beyond the 3 columns that row 1 names."


def test_the_limit_counts_questions_not_empty_lines(read):
    assert questions(read("a.txt", "\none?\n\ntwo?\nthree?\n", limit=2)) == ["one?", "two?"]


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("what is reach?\nwhat is trample?\n", "text"),
        ("Text, can I block?\nwhat is trample?\n", "text"),
        ("[Tapped] creatures: may they block?\n", "text"),
        ("\nquestion\nwhat is reach?\n", "csv"),
        ("id,question\n1,what is reach?\n", "csv"),
        ("id;prompt\n1;what is reach?\n", "csv"),
        ("id\tquery\n1\twhat is reach?\n", "tsv"),
        ('{"question": "what is reach?"}\n', "jsonl"),
        ('[{"question": "what is reach?"}]\n', "json"),
        ("id,Frage\n1,was?\n", "text"),
    ],
)
def test_what_a_pipe_brings_is_recognised(content, format, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; open(sys.argv[1], 'w').write(sys.argv[2])",
            pipe,
            content,
        ]
    )
    source = open_source(str(pipe), None, None, None, tmp_path / "copy")
    assert writer.wait(20) == 0
    assert source.format == format
    assert not any(row.error for row in source.rows() if row)


# What cannot be read: one sentence.


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", None, "No such file"),
        ("a.txt", b"", "holds no questions"),
        ("a.txt", b"\n \n", "holds no questions, only 2 empty lines"),
        ("a.csv", b"question,a\n", "holds no questions"),
        ("a.json", b"[]", "holds no questions"),
        ("a.docx", b"what?", "The ending of .* says no format"),
        ("questions", b"what?", "The ending of .* says no format"),
        ("a.csv", b"a,b\n1,2\n", "no column with questions, only the columns 'a', 'b'"),
        ("a.jsonl", b'{"a": 1, "b": 2}\n', "no column with questions, only the columns 'a', 'b'"),
        ("a.txt", bytes(range(256)) * 8, "is not text"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(64), "is not text"),
        ("a.jsonl", b"PK\x03\x04" + bytes(1000), "is not text"),
        ("a.txt", b"good line\n" * 9000 + b"\x81\x8d\n", "is not text"),
        ("a.txt", "“why?”".encode("utf-16")[:-1] + b"\xd8\xd8", "is not text"),
        ("a.parquet", b"question\nwhy?\n", "cannot be read as Parquet"),
        ("a.parquet", b"PAR1" + bytes(50) + b"PAR1", "cannot be read as Parquet"),
        ("a.xlsx", b"question\nwhy?\n", "cannot be read as Excel"),
        ("a.xlsx", b"", "cannot be read as Excel"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_sentence(name, content, sentence, read):
    with pytest.raises(SticklerError, match=sentence) as error:
        read(name, content)
    assert str(error.value).endswith(".")
    assert len(str(error.value)) < 500


def test_a_column_that_is_not_there_is_told_with_those_that_are(read):
    with pytest.raises(SticklerError, match=r"no column 'frage', only the columns 'a', 'question'"):
        read("a.csv", "a,question\n1,2\n", "frage")


def test_a_directory_and_a_device_are_no_files(tmp_path):
    for name in (str(tmp_path), "/dev/zero"):
        with pytest.raises(SticklerError, match=r"Is a directory|is no file"):
            open_source(name, "text", None, None, tmp_path / "copy")
    with pytest.raises(SticklerError, match="There is no format 'doc'"):
        open_source(str(tmp_path), "doc", None, None, tmp_path / "copy")


def test_a_file_without_permission_is_told_in_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("why?")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything

        def refused(self, *args, **kwargs):
            raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(SticklerError, match=r"Could not read .*Permission denied"):
        open_source(str(path), None, None, None, tmp_path / "copy")


def test_a_line_too_long_to_be_kept_fails_alone(read):
    huge = "x" * (LONGEST + 10)
    rows = read("a.txt", f"first?\n{huge}\nlast?\n")
    assert (rows[0].question, rows[2].question) == ("first?", "last?")
    assert rows[1].error == f"Line 2 has more than {LONGEST} characters: shorten it."
    rows = read("a.csv", f"question,n\nfirst?,1\n{huge},2\nlast?,3\n")
    assert [bool(row.error) for row in rows] == [False, True, False]
    rows = read("a.jsonl", f'"first?"\n"{huge}"\n"last?"\n')
    assert [bool(row.error) for row in rows] == [False, True, False]


# Out.

ANSWER = {
    "version": 1,
    "id": "x",
    "question": "why?",
    "verdict": None,
    "text": "702.9b: “No.”",
    "raw": "",
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
        **{"version": 1, "id": "2", "question": "why?", "error": "It failed."},
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
    with pytest.raises(SticklerError, match="There is no field 'nope': choose of version, id"):
        write("csv", results, "id,nope")
    with pytest.raises(SticklerError, match="No field was chosen"):
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


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), min_size=1, max_size=6))
def test_any_cells_are_read_from_csv_as_they_were_written(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("cells")
    clean = [[c.encode(errors="ignore").decode() for c in row] for row in rows]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["question", "other"], *clean])
    source = open_source(str(folder / "a.csv"), None, None, None, folder / "copy")
    found = [row and (row.question, row.carried["other"]) for row in source.rows()]
    assert found == [
        (q.strip(), other) if q.strip() or other.strip() else None for q, other in clean
    ]

"""Every format that questions come in, and a row in it that is broken fails by its line."""

import csv
import json
import os
import subprocess
import sys
from datetime import datetime

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq

from index.errors import SticklerError
from qa.batch.tables import Row
from qa.batch.tables.source import open_source


def questions(rows):
    return [row.question for row in rows if row]


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
        "The row at line 4 has 4 cells but the header has 2: "
        "put cells that contain a delimiter in quotation marks.",
        "The row at line 5 has 1 cells but the header has 2: "
        "put cells that contain a delimiter in quotation marks.",
    ]


def test_a_quote_that_never_ends_fails_its_row_only(read):
    rows = read("a.csv", 'question,a\nfirst?,1\n"open?,2\nswallowed?,3')
    assert (rows[0].question, rows[0].error) == ("first?", None)
    assert "row at line 3 is never closed" in rows[1].error
    assert len(rows) == 2
    with pytest.raises(SticklerError, match="first line is never closed"):
        read("b.csv", '"question,a\nb,c\n')


def test_json_lines_hold_objects_or_bare_questions_and_a_broken_one_fails_by_its_line(read):
    text = '{"question": "one?", "n": 1, "x": NaN}\n\n"two?"\n{"question": \n[1]\n{}\n{"n": 2}\n'
    rows = read("a.jsonl", text)
    assert rows[0] == Row("q1", "one?", {"n": 1, "x": None})
    assert rows[1] is None
    assert rows[2].question == "two?"
    assert [row.error for row in rows[3:]] == [
        "Line 4 is not valid JSON (Expecting value): correct it.",
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
    monkeypatch.setattr("qa.batch.tables.objects._CHUNK", 7)
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
    with pytest.raises(SticklerError, match="not a valid JSON array at item"):
        read("a.json", text)


def test_parquet_is_read_in_batches_with_its_types(read, tmp_path, monkeypatch):
    monkeypatch.setattr("qa.batch.tables.columnar._BATCH", 3)
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
    assert rows[2].error == "Row 4 has cells beyond the 3 columns of the header."


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

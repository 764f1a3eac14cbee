"""What a spreadsheet has no room for is cut, marked and counted."""

import csv

import openpyxl
import pytest
from batches import FakeAssistant
from hypothesis import given
from hypothesis import strategies as st

from qa.batch.tables.writers import CELL, CUT, fitting


def units(text):
    """How long a spreadsheet takes a text to be."""
    return len(text.encode("utf-16-le")) // 2


@pytest.fixture
def long(tmp_path):
    """Three rows; of the column note one cell fits just so, one is a character too long."""
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "note"])
        table.writerows([["one?", "x" * CELL], ["two?", "y" * (CELL + 1)], ["three?", "z"]])
    return path


def test_a_cell_that_is_too_long_ends_in_a_mark_and_is_counted(work, long):
    counts, _, out = work(FakeAssistant(), long, "out.xlsx", fields="question,note")
    rows = list(openpyxl.load_workbook(out).active.iter_rows(min_row=2, values_only=True))
    assert rows[0] == ("one?", "x" * CELL)
    assert rows[1] == ("two?", "y" * (CELL - len(CUT)) + CUT)
    assert rows[2] == ("three?", "z")
    assert counts.cut == 1


def test_a_question_too_long_to_be_asked_is_cut_and_counted_too(work, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("q" * 40_000 + "\none?\n")
    counts, _, out = work(FakeAssistant(), path, "out.xlsx")
    sheet = openpyxl.load_workbook(out).active
    assert sheet["B2"].value.endswith(CUT)
    assert (counts.failed, counts.answered, counts.cut) == (1, 1, 1)


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_other_formats_cut_nothing(work, long, name):
    counts, _, out = work(FakeAssistant(), long, name, fields="question,note")
    assert counts.cut == 0
    assert "y" * (CELL + 1) in out.read_text("utf-8")


def test_the_command_says_at_its_end_what_was_cut(
    stickler, long, tmp_path, built_home, monkeypatch
):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    out = str(tmp_path / "out.xlsx")
    command = ("batch", str(long), "--model", "none", "--fields", "question,note", "-o")
    code, _, err = stickler(*command, out)
    assert code == 0
    assert err.splitlines()[-1] == (
        "1 cell is too long for a spreadsheet and marked as cut off: write .csv or .jsonl "
        "to keep everything."
    )
    _, _, err = stickler(*command, out.replace(".xlsx", ".csv"))
    assert "cell" not in err


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.integers(-9, 9),
)
def test_a_text_of_any_characters_fits_and_only_a_longer_one_is_cut(piece, more):
    text = (piece * CELL)[: CELL + more]
    shown = fitting(text)
    assert units(shown) <= CELL
    assert (shown == text) == (units(text) <= CELL)
    if shown != text:
        assert text.startswith(shown.removesuffix(CUT))
        assert units(shown) >= CELL - 1

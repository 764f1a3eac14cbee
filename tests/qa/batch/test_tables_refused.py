"""A file of questions that cannot be read is refused in one sentence."""

import os
from pathlib import Path

import pytest

from index.errors import SticklerError
from qa.batch.tables import LONGEST
from qa.batch.tables.source import open_source


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", None, "No such file"),
        ("a.txt", b"", "contains no questions"),
        ("a.txt", b"\n \n", "contains no questions, only 2 empty lines"),
        ("a.csv", b"question,a\n", "contains no questions"),
        ("a.json", b"[]", "contains no questions"),
        ("a.docx", b"what?", "cannot be read from .* .its ending is not a known format"),
        ("questions", b"what?", "cannot be read from .* .its ending is not a known format"),
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
        with pytest.raises(SticklerError, match=r"Is a directory|is not a file"):
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

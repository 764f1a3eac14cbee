"""A text is added and removed again, and one that is no rulebook changes nothing."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from refusals import refused

from index import library, parsers
from index.errors import Action, Remedy, SticklerError

ROOT = Path(__file__).resolve().parents[2]


# Adding and removing a file.


def test_an_added_text_is_a_document_and_an_edition(text_file, home):
    document, parsed = library.add(text_file())
    assert (document.edition, document.format) == ("2025-07-04", "official")
    assert len(parsed.rules) == 8
    assert library.documents()[-1] == document
    assert library.load().current.rule("702.2a").edition == "2025-07-04"
    assert document.path.parent == home / "documents"
    assert document.path.read_bytes() == Path(document.source).read_bytes()


def test_removing_it_gives_the_shipped_book_back(text_file, home):
    before, shipped = library.load().current.rules, library.documents()
    document, _ = library.add(text_file())
    assert library.remove("2025-07-04") == [document]
    assert library.documents() == shipped
    assert library.load().current.rules == before
    assert not document.path.exists()


def test_the_same_text_added_twice_is_one_document(text_file):
    first, _ = library.add(text_file())
    second, _ = library.add(text_file(name="copy.txt"))
    assert first.file == second.file
    added = [document for document in library.documents() if document.added]
    assert added == [second]


def test_texts_of_two_days_stand_side_by_side_and_one_can_go(text_file):
    library.add(text_file("July 4, 2025"))
    library.add(text_file("July 5, 2025"))
    assert [d.edition for d in library.documents() if d.added] == ["2025-07-04", "2025-07-05"]
    library.remove("2025-07-04")
    assert [d.edition for d in library.documents() if d.added] == ["2025-07-05"]


def test_a_home_with_a_tilde_or_none_yet_will_do(text_file, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("STICKLER_HOME", "~/deep/in/a folder")
    library.add(text_file())
    assert (tmp_path / "deep" / "in" / "a folder" / "documents" / "documents.json").is_file()


@pytest.mark.parametrize(
    ("edition", "why"), [("2024-03-08", "ships with Stickler"), ("1999-01-01", "was not added")]
)
def test_what_was_not_added_cannot_be_removed(edition, why):
    with pytest.raises(SticklerError, match=why) as refusal:
        library.remove(edition)
    assert refusal.value.remedies == (Remedy(Action.LIST_DOCUMENTS),)


def test_a_text_that_does_not_say_its_day_takes_the_one_named(home):
    page = str(library.SHIPPED / "2022-06-10-section-702.md")
    assert "does not say when its rules took effect" in refused(page, home)
    document, _ = library.add(page, "2022-06-11")
    assert document.edition == "2022-06-11"
    assert len(library.load().edition("2022-06-11").rules) == 603


@pytest.mark.parametrize("day", ["2024", "2024-13-01", "08.03.2024", "20240308", "", "../x"])
def test_an_edition_is_a_day(day, home):
    page = str(library.SHIPPED / "2022-06-10-section-702.md")
    assert f"'{day}' is not a date" in refused(page, home, day)


def test_the_manifest_is_plain_json_of_what_was_added(text_file, home):
    document, _ = library.add(text_file())
    (row,) = json.loads((home / "documents" / "documents.json").read_text(encoding="utf-8"))
    assert row["sha256"] == document.sha256
    assert row["source"] == document.source


def test_processes_that_add_at_once_all_land(tmp_path, small_release):
    code = "import sys; from index import library; [library.add(p) for p in sys.argv[1:]]"
    sources = []
    for day in range(1, 9):
        path = tmp_path / f"{day}.txt"
        path.write_text(small_release(f"July {day}, 2025"), encoding="utf-8")
        sources.append(str(path))
    running = [
        subprocess.Popen([sys.executable, "-c", code, *sources[start::2]], cwd=ROOT)
        for start in (0, 1)
    ]
    assert [process.wait(timeout=30) for process in running] == [0, 0]
    added = sorted(document.edition for document in library.documents() if document.added)
    assert added == [f"2025-07-0{day}" for day in range(1, 9)]
    assert len(library.load().editions) == 3 + 8


# What cannot be taken in: one sentence, and nothing changes.


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "No such file"),
        (b"", "is empty"),
        (b" \n\r\n\t ", "is empty"),
        (bytes(range(256)) * 20, "not"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not"),
        (b"Dear diary, today I lost.\n" * 50, "not a rulebook that Stickler can read"),
        (b"<html><body>Comprehensive Rules</body></html>", "not a rulebook"),
    ],
)
def test_a_bad_file_is_refused(content, sentence, tmp_path, home, text_file):
    library.add(text_file("July 4, 2025", "sound.txt"))
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_bytes(content)
    refusal = refused(str(path), home)
    assert sentence in refusal
    assert "bad.txt" in refusal


def test_a_folder_is_refused(tmp_path, home):
    assert "directory" in refused(str(tmp_path), home)
    assert "directory" in refused("", home)


@pytest.mark.parametrize("source", ["~nobody-of-this-name/rules.txt", "nul\0byte.txt"])
def test_a_path_that_cannot_be_is_refused(source, home):
    with pytest.raises(SticklerError):
        library.add(source)
    assert not home.exists()


def test_a_text_cut_in_the_middle_of_a_character_is_refused(tmp_path, home, small_release):
    data = small_release().encode()
    path = tmp_path / "cut.txt"
    path.write_bytes(data[: data.rindex("”".encode()) + 1])
    assert "is incomplete (it ends in the middle of a character)" in refused(str(path), home)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_text_cut_off_is_refused(share, tmp_path, home, small_release):
    data = small_release().encode()
    path = tmp_path / "cut.txt"
    path.write_bytes(data[: int(len(data) * share)])
    assert "damaged" in refused(str(path), home)


def test_a_text_larger_than_the_largest_is_refused(text_file, home, monkeypatch):
    source = text_file()
    size = Path(source).stat().st_size
    monkeypatch.setattr(parsers, "LARGEST", size - 1)
    assert "is larger than" in refused(source, home)
    monkeypatch.setattr(parsers, "LARGEST", size)
    assert len(parsers.parse(Path(source).read_bytes(), "rules.txt").rules) == 8


def test_half_a_gigabyte_is_refused_without_being_read_whole(tmp_path, home):
    path = tmp_path / "huge.txt"
    with open(path, "wb") as file:
        file.truncate(500_000_000)
    tracemalloc.start()
    try:
        assert "larger than 20 MB" in refused(str(path), home)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_a_home_that_cannot_be_written_is_said(text_file, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("STICKLER_HOME", str(tmp_path / "file"))
    with pytest.raises(SticklerError, match=r"Could not write .*STICKLER_HOME"):
        library.add(text_file())

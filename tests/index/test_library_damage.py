"""Damage to what was added is noticed, and the error says what mends it."""

from pathlib import Path

import pytest
from refusals import on_disk, refused

from index import files, library
from index.errors import Action, Remedy, SticklerError


def damage(path):
    path.write_bytes(path.read_bytes().replace(b"destroyed", b"exiled"))


@pytest.mark.parametrize("how", [damage, Path.unlink])
def test_a_damaged_added_text_says_what_mends_it(how, text_file):
    document, _ = library.add(text_file())
    how(document.path)
    with pytest.raises(SticklerError, match=document.file) as refusal:
        library.load()
    assert refusal.value.remedies == (Remedy(Action.READD_RULES, "2025-07-04"),)
    assert library.remove("2025-07-04") == [document]
    assert len(library.load().current.rules) == 803


def test_a_damaged_text_stops_the_next_one_and_adding_it_again_mends_it(text_file, home):
    document, _ = library.add(text_file())
    damage(document.path)
    other = text_file("July 5, 2025", "other.txt")
    assert document.file in refused(other, home)
    library.add(text_file())
    library.add(other)
    assert len(library.load().editions) == 5


@pytest.mark.parametrize(
    "manifest", [b"", b"{", b"null", b"5", b"{}", b"[1]", b'[{"file": "x"}]', b"\xff\xfe"]
)
def test_a_damaged_manifest_says_what_mends_it(manifest, text_file, home):
    library.add(text_file())
    path = home / "documents" / "documents.json"
    path.write_bytes(manifest)
    with pytest.raises(SticklerError, match=r": delete it, then add your") as refusal:
        library.documents()
    assert str(path) in str(refusal.value)
    path.unlink()
    library.add(text_file())
    assert library.load().current.rule("702.2a").edition == "2025-07-04"


def test_a_text_that_the_manifest_does_not_name_is_not_loaded(text_file, home):
    document, _ = library.add(text_file())
    (home / "documents" / "documents.json").write_bytes(b"[]")
    assert document.path.exists()
    assert len(library.load().current.rules) == 803


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_whole(path, b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SticklerError, match="No space left on device"):
        files.write_whole(path, b"new")
    assert on_disk(tmp_path) == {Path("file"): b"old"}

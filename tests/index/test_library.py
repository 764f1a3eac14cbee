import contextlib
import http.server
import json
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from index import files, library, readers
from index.errors import SticklerError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def text_file(tmp_path, small_release):
    """Writes a release that took effect on the day named, and gives its path."""

    def write(day="July 4, 2025", name="rules.txt"):
        path = tmp_path / name
        path.write_text(small_release(day), encoding="utf-8")
        return str(path)

    return write


def on_disk(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def refused(source, home, edition=None):
    """The sentence that `source` is refused with, once it is sure that nothing changed."""
    before, documents = on_disk(home), library.documents()
    with pytest.raises(SticklerError) as refusal:
        library.add(source, edition)
    sentence = str(refusal.value)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert "Traceback" not in sentence
    assert on_disk(home) == before
    assert library.documents() == documents
    return sentence


# Adding and removing a file.


def test_an_added_text_is_a_document_and_an_edition(text_file, home):
    document, reading = library.add(text_file())
    assert (document.edition, document.format) == ("2025-07-04", "official")
    assert len(reading.rules) == 8
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
    with pytest.raises(SticklerError, match=f"{why}.*'stickler rules documents'"):
        library.remove(edition)


def test_a_text_that_does_not_say_its_day_takes_the_one_named(home):
    page = str(library.SHIPPED / "2022-06-10-section-702.md")
    assert "--edition YYYY-MM-DD" in refused(page, home)
    document, _ = library.add(page, "2022-06-11")
    assert document.edition == "2022-06-11"
    assert len(library.load().edition("2022-06-11").rules) == 603


@pytest.mark.parametrize("day", ["2024", "2024-13-01", "08.03.2024", "20240308", "", "../x"])
def test_an_edition_is_a_day(day, home):
    page = str(library.SHIPPED / "2022-06-10-section-702.md")
    assert f"'{day}' is not a day" in refused(page, home, day)


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
    assert "cut off" in refused(str(path), home)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_text_cut_off_is_refused(share, tmp_path, home, small_release):
    data = small_release().encode()
    path = tmp_path / "cut.txt"
    path.write_bytes(data[: int(len(data) * share)])
    assert "damaged" in refused(str(path), home)


def test_a_text_larger_than_the_largest_is_refused(text_file, home, monkeypatch):
    source = text_file()
    size = Path(source).stat().st_size
    monkeypatch.setattr(readers, "LARGEST", size - 1)
    assert "is larger than" in refused(source, home)
    monkeypatch.setattr(readers, "LARGEST", size)
    assert len(readers.read(Path(source).read_bytes(), "rules.txt").rules) == 8


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


# Damage that comes later.


def damage(path):
    path.write_bytes(path.read_bytes().replace(b"destroyed", b"exiled"))


@pytest.mark.parametrize("how", [damage, Path.unlink])
def test_a_damaged_added_text_names_the_command_that_mends_it(how, text_file):
    document, _ = library.add(text_file())
    how(document.path)
    with pytest.raises(SticklerError, match="'stickler rules remove 2025-07-04'") as refusal:
        library.load()
    assert document.file in str(refusal.value)
    assert library.remove("2025-07-04") == [document]
    assert len(library.load().current.rules) == 803


def test_a_damaged_text_stops_the_next_one_and_adding_it_again_mends_it(text_file, home):
    document, _ = library.add(text_file())
    damage(document.path)
    other = text_file("July 5, 2025", "other.txt")
    assert "stickler rules remove 2025-07-04" in refused(other, home)
    library.add(text_file())
    library.add(other)
    assert len(library.load().editions) == 5


@pytest.mark.parametrize(
    "manifest", [b"", b"{", b"null", b"5", b"{}", b"[1]", b'[{"file": "x"}]', b"\xff\xfe"]
)
def test_a_damaged_manifest_names_the_command_that_mends_it(manifest, text_file, home):
    library.add(text_file())
    path = home / "documents" / "documents.json"
    path.write_bytes(manifest)
    with pytest.raises(SticklerError, match=r"'stickler rules add FILE'") as refusal:
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


def test_the_manifest_is_plain_json_of_what_was_added(text_file, home):
    document, _ = library.add(text_file())
    (row,) = json.loads((home / "documents" / "documents.json").read_text(encoding="utf-8"))
    assert row["sha256"] == document.sha256
    assert row["source"] == document.source


# From an address.


@pytest.fixture
def server(small_release, monkeypatch):
    """A web server on this machine; gives its address."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    body = small_release("July 4, 2025").encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/moved/rules.txt":
                self.send_response(302)
                self.send_header("Location", "/rules.txt")
            elif self.path == "/loop.txt":
                self.send_response(302)
                self.send_header("Location", "/loop.txt")
            elif self.path == "/out.txt":
                self.send_response(302)
                self.send_header("Location", Path(__file__).as_uri())
            elif self.path == "/missing.txt":
                self.send_response(404)
            else:
                self.send_response(200)
                if self.path == "/short.txt":
                    self.send_header("Content-Length", str(len(body) + 1))
                elif self.path == "/rules.txt":
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.path == "/slow.txt":
                    with contextlib.suppress(OSError):
                        for byte in body:
                            self.wfile.write(bytes([byte]))
                            time.sleep(0.02)
                    return
                self.wfile.write(b"\n" if self.path == "/blank.txt" else body)
                return
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("page", ["/rules.txt", "/moved/rules.txt", "/without-length.txt"])
def test_a_text_is_added_from_an_address(page, server):
    document, reading = library.add(server + page)
    assert (document.edition, len(reading.rules)) == ("2025-07-04", 8)
    assert document.source == server + page
    assert library.load().current.rule("702.2a").edition == "2025-07-04"


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("/missing.txt", "404"),
        ("/short.txt", "bytes"),
        ("/loop.txt", "Could not fetch"),
        ("/out.txt", "Could not fetch"),
        ("/blank.txt", "is empty"),
    ],
)
def test_a_bad_answer_is_refused(page, sentence, server, home):
    assert sentence in refused(server + page, home)


def test_an_answer_larger_than_the_largest_is_refused(server, home, monkeypatch):
    monkeypatch.setattr(readers, "LARGEST", 1000)
    assert "is larger than" in refused(f"{server}/rules.txt", home)
    assert "is larger than" in refused(f"{server}/without-length.txt", home)


def test_an_answer_that_trickles_in_is_given_up(server, home, monkeypatch):
    monkeypatch.setattr(library, "_FETCH_SECONDS", 0.4)
    started = time.monotonic()
    assert "Could not fetch" in refused(f"{server}/slow.txt", home)
    assert time.monotonic() - started < 5


def test_an_address_where_nobody_answers_is_refused(home):
    assert "Could not fetch" in refused("http://127.0.0.1:1/rules.txt", home)


@pytest.mark.parametrize("address", ["file:///rules.txt", "ftp://127.0.0.1/rules.txt", "://"])
def test_only_web_addresses_are_fetched(address, home):
    assert "neither a file nor an http(s) address" in refused(address, home)


@pytest.mark.parametrize("address", ["http://", "http://[", "http://a b/", "http://127.0.0.1/é"])
def test_an_address_that_is_none_is_refused(address, home):
    assert "Could not fetch" in refused(address, home)

"""The index on disk is there whole or not at all, and says how to mend it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index import library, parsers, store
from index.embedder import Embedder
from index.errors import SticklerError
from index.searcher import Searcher

ROOT = Path(__file__).resolve().parents[2]
BUILD = "from index import library, store; from index.embedder import Embedder; "
BUILD += "store.build(library.load(), Embedder(), anew=True)"


@pytest.fixture
def own_home(home, built_home):
    """A copy of the built index that a test may damage."""
    shutil.copytree(built_home, home)
    return home


def place(home):
    return home / "index" / (home / "index" / "CURRENT").read_text()


def folders(home):
    return [path for path in (home / "index").iterdir() if path.is_dir()]


def search():
    return [hit.passage.number for hit in Searcher.open().search("what is trample?")]


def test_a_fresh_index_is_left_alone(own_home, book):
    before = store.read_manifest()
    assert store.build(book, Embedder()) == before
    assert store.open_store(book, Embedder()).manifest == before


def test_the_manifest_names_what_it_was_built_from(own_home, book):
    manifest = store.read_manifest()
    assert manifest["model"] == {"name": "stickler-minilm", "hash": Embedder().hash, "size": 384}
    assert [name for name, _ in manifest["documents"]] == [d.file for d in library.documents()]
    assert manifest["views"] == {
        "current": 687,
        "2024-03-08": 309,
        "2022-06-10": 474,
        "2009-10-01": 253,
    }


def test_only_what_is_new_is_embedded_after_a_document_changed(own_home, small_release):
    extra = own_home / "extra.txt"
    extra.write_text(small_release("May 1, 2001"), encoding="utf-8")
    parsed = parsers.parse(extra.read_bytes(), "extra")
    library.add(str(extra))
    steps = []
    book = library.load()
    store.open_store(book, Embedder(), lambda done, total: steps.append(total))
    assert steps
    assert max(steps) <= 4 * len(parsed.rules) + len(parsed.glossary)
    assert store.read_manifest()["documents"][-1][0].startswith("2001-05-01-official")


def test_another_model_is_refused_with_the_command_that_builds(own_home, book, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(
        SticklerError,
        match=r"built with stickler-minilm, settings say .*'stickler index build --embedder",
    ):
        store.open_store(book, Embedder(str(tmp_path)))


@pytest.mark.parametrize(
    "damage",
    ["vectors.faiss", "passages.jsonl", "words/data.csc.index.npy", "words/vocab.index.json"],
)
@pytest.mark.parametrize("how", ["flipped", "cut", "gone"])
def test_a_damaged_file_names_the_command_that_mends_it(own_home, book, damage, how):
    path = place(own_home) / "current" / damage
    data = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data if how == "flipped" else data[: len(data) // 2])
    with pytest.raises(SticklerError, match="run 'stickler index build'"):
        store.open_store(book, Embedder())


@pytest.mark.parametrize("content", ["", "nowhere", "../../etc", "\0"])
def test_a_damaged_pointer_names_the_command_that_mends_it(own_home, book, content):
    (own_home / "index" / "CURRENT").write_text(content)
    with pytest.raises(SticklerError, match="run 'stickler index build'"):
        store.open_store(book, Embedder())
    store.build(book, Embedder())
    assert "702.19a" in search()


def test_building_mends_what_is_damaged(own_home, book):
    (place(own_home) / "current" / "vectors.faiss").write_bytes(b"")
    store.build(book, Embedder(), anew=True)
    assert "702.19a" in search()


def test_a_kill_at_any_moment_leaves_the_old_index(own_home):
    before = search()
    for wait in (0.0, 0.3, 0.6, 0.9):
        known = len(folders(own_home))
        child = subprocess.Popen([sys.executable, "-c", BUILD], cwd=ROOT)
        while len(folders(own_home)) == known and child.poll() is None:
            time.sleep(0.002)
        time.sleep(wait * 0.2)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert search() == before
    store.build(library.load(), Embedder(), anew=True)
    assert search() == before
    assert len(folders(own_home)) <= 2


def test_two_builds_at_once_both_end_and_leave_one_index(own_home):
    builds = [subprocess.Popen([sys.executable, "-c", BUILD], cwd=ROOT) for _ in range(2)]
    assert [build.wait(timeout=120) for build in builds] == [0, 0]
    assert "702.19a" in search()


def test_a_full_disk_is_said_and_the_old_index_stays(own_home, book, monkeypatch):
    before = search()

    def full(self, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(SticklerError, match="No space left on device"):
            store.build(book, Embedder(), anew=True)
    assert search() == before
    assert len(folders(own_home)) == 1


def test_two_builds_in_one_second_do_not_meet(own_home, book):
    for _ in range(2):
        store.build(book, Embedder(), anew=True)
    assert "702.19a" in search()


def test_a_really_full_disk_is_said_too(book, tmp_path):
    """A limit on the size of files stands in for a disk that fills up while FAISS writes."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
        "import cli; cli.main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, "index", "build"],
        cwd=ROOT,
        env={**os.environ, "STICKLER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert run.stderr.strip().splitlines()[-1].startswith("Error: Could not keep embeddings")
    assert not (tmp_path / "index" / "CURRENT").exists()


def test_many_passages_are_searched_in_cells(monkeypatch):
    import numpy as np

    monkeypatch.setattr(store, "_EXACT_UP_TO", 500)
    vectors = np.random.default_rng(1).standard_normal((2000, 16)).astype("float32")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exact, cells = store._faiss_index(vectors[:500]), store._faiss_index(vectors)
    assert (type(exact).__name__, type(cells).__name__) == ("IndexFlatIP", "IndexIVFFlat")
    _, nearest = cells.search(vectors[:100], 1)
    assert (nearest[:, 0] == np.arange(100)).all()


def test_the_manifest_is_written_last(own_home):
    root = place(own_home)
    manifest = json.loads((root / "manifest.json").read_text())
    newest = max(
        path.stat().st_mtime_ns for path in root.rglob("*") if path.name != "manifest.json"
    )
    assert (root / "manifest.json").stat().st_mtime_ns >= newest
    listed = {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()}
    assert listed == {*manifest["files"], "manifest.json"}


def test_an_index_of_older_weights_of_the_same_model_is_built_anew(own_home, book):
    """As after an update that ships other tuned weights."""
    path = place(own_home) / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["model"]["hash"] = "those before"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert store.open_store(book, Embedder()).manifest["model"]["hash"] == Embedder().hash

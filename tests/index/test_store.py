"""The index on disk is there whole or not at all, and an error says what mends it."""

import json
import math
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index import expansion, library, parsers, store
from index.bm25 import stems
from index.embedder import Embedder
from index.errors import Action, Remedy, SticklerError
from index.searcher import Searcher
from index.stages import ScoreWeights

ROOT = Path(__file__).resolve().parents[2]
BUILD = "from index import library, store; from index.embedder import Embedder; "
BUILD += "store.build(library.load(), Embedder(), force=True)"


@pytest.fixture
def own_home(home, built_home):
    """A copy of the built index that a test may damage; the embeddings are shared."""
    shutil.copytree(built_home, home, symlinks=True)
    return home


def place(home):
    return home / "index" / (home / "index" / "CURRENT").read_text()


def folders(home):
    return [path for path in (home / "index").iterdir() if path.is_dir()]


@pytest.fixture
def search(book, embedder):
    """What the index on disk finds."""

    def numbers():
        searcher = Searcher(
            book, store.open_store(book, embedder), embedder, ScoreWeights(maxsim=0)
        )
        return [hit.passage.number for hit in searcher.search(["what is trample?"])[0].hits]

    return numbers


def test_a_fresh_index_is_left_alone(own_home, book):
    before = store.read_manifest()
    assert store.build(book, Embedder()) == before
    assert store.open_store(book, Embedder()).manifest == before


def test_a_rule_is_found_by_a_word_that_only_the_questions_beside_it_have(book, own_home, embedder):
    """No rule speaks of buddies, players do."""
    assert not any("buddy" in rule.text for rule in book.current.rules)
    words_only = ScoreWeights(dense=0, bm25=1, question=-math.inf, maxsim=0)
    searcher = Searcher(book, store.open_store(book, embedder), embedder, words_only)
    [result] = searcher.search(["buddy"])
    assert result.hits[0].score > 1
    asked = expansion.words_beside(book.current)
    assert all(stems("buddy")[0] in stems(asked[hit.passage.number]) for hit in result.hits[:3])


def test_an_index_without_the_questions_that_are_there_now_is_built_anew(
    own_home, book, monkeypatch
):
    before = store.read_manifest()
    assert not store.stale(before)
    monkeypatch.setattr(expansion, "digest", lambda model: None)  # as none would ship for it
    assert store.stale(before)
    assert store.build(book, Embedder())["questions"] is None
    assert not store.open_store(book, Embedder()).view(book, None).bm25.knows(stems("buddy")[0])


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


def test_only_what_is_new_is_embedded_after_a_document_changed(
    home, built_home, embedder, small_release
):
    shutil.copytree(built_home, home)
    extra = home / "extra.txt"
    never_seen = small_release("May 1, 2001").replace("sixty cards", secrets.token_hex())
    extra.write_text(never_seen, encoding="utf-8")
    parsed = parsers.parse(extra.read_bytes(), "extra")
    library.add(str(extra))
    steps = []
    book = library.load()
    store.open_store(book, embedder, lambda done, total: steps.append(total))
    assert 0 < max(steps) <= 4 * len(parsed.rules) + len(parsed.glossary)
    assert store.read_manifest()["documents"][-1][0].startswith("2001-05-01-official")


def test_an_index_of_another_model_is_refused(own_home, book, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    sentence = r"built with stickler-minilm, settings say "
    with pytest.raises(SticklerError, match=sentence) as refusal:
        store.open_store(book, Embedder(str(tmp_path)))
    assert refusal.value.remedies == (Remedy(Action.BUILD_INDEX, str(tmp_path)),)


@pytest.mark.parametrize(
    "damage",
    [
        "vectors.faiss",
        "passages.jsonl",
        "bm25/words/data.csc.index.npy",
        "bm25/words/vocab.index.json",
    ],
)
@pytest.mark.parametrize("how", ["flipped", "cut", "gone"])
def test_a_damaged_file_is_noticed(own_home, book, damage, how):
    path = place(own_home) / "current" / damage
    data = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data if how == "flipped" else data[: len(data) // 2])
    with pytest.raises(SticklerError, match=path.name) as refusal:
        store.open_store(book, Embedder())
    assert refusal.value.remedies == (Remedy(Action.BUILD_INDEX),)


@pytest.mark.parametrize("content", ["", "nowhere", "../../etc", "\0"])
def test_a_damaged_pointer_is_noticed_and_building_mends_it(own_home, book, search, content):
    (own_home / "index" / "CURRENT").write_text(content)
    with pytest.raises(SticklerError, match="is damaged") as refusal:
        store.open_store(book, Embedder())
    assert refusal.value.remedies == (Remedy(Action.BUILD_INDEX),)
    store.build(book, Embedder())
    assert "702.19a" in search()


def test_building_mends_what_is_damaged(own_home, book, search):
    (place(own_home) / "current" / "vectors.faiss").write_bytes(b"")
    store.build(book, Embedder(), force=True)
    assert "702.19a" in search()


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_old_index(own_home, search):
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
    store.build(library.load(), Embedder(), force=True)
    assert search() == before
    assert len(folders(own_home)) <= 2


@pytest.mark.slow
def test_two_builds_at_once_both_end_and_leave_one_index(own_home, search):
    builds = [subprocess.Popen([sys.executable, "-c", BUILD], cwd=ROOT) for _ in range(2)]
    assert [build.wait(timeout=120) for build in builds] == [0, 0]
    assert "702.19a" in search()


def test_a_full_disk_is_one_sentence_and_the_old_index_stays(own_home, book, search, disk_full):
    before = search()
    with disk_full(200_000), pytest.raises(SticklerError, match="File too large"):
        store.build(book, Embedder(), force=True)
    assert search() == before
    assert len(folders(own_home)) == 1


def test_two_builds_in_one_second_do_not_meet(own_home, book, search):
    for _ in range(2):
        store.build(book, Embedder(), force=True)
    assert "702.19a" in search()


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

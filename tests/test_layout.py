"""The design's promises about the tree itself."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# index <- qa <- eval <- page <- app.py, and index, qa, eval <- cli: what each may not import.
FORBIDDEN = {
    "index": {"qa", "eval", "page", "app", "cli"},
    "qa": {"eval", "page", "app", "cli"},
    "eval": {"page", "app", "cli"},
    "page": {"app", "cli"},
    "app.py": {"cli"},
    "cli": {"page"},
}
TERMINAL = {"typer", "rich"}
HEAVY = {"torch", "transformers", "gradio", "faiss", "sentence_transformers", "bm25s", "numpy"}


def imports(place):
    """(file, top-level name) for all that a package or file imports, wherever it does so."""
    files = list((ROOT / place).rglob("*.py")) or [ROOT / place]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            for name in names:
                yield str(file.relative_to(ROOT)), name.split(".")[0]


@pytest.mark.parametrize("place", FORBIDDEN)
def test_imports_go_one_way(place):
    found = set(imports(place))
    assert found
    assert {(file, name) for file, name in found if name in FORBIDDEN[place]} == set()


@pytest.mark.parametrize("package", ["index", "qa", "eval"])
def test_only_the_command_line_knows_the_terminal(package):
    assert {(file, name) for file, name in imports(package) if name in TERMINAL} == set()


def test_importing_the_commands_imports_nothing_heavy():
    modules = [f"cli.{file.stem}" for file in (ROOT / "cli").glob("[!_]*.py")]
    code = f"import sys, {', '.join(modules)}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "", "")

"""The README's Python runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_python_of_the_readme_runs(monkeypatch, capsys, embedder, built_home):
    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    monkeypatch.setattr("qa.resources.Embedder", lambda name: embedder)
    [code] = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert code.startswith("from qa import Assistant")
    assert len(code.splitlines()) <= 5
    exec(code, {})
    assert "('702.17b', '2024-03-08', 'A creature with flying" in capsys.readouterr().out


def test_the_package_offers_its_classes_without_loading_them_first():
    code = (
        "import sys, qa; assert 'qa.assistant' not in sys.modules; "
        "from qa import Answer, Assistant, Settings; print(Assistant.__module__, hasattr(qa, 'x'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (run.stdout, run.stderr) == ("qa.assistant False\n", "")

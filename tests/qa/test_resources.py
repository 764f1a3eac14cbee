"""What a process loads ends with the process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENDS_WHILE_IT_EMBEDS = """
import threading, time
from qa.resources import Resources

begun = threading.Event()
Resources(progress=lambda done, total: done and begun.set()).load_search()
assert begun.wait(60)
time.sleep(0.2)  # into the next encoding
"""


@pytest.mark.slow
def test_a_process_may_end_while_it_loads(home):
    """PyTorch in a thread that the interpreter ends by force would abort the process."""
    command = [sys.executable, "-c", ENDS_WHILE_IT_EMBEDS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")

"""Whatever ends a batch early, the next run goes on from what was answered."""

import subprocess
import sys
from pathlib import Path

import pytest
from batches import FakeAssistant, rows_of

from index.errors import Action, Remedy, SticklerError
from qa.batch.tables.writers import WRITERS

ROOT = Path(__file__).resolve().parents[3]


def test_interrupted_it_goes_on_and_asks_nothing_twice(work, five, tmp_path):
    first = FakeAssistant(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        work(first, five)
    assert first.heard == ["one?", "two?", "three?", "four?"]
    assert not (tmp_path / "out.jsonl").exists()
    assert (tmp_path / ".out.jsonl.journal").exists()
    second = FakeAssistant()
    counts, notes, out = work(second, five)
    assert second.heard == ["five?"]
    assert notes == ["Resuming: 4 answers are left from an earlier run."]
    assert [row["text"] for row in rows_of(out)] == [
        *("To one?", "To two?", "To three?", "To four?", "To five?"),
    ]
    assert counts.answered == 5
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "out.jsonl"}


def test_what_failed_before_the_interruption_is_asked_again(work, five):
    with pytest.raises(KeyboardInterrupt):
        work(FakeAssistant(fails=["one"], stop_after=1), five)
    second = FakeAssistant()
    counts, _, _ = work(second, five)
    assert "one?" in second.heard
    assert "two?" not in second.heard
    assert counts.failed == 0


def test_other_settings_or_questions_need_a_restart(work, five):
    with pytest.raises(KeyboardInterrupt):
        work(FakeAssistant(stop_after=1), five)
    with five.open("a") as file:
        file.write("six?\n")
    with pytest.raises(SticklerError, match=r"\(questions\)") as refusal:
        work(FakeAssistant(), five)
    assert Remedy(Action.RESTART) in refusal.value.remedies
    with pytest.raises(SticklerError, match=r"\(settings, questions\)"):
        work(FakeAssistant(), five, settings="2")
    again = FakeAssistant()
    counts, _, _ = work(again, five, settings="2", restart=True)
    assert (len(again.heard), counts.answered) == (6, 6)


def test_an_older_output_stays_until_the_new_one_is_whole(work, five, tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        work(FakeAssistant(stop_after=1), five)
    assert (tmp_path / "out.jsonl").read_text() == "old"
    work(FakeAssistant(), five)
    assert len(rows_of(tmp_path / "out.jsonl")) == 5


def test_a_failed_writing_keeps_the_answers(work, five, tmp_path, monkeypatch):
    def full(path, results, layout):
        path.write_text("half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setitem(WRITERS, "jsonl", full)
        with pytest.raises(SticklerError, match="No space left on device"):
            work(FakeAssistant(), five)
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", ".out.jsonl.journal"}
    again = FakeAssistant()
    work(again, five)
    assert again.heard == []


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from batches import FakeAssistant, FakeEngine
from index.errors import SticklerError
from qa.batch.run import Job, run
if sys.argv[3] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
assistant = FakeAssistant()
engine = FakeEngine(assistant, chunk=7)
try:
    run(Job(sys.argv[1], Path(sys.argv[2])), engine, lambda *_: None, print)
except SticklerError as error:
    print("Error:", error)
print(len(assistant.heard))
"""


def test_a_disk_that_fills_up_in_the_middle_of_a_line_loses_one_chunk(tmp_path):
    """A real limit on the size of files, which tears the journal's last line off."""
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("".join(f"question {n}?\n" for n in range(100)))
    code = FULL_DISK.format(root=str(ROOT), tests=str(Path(__file__).parent))

    def go(limit):
        command = [sys.executable, "-c", code, str(source), str(out), str(limit)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return run.stdout.splitlines()

    told, heard = go(9_999)
    assert "File too large" in told
    assert "the answers so far are kept" in told
    assert not out.exists()
    journal = tmp_path / ".out.jsonl.journal"
    assert journal.stat().st_size == 9_999
    assert not journal.read_bytes().endswith(b"\n")
    whole = journal.read_bytes().count(b"\n") - 1
    note, rest = go(0)
    assert note == f"Resuming: {whole} answers are left from an earlier run."
    assert int(rest) == 100 - whole
    assert int(heard) - whole <= 7
    assert [row["text"] for row in rows_of(out)] == [f"To question {n}?" for n in range(100)]

"""stickler batch, with the real search: its output, its progress and its refusals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval import items
from qa.assistant import Assistant
from qa.resources import Resources
from qa.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = [item.question for item in items.dev()[:16]]


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def batch(stickler, shared_search):
    """Runs the command over the search that the tests share; gives exit code and errors."""

    def run(*arguments):
        code, out, err = stickler("batch", *map(str, arguments))
        assert out == ""
        return code, err

    return run


def test_a_batch_answers_as_ask_does(batch, searcher, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("\n".join(QUESTIONS))
    code, err = batch(source, "-o", tmp_path / "out.jsonl", "--model", "none")
    assert code == 0
    assert err.endswith(f"reused 0, empty lines skipped 0: {tmp_path / 'out.jsonl'}\n")
    assistant = Assistant(Settings(model="none"), Resources(searcher=searcher))
    for row, question in zip(rows_of(tmp_path / "out.jsonl"), QUESTIONS, strict=True):
        alone = json.loads(json.dumps(assistant.ask(question).to_json()))
        for changing in ("id", "timings", "hits", "confidence"):  # scores differ in the last digit
            row.pop(changing), alone.pop(changing)
        assert row == alone


def test_progress_and_counts_are_json_for_programs(batch, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text('question,n\n"what is reach?",1\n"what is reach?",2\n,\nbad,row,cells\n')
    out = tmp_path / "out.csv"
    code, err = batch(source, "-o", out, "--json", "--fields", "id,n,error", "--model", "none")
    events = [json.loads(line) for line in err.splitlines()]
    assert code == 1
    assert {event["event"] for event in events} == {"progress", "end"}
    assert (events[0]["done"], events[0]["total"]) == (2, 3)
    assert (events[-2]["done"], events[-2]["total"]) == (3, 3)
    assert events[-1] == {
        **{"event": "end", "answered": 2, "abstained": 0, "failed": 1, "reused": 1},
        **{"empty": 1, "silent": 0, "cut": 0, "output": str(out)},
    }
    assert out.read_text().splitlines() == [
        "id,n,error",
        "q1,1,",
        "q2,2,",
        "q3,row,The row at line 5 has 3 cells but the header has 2: "
        "put cells that contain a delimiter in quotation marks.",
    ]


def test_standard_input_is_read_and_the_limit_and_the_edition_hold(batch, tmp_path, monkeypatch):
    piped = tmp_path / "piped"
    piped.write_text("id,question\n1,how does trample assign damage?\n2,what is reach?\n")
    with piped.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        code, err = batch(
            *("-", "-o", tmp_path / "out.jsonl", "--limit", 1, "--edition", "2009-10-01"),
            *("--model", "none"),
        )
    assert (code, "Answered 1," in err) == (0, True)
    (row,) = rows_of(tmp_path / "out.jsonl")
    assert (row["id"], row["edition"]) == ("1", "2009-10-01")
    assert {path.name for path in tmp_path.iterdir()} == {"piped", "out.jsonl"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-file.txt", "-o", "x.csv"], 1),
        ([".", "-o", "x.csv", "--format", "text"], 1),
        (["README.md", "-o", "x.csv"], 1),
        (["README.md", "-o", "x.doc", "--format", "text"], 1),
        (["README.md", "-o", "x.csv", "--format", "doc"], 1),
        (["README.md", "-o", "x.csv", "--format", "text", "--edition", "1999-01-01"], 1),
        (["README.md", "-o", "x.csv", "--format", "text", "--address", "auto"], 1),
        (["README.md", "-o", "x.csv", "--format", "text", "--fields", "nope"], 1),
        (["README.md"], 2),
        (["-o", "x.csv"], 2),
        (["README.md", "-o", "x.csv", "--limit", "0"], 2),
        (["README.md", "-o", "x.csv", "--engine", "steam"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_one_sentence(arguments, code, batch, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("why?\n")
    ended, err = batch(*arguments)
    assert ended == code
    if code == 1:
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert "Stickler failed" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.slow
def test_a_killed_batch_resumes_with_the_same_command(tmp_path, built_home):
    """The command itself, killed the hard way after its first chunk, here of 16 questions."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    journal = tmp_path / ".out.jsonl.journal"
    asked = [item.question for item in items.train()[:40]]
    source.write_text("".join(json.dumps({"question": q}) + "\n" for q in asked))
    small = "from qa.batch import engines; engines._CHUNK_WITHOUT_MODEL = 16"
    code = f"{small}; from cli.main import main; main()"
    command = [sys.executable, "-c", code, "batch", str(source), "-o", str(out)]
    where = {
        "cwd": ROOT,
        "env": {**os.environ, "STICKLER_HOME": str(built_home), "OMP_NUM_THREADS": "1"},
        "stderr": subprocess.PIPE,
    }
    first = subprocess.Popen([*command, "--model", "none"], **where)
    try:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and first.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > 1:
                break
            time.sleep(0.02)
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    assert first.returncode == -signal.SIGKILL
    assert not out.exists()
    kept = [json.loads(line)["answer"] for line in journal.read_text("utf-8").splitlines()[1:]]
    assert 0 < len(kept) < len(asked)
    again = subprocess.run([*command, "--model", "none"], timeout=300, **where)
    assert f"Resuming: {len(kept)} answers" in again.stderr.decode()
    rows = rows_of(out)
    assert [row["question"] for row in rows] == asked
    # Their timings are those of the first run: they were not asked again.
    timings = {row["question"]: row["timings"] for row in rows}
    assert all(timings[answer["question"]] == answer["timings"] for answer in kept)
    assert not journal.exists()

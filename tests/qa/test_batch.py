"""Every row of the input has its row in the output, whatever happens in between."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import cli
from eval import items
from index.errors import SticklerError
from qa import batch, batch_command
from qa.answer import Answer, Assistant
from qa.batch import Here, Job, run
from qa.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


class Asked:
    """Stands in for an assistant where only the way of the rows matters; it notes what it hears."""

    settings = Settings(model="none")

    def __init__(self, fails=(), stop_after=None):
        self.fails, self.stop_after = fails, stop_after
        self.calls = []

    def ask_many(self, questions, ids=(), masked=()):
        if self.stop_after is not None and len(self.calls) >= self.stop_after:
            raise KeyboardInterrupt
        if bad := [q for q in questions if any(f in q for f in self.fails)]:
            raise SticklerError(f"'{bad[0]}' cannot be answered.")
        self.calls.append(list(questions))
        return [
            Answer(q, "current", "0", id="other", text=f"To {q}", abstained="who" in q)
            for q in questions
        ]

    @property
    def heard(self):
        return [question for call in self.calls for question in call]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Runs a batch over a stand-in; gives its counts, what was noted and the output's rows."""
    monkeypatch.setattr(batch, "made_with", lambda assistant: {"settings": "1"})

    def do(assistant, source, out="out.jsonl", chunk=2, **options):
        engine = Here(assistant)
        engine.chunk = chunk
        notes = []
        job = Job(str(source), tmp_path / out, **options)
        counts = run(job, engine, lambda done, total: None, notes.append)
        return counts, notes, (tmp_path / out)

    return do


@pytest.fixture
def five(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("one?\ntwo?\n\nthree?\nfour?\nfive?\n")
    return path


def rows_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_row_gives_one_row_in_order_also_where_it_failed(work, tmp_path):
    lines = [
        {"id": "a", "question": "one?", "n": 1},
        {"id": "b", "question": "bad two?"},
        {"id": "c", "question": ""},
        {"id": "d", "question": "x" * 5000},
        {"id": "e", "question": "nul \0?"},
        {"id": "f", "question": "half \ud800?"},
        {"id": "g", "question": "who?"},
    ]
    source = tmp_path / "in.jsonl"
    text = "\n".join(map(json.dumps, lines))
    source.write_text(f"{text}\n{{broken\n\nnull\n")
    counts, _, out = work(Asked(fails=["bad"]), source, chunk=4)
    rows = rows_of(out)
    assert [row["id"] for row in rows] == [*"abcdefg", "q8", "q9"]
    assert [row["question"] for row in rows[:7]] == [line["question"] for line in lines]
    assert (rows[0]["text"], rows[0]["input"]) == ("To one?", {"n": 1})
    assert [row.get("error") for row in rows] == [
        None,
        "'bad two?' cannot be answered.",
        "The question is empty: ask something.",
        "The question has 5000 characters: ask in at most 4000.",
        "The question holds a NUL character: take it out.",
        "The question holds half a character (a lone surrogate): take it out.",
        None,
        "Line 8 is not valid JSON (Expecting property name enclosed in double quotes): mend it.",
        "What is at line 10 is neither an object nor a question in quotes.",
    ]
    assert (counts.answered, counts.abstained, counts.failed, counts.empty) == (1, 1, 7, 1)


def test_where_a_chunk_fails_only_the_failing_row_does(work, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{'bad' if n == 11 else 'good'} {n}?\n" for n in range(32)))
    counts, _, out = work(Asked(fails=["bad"]), source, chunk=32)
    assert [row["id"] for row in rows_of(out) if "error" in row] == ["q12"]
    assert counts.answered == 31


def test_a_failure_that_nobody_foresaw_is_told_in_its_row(work, five, monkeypatch):
    assistant = Asked()

    def broken(questions, ids=(), masked=()):
        raise IndexError("list index out of range")

    assistant.ask_many = broken
    counts, _, out = work(assistant, five)
    errors = {row["error"] for row in rows_of(out)}
    assert errors == {"Stickler failed (IndexError: list index out of range)."}
    assert counts.failed == 5


def test_the_same_question_is_answered_once_and_each_row_keeps_its_id(work, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("id,question,n\n1,same?,a\n2,other?,b\n3, same? ,c\n4,same?,d\n5,other?,e\n")
    assistant = Asked()
    counts, _, out = work(assistant, source, chunk=1)
    assert assistant.heard == ["same?", "other?"]
    rows = rows_of(out)
    assert [(r["id"], r["text"], r["input"]["n"]) for r in rows] == [
        ("1", "To same?", "a"),
        ("2", "To other?", "b"),
        ("3", "To same?", "c"),
        ("4", "To same?", "d"),
        ("5", "To other?", "e"),
    ]
    assert (counts.answered, counts.reused) == (5, 3)


def test_interrupted_it_goes_on_and_asks_nothing_twice(work, five, tmp_path):
    first = Asked(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        work(first, five)
    assert first.heard == ["one?", "two?", "three?", "four?"]
    assert not (tmp_path / "out.jsonl").exists()
    assert (tmp_path / ".out.jsonl.journal").exists()
    second = Asked()
    counts, notes, out = work(second, five)
    assert second.heard == ["five?"]
    assert notes == ["Going on: 4 answers are there from the run before."]
    assert [row["text"] for row in rows_of(out)] == [
        *("To one?", "To two?", "To three?", "To four?", "To five?"),
    ]
    assert counts.answered == 5
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "out.jsonl"}


def test_what_failed_before_the_interruption_is_asked_again(work, five):
    with pytest.raises(KeyboardInterrupt):
        work(Asked(fails=["one"], stop_after=1), five)
    second = Asked()
    counts, _, _ = work(second, five)
    assert "one?" in second.heard
    assert "two?" not in second.heard
    assert counts.failed == 0


def test_other_settings_or_questions_need_a_restart(work, five, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        work(Asked(stop_after=1), five)
    with five.open("a") as file:
        file.write("six?\n")
    with pytest.raises(SticklerError, match=r"\(questions\).*--restart"):
        work(Asked(), five)
    monkeypatch.setattr(batch, "made_with", lambda assistant: {"settings": "2"})
    with pytest.raises(SticklerError, match=r"\(settings, questions\)"):
        work(Asked(), five)
    again = Asked()
    counts, _, _ = work(again, five, restart=True)
    assert (len(again.heard), counts.answered) == (6, 6)


def test_an_older_output_stays_until_the_new_one_is_whole(work, five, tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        work(Asked(stop_after=1), five)
    assert (tmp_path / "out.jsonl").read_text() == "old"
    work(Asked(), five)
    assert len(rows_of(tmp_path / "out.jsonl")) == 5


def test_a_failed_writing_keeps_the_answers(work, five, tmp_path, monkeypatch):
    def full(path, results, layout):
        path.write_text("half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setitem(batch.writers.WRITERS, "jsonl", full)
        with pytest.raises(SticklerError, match="No space left on device"):
            work(Asked(), five)
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", ".out.jsonl.journal"}
    again = Asked()
    work(again, five)
    assert again.heard == []


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path[:0] = [{root!r}, {tests!r}]
from test_batch import Asked
from qa import batch
batch.made_with = lambda assistant: {{"settings": "1"}}
if sys.argv[3] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
assistant = Asked()
engine = batch.Here(assistant)
engine.chunk = 7
try:
    batch.run(batch.Job(sys.argv[1], Path(sys.argv[2])), engine, lambda *_: None, print)
except batch.SticklerError as error:
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
    assert "what was answered so far is kept" in told
    assert not out.exists()
    journal = tmp_path / ".out.jsonl.journal"
    assert journal.stat().st_size == 9_999
    assert not journal.read_bytes().endswith(b"\n")
    whole = journal.read_bytes().count(b"\n") - 1
    note, rest = go(0)
    assert note == f"Going on: {whole} answers are there from the run before."
    assert int(rest) == 100 - whole
    assert int(heard) - whole <= 7
    assert [row["text"] for row in rows_of(out)] == [f"To question {n}?" for n in range(100)]


@pytest.mark.parametrize("name", ["in.csv", "./in.csv", "symbolic.csv", "hard.csv", "sub/in.csv"])
def test_the_answers_never_overwrite_the_questions(work, tmp_path, monkeypatch, name):
    source = tmp_path / "in.csv"
    source.write_text("question\nwhy?\n")
    (tmp_path / "symbolic.csv").symlink_to(source)
    (tmp_path / "hard.csv").hardlink_to(source)
    (tmp_path / "sub").symlink_to(tmp_path)
    with pytest.raises(SticklerError, match="would overwrite the questions"):
        work(Asked(), source, out=name)
    with pytest.raises(SticklerError, match="would overwrite the questions"):
        work(Asked(), tmp_path / name, out="in.csv")
    assert source.read_text() == "question\nwhy?\n"


def test_an_output_that_cannot_be_is_refused_before_anything_is_asked(work, five, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assistant = Asked()
    for name, sentence in [
        ("out.doc", "says no format"),
        ("out", "says no format"),
        ("folder.csv", "is no file"),
        ("nowhere/out.csv", "There is no folder"),
    ]:
        with pytest.raises(SticklerError, match=sentence):
            work(assistant, five, out=name)
    with pytest.raises(SticklerError, match="There is no field 'nope'"):
        work(assistant, five, fields="nope")
    assert assistant.calls == []
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "folder.csv"}


def test_two_runs_do_not_write_the_same_output(work, five, tmp_path):
    assistant = Asked()
    inner = assistant.ask_many
    seen = []

    def second(questions, ids=(), masked=()):
        with pytest.raises(SticklerError, match="Another run is writing"):
            work(Asked(), five)
        seen.append(questions)
        return inner(questions)

    assistant.ask_many = second
    work(assistant, five)
    assert len(seen) == 3


def test_questions_that_change_while_they_are_answered_are_noticed(work, five):
    assistant = Asked()
    inner = assistant.ask_many

    def meddling(questions, ids=(), masked=()):
        with five.open("a") as file:
            file.write("another?\n")
        return inner(questions)

    assistant.ask_many = meddling
    with pytest.raises(SticklerError, match="was changed while"):
        work(assistant, five)


def test_a_question_of_ten_megabytes_fails_alone(work, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text(f"first?\n{'x' * 10_000_000}\nlast?\n")
    for out in ("out.jsonl", "out.csv", "out.parquet", "out.xlsx", "out.md"):
        counts, _, path = work(Asked(), source, out=out)
        assert (counts.answered, counts.failed) == (2, 1)
        assert path.exists()
    (_, failed, _) = rows_of(tmp_path / "out.jsonl")
    assert failed["error"] == "The question has 10000000 characters: ask in at most 4000."


def test_the_output_of_one_batch_is_the_input_of_another(work, five):
    _, _, first = work(Asked(), five)
    _, _, again = work(Asked(), first, out="again.jsonl")
    assert [(r["id"], r["question"], r["text"]) for r in rows_of(again)] == [
        (r["id"], r["question"], r["text"]) for r in rows_of(first)
    ]


def test_memory_does_not_grow_with_the_file(work, tmp_path):
    def peak(count):
        source = tmp_path / f"{count}.csv"
        lines = (f'{n},"question {n} {"long " * 20}?","{"carried " * 10}"\n' for n in range(count))
        source.write_text("id,question,other\n" + "".join(lines))
        tracemalloc.start()
        try:
            work(Quiet(), source, out=f"{count}.jsonl", chunk=50)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(4_000)  # what is loaded and kept once, on first use, is not the file's
    assert peak(4_000) < 1.2 * peak(400)


class Quiet(Asked):
    """As `Asked`, remembering nothing."""

    def ask_many(self, questions, ids=(), masked=()):
        return [Answer(q, "current", "0", text="x" * 1000) for q in questions]


# The command, with the real search.

PLAYERS = [item.question for item in items.players()[:40]]


@pytest.fixture
def stickler(monkeypatch, capsys, searcher, built_home):
    """Runs the command in this process over the search that the tests share."""
    monkeypatch.setenv("STICKLER_HOME", str(built_home))

    def engine(name, settings, address, workers):
        from contextlib import nullcontext

        return nullcontext(Here(Assistant(settings, searcher)))

    def go(*arguments):
        monkeypatch.setattr(sys, "argv", ["stickler", "batch", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        assert out == ""
        return end.value.code or 0, err

    monkeypatch.setattr(batch_command, "_engine", engine)
    return go


def test_a_batch_answers_as_ask_does(stickler, searcher, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("\n".join(PLAYERS))
    code, err = stickler(source, "-o", tmp_path / "out.jsonl", "--model", "none")
    assert code == 0
    assert err.endswith(f"reused 0, empty lines skipped 0: {tmp_path / 'out.jsonl'}\n")
    assistant = Assistant(Settings(model="none"), searcher)
    for row, question in zip(rows_of(tmp_path / "out.jsonl"), PLAYERS, strict=True):
        alone = json.loads(json.dumps(assistant.ask(question).to_json()))
        for changing in ("id", "timings", "hits", "confidence"):  # scores differ in the last digit
            row.pop(changing), alone.pop(changing)
        assert row == alone


def test_progress_and_counts_are_json_for_programs(stickler, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text('question,n\n"what is reach?",1\n"what is reach?",2\n,\nbad,row,cells\n')
    out = tmp_path / "out.csv"
    code, err = stickler(source, "-o", out, "--json", "--fields", "id,n,error", "--model", "none")
    events = [json.loads(line) for line in err.splitlines()]
    assert code == 1
    assert {event["event"] for event in events} == {"progress", "end"}
    assert (events[0]["done"], events[0]["total"]) == (2, 3)
    assert (events[-2]["done"], events[-2]["total"]) == (3, 3)
    assert events[-1] == {
        **{"event": "end", "answered": 2, "abstained": 0, "failed": 1, "reused": 1},
        **{"empty": 1, "silent": 0, "output": str(out)},
    }
    assert out.read_text().splitlines() == [
        "id,n,error",
        "q1,1,",
        "q2,2,",
        "q3,row,The row at line 5 has 3 cells where the header names 2: "
        "quote a cell that holds a delimiter.",
    ]


def test_standard_input_is_read_and_the_limit_and_the_edition_hold(stickler, tmp_path, monkeypatch):
    piped = tmp_path / "piped"
    piped.write_text("id,question\n1,how does trample assign damage?\n2,what is reach?\n")
    with piped.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        code, err = stickler(
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
def test_what_cannot_be_done_is_one_sentence(arguments, code, stickler, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("why?\n")
    ended, err = stickler(*arguments)
    assert ended == code
    if code == 1:
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert "Stickler failed" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_killed_at_once_the_same_command_goes_on(tmp_path, built_home):
    """The command itself, killed the hard way after its first chunk."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    journal = tmp_path / ".out.jsonl.journal"
    asked = [item.question for item in items.practice()[:300]]
    source.write_text("".join(json.dumps({"question": q}) + "\n" for q in asked))
    command = [sys.executable, "-m", "cli", "batch", str(source), "-o", str(out)]
    where = {
        "cwd": ROOT,
        "env": {**os.environ, "STICKLER_HOME": str(built_home), "OMP_NUM_THREADS": "1"},
        "stderr": subprocess.PIPE,
    }
    first = subprocess.Popen([*command, "--model", "none"], **where)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and first.poll() is None:
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
    again = subprocess.run([*command, "--model", "none"], timeout=120, **where)
    assert f"Going on: {len(kept)} answers" in again.stderr.decode()
    rows = rows_of(out)
    assert [row["question"] for row in rows] == asked
    # Their timings are those of the first run: they were not asked again.
    timings = {row["question"]: row["timings"] for row in rows}
    assert all(timings[answer["question"]] == answer["timings"] for answer in kept)
    assert not journal.exists()

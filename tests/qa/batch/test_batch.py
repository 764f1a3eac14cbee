"""Every row of the input has its row in the output, whatever happens in between."""

import json
import tracemalloc

import pytest
from batches import FakeAssistant, rows_of

from index.errors import SticklerError
from qa.answer import Answer


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
    counts, _, out = work(FakeAssistant(fails=["bad"]), source, chunk=4)
    rows = rows_of(out)
    assert [row["id"] for row in rows] == [*"abcdefg", "q8", "q9"]
    assert [row["question"] for row in rows[:7]] == [line["question"] for line in lines]
    assert (rows[0]["text"], rows[0]["input"]) == ("To one?", {"n": 1})
    assert [row.get("error") for row in rows] == [
        None,
        "'bad two?' cannot be answered.",
        "The question is empty: ask something.",
        "The question has 5000 characters: ask in at most 4000.",
        "The question contains a NUL character: remove it.",
        "The question contains half a character (a lone surrogate): remove it.",
        None,
        "Line 8 is not valid JSON (Expecting property name enclosed in double quotes): correct it.",
        "What is at line 10 is neither an object nor a question in quotes.",
    ]
    assert (counts.answered, counts.abstained, counts.failed, counts.empty) == (1, 1, 7, 1)


def test_where_a_chunk_fails_only_the_failing_row_does(work, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{'bad' if n == 11 else 'good'} {n}?\n" for n in range(32)))
    counts, _, out = work(FakeAssistant(fails=["bad"]), source, chunk=32)
    assert [row["id"] for row in rows_of(out) if "error" in row] == ["q12"]
    assert counts.answered == 31


def test_a_failure_that_nobody_foresaw_is_told_in_its_row(work, five, monkeypatch):
    assistant = FakeAssistant()

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
    assistant = FakeAssistant()
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


@pytest.mark.parametrize("name", ["in.csv", "./in.csv", "symbolic.csv", "hard.csv", "sub/in.csv"])
def test_the_answers_never_overwrite_the_questions(work, tmp_path, monkeypatch, name):
    source = tmp_path / "in.csv"
    source.write_text("question\nwhy?\n")
    (tmp_path / "symbolic.csv").symlink_to(source)
    (tmp_path / "hard.csv").hardlink_to(source)
    (tmp_path / "sub").symlink_to(tmp_path)
    with pytest.raises(SticklerError, match="would overwrite the questions"):
        work(FakeAssistant(), source, out=name)
    with pytest.raises(SticklerError, match="would overwrite the questions"):
        work(FakeAssistant(), tmp_path / name, out="in.csv")
    assert source.read_text() == "question\nwhy?\n"


def test_an_output_that_cannot_be_is_refused_before_anything_is_asked(work, five, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assistant = FakeAssistant()
    for name, sentence in [
        ("out.doc", "cannot be written to .*out.doc: choose a name that ends in"),
        ("out", "cannot be written to .*out: choose a name that ends in"),
        ("folder.csv", "is not a file"),
        ("nowhere/out.csv", "There is no folder"),
    ]:
        with pytest.raises(SticklerError, match=sentence):
            work(assistant, five, out=name)
    with pytest.raises(SticklerError, match="There is no field 'nope'"):
        work(assistant, five, fields="nope")
    assert assistant.calls == []
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "folder.csv"}


def test_two_runs_do_not_write_the_same_output(work, five, tmp_path):
    assistant = FakeAssistant()
    inner = assistant.ask_many
    seen = []

    def second(questions, ids=(), masked=()):
        with pytest.raises(SticklerError, match="Another run is writing"):
            work(FakeAssistant(), five)
        seen.append(questions)
        return inner(questions)

    assistant.ask_many = second
    work(assistant, five)
    assert len(seen) == 3


def test_questions_that_change_while_they_are_answered_are_noticed(work, five):
    assistant = FakeAssistant()
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
        counts, _, path = work(FakeAssistant(), source, out=out)
        assert (counts.answered, counts.failed) == (2, 1)
        assert path.exists()
    (_, failed, _) = rows_of(tmp_path / "out.jsonl")
    assert failed["error"] == "The question has 10000000 characters: ask in at most 4000."


def test_the_output_of_one_batch_is_the_input_of_another(work, five):
    _, _, first = work(FakeAssistant(), five)
    _, _, again = work(FakeAssistant(), first, out="again.jsonl")
    assert [(r["id"], r["question"], r["text"]) for r in rows_of(again)] == [
        (r["id"], r["question"], r["text"]) for r in rows_of(first)
    ]


@pytest.mark.slow
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

    peak(2_000)  # what is loaded and kept once, on first use, is not the file's
    assert peak(2_000) < 1.2 * peak(400)


class Quiet(FakeAssistant):
    """As `FakeAssistant`, remembering nothing."""

    def ask_many(self, questions, ids=(), masked=()):
        return [Answer(q, "current", "0", text="x" * 1000) for q in questions]

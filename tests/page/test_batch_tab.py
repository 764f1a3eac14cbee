"""A file of questions on the page: looked at, answered in turns, stopped, gone on with."""

import contextlib
import csv
import json
import threading

import openpyxl
import pytest
from slow import Slow

from eval import items
from index.errors import SticklerError
from page import batching, folders, preview
from page.folders import Folders
from page.service import Service
from page.background_jobs import Stopped
from qa.batch.run import Counts
from qa.journal import Outcome
from qa.models import NONE
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
MULLIGAN = "how many cards do I draw after a mulligan?"
QUIET = Settings(model=NONE)


@pytest.fixture
def service(searcher):
    return Service(QUIET, searcher=searcher)


@pytest.fixture
def upload(tmp_path):
    """Forty questions of players, with a number each."""
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["nr", "question"])
        table.writerows((n, item.question) for n, item in enumerate(items.dev()[:40]))
    return path


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def asked(monkeypatch):
    """Every question that is really asked."""
    seen = []

    def answered(assistant, chunk, real=batching.answered):
        seen.extend(chunk)
        return real(assistant, chunk)

    monkeypatch.setattr(batching, "answered", answered)
    return seen


def begun(service, upload, work, ending=".csv", column=None, settings=QUIET):
    engine = batching.QueuedEngine(service, settings, threading.Event())
    return engine, batching.answer(engine, upload, column, ending, work)


def test_a_file_tells_its_column_and_how_many_it_holds(upload):
    assert batching.look(upload) == batching.Look(["nr", "question"], "question", 40)


def test_a_file_whose_column_is_not_clear_leaves_the_choice(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("first,second\nwhat is trample?,hm\n", encoding="utf-8")
    assert batching.look(path) == batching.Look(["first", "second"], None, 1)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.csv", b"question\n\n", "empty.csv holds no questions"),
        ("bad.parquet", b"PAR1 this is none", "bad.parquet cannot be read as"),
        ("bad.xlsx", b"not a workbook", "bad.xlsx cannot be read as"),
        ("page.html", b"<p>", "page.html says no format"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_without_its_place(
    name, content, told, tmp_path
):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SticklerError, match=told) as caught:
        batching.look(path)
    assert str(tmp_path) not in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_file_of_too_many_questions_is_sent_to_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(batching, "MOST_QUESTIONS", 3)
    path = tmp_path / "x.txt"
    path.write_text("a?\nb?\nc?\nd?\n", encoding="utf-8")
    with pytest.raises(SticklerError, match="stickler batch"):
        batching.look(path)


def test_answers_come_in_the_files_order_with_what_the_rows_carried(service, upload, work):
    _, steps = begun(service, upload, work)
    *_, last = steps
    assert last.result.counts.answered + last.result.counts.abstained == 40
    assert last.result.out.name == "mine-answers.csv"
    with last.result.out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["nr"] for row in rows] == [str(n) for n in range(40)]
    assert rows[0]["citations"].startswith("506.4b")


def test_what_was_stopped_goes_on_and_asks_nothing_twice(service, upload, work, asked):
    engine, steps = begun(service, upload, work)
    engine.tell = lambda done, total: engine.stop.set() if done else None
    with pytest.raises(Stopped):
        list(steps)
    assert len(asked) == engine.chunk
    _, steps = begun(service, upload, work, ".xlsx")  # in another format, too
    *_, last = steps
    assert len(asked) == len(set(asked)) == 40
    sheet = openpyxl.load_workbook(last.result.out).active
    assert sheet.max_row == 41
    *_, last = begun(service, upload, work, ".jsonl")[1]  # and after the end
    assert len(asked) == 40
    lines = last.result.out.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["input"]["nr"] for line in lines] == [str(n) for n in range(40)]


def test_other_settings_ask_anew(service, upload, work, asked):
    for edition in ("current", "2009-10-01"):
        settings = Settings(model=NONE, edition=edition)
        list(begun(service, upload, work, settings=settings)[1])
    assert len(asked) == 80


def test_whoever_asks_has_a_turn_between_two_chunks(searcher, upload, work):
    order, first, waiting = [], threading.Event(), threading.Event()

    class Noting(Slow):
        def generate(self, prompts, limit):
            order.append("chunk")
            first.set()
            assert waiting.wait(20)
            return super().generate(prompts, limit)

        def stream(self, prompt, limit, stop):
            order.append("question")
            yield "Yes."

    model = Noting()
    settings = Settings(model="noting", show_generated=True)
    service = Service(settings, load=lambda name: model, searcher=searcher)
    engine, steps = begun(service, upload, work, settings=settings)

    def batch():
        with contextlib.suppress(Stopped):
            list(steps)

    rest = threading.Thread(target=batch)
    rest.start()
    assert first.wait(20)
    for part in service.ask(FLYER, [], settings, threading.Event()):
        if "being answered before yours" in str(part):
            waiting.set()
    engine.stop.set()
    with_question = order.index("question")
    rest.join(20)
    assert order[:with_question] == ["chunk"]


def test_a_file_that_is_gone_is_asked_for_again(service, upload, work):
    upload.unlink()
    with pytest.raises(SticklerError, match="choose it again"):
        next(begun(service, upload, work)[1])


def test_a_column_that_is_not_there_is_told_without_places(service, upload, work):
    with pytest.raises(SticklerError, match=r"mine\.csv has no column 'x'") as caught:
        list(begun(service, upload, work, column="x")[1])
    assert str(work) not in str(caught.value)
    assert "--column" not in str(caught.value)


def test_a_list_is_answered_row_by_row_and_a_wrong_row_carries_its_error(service):
    rows = batching.listed(service, [FLYER, " ", FLYER, "702.19b"], QUIET, threading.Event())
    assert [row["id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert "error" in rows[1]
    assert rows[0]["citations"][0]["number"] == "702.17b"
    assert rows[2]["citations"] == rows[0]["citations"]
    assert rows[3]["citations"][0]["number"] == "702.19b"


def test_each_visitor_has_a_folder_that_nobody_can_guess(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    own = Folders()
    with own.used("me") as mine, own.used("you") as yours:
        assert mine != yours
        assert mine.parent == tmp_path
        assert len(mine.name) > 32
        assert mine.stat().st_mode & 0o077 == 0
        with pytest.raises(SticklerError, match="already"), own.used("me"):
            pass
        own.leave("me")
        assert mine.exists()  # until what is done there has ended
    assert not mine.exists()
    assert yours.exists()
    own.leave("you")
    assert not list(tmp_path.glob("work-*"))


def test_a_folder_that_is_long_unused_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    own = Folders()
    with own.used("me") as mine:
        pass
    monkeypatch.setattr(folders, "KEPT", -1.0)
    with own.used("you"):
        assert not mine.exists()


def test_a_refusal_in_a_batch_speaks_of_the_page_too(service):
    (row,) = batching.listed(service, [MULLIGAN], QUIET, threading.Event())
    assert "section 103, which is not loaded. Add the full rules in the tab Rules" in row["text"]
    assert "stickler " not in row["text"]


def test_how_a_batch_ended_says_what_a_reader_should_know():
    plain = preview.ended(Counts(answered=3, abstained=1))
    assert "Done: 3 answered, 1 not settled by the rules." in plain
    assert "alone" not in plain
    assert "cell" not in plain
    told = preview.ended(Counts(answered=3, silent=2, cut=1))
    assert "2 are the rules alone: the language model failed." in told
    assert "1 cell is longer than a spreadsheet holds, cut off and marked so" in told


def test_questions_are_shown_as_text(book):
    hostile = "<img src=x onerror=alert(1)>"
    failed = [Outcome(hostile, None, hostile)]
    shown = preview.preview(failed, 1, book.edition("current"))
    assert "<img" not in shown
    assert shown.count("&lt;img") == 2

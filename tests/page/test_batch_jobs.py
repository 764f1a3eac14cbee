"""A file of questions on the page: inspected, answered in turns, stopped and resumed."""

import contextlib
import csv
import json
import threading

import openpyxl
import pytest
from fakes import OrderedModel

from eval import items
from index.errors import SticklerError
from page import batch_jobs
from page.background_jobs import Stopped
from page.batch_jobs import FileSummary, QueuedEngine, answer_file, answer_list, inspect_file
from page.remedies import phrase
from page.service import Service
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

FLYER = "Can a creature with reach block my flyer?"
NO_MODEL = Settings(model=NONE)


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

    def answered(assistant, chunk, real=batch_jobs.answered):
        seen.extend(chunk)
        return real(assistant, chunk)

    monkeypatch.setattr(batch_jobs, "answered", answered)
    return seen


def start(service, upload, work, ending=".csv", column=None, settings=NO_MODEL):
    engine = QueuedEngine(service, settings, threading.Event())
    return engine, answer_file(engine, upload, column, ending, work)


def test_a_summary_has_the_column_and_how_many_questions_there_are(upload):
    assert inspect_file(upload) == FileSummary(["nr", "question"], "question", 40)


def test_a_file_whose_column_is_not_clear_leaves_the_choice(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("first,second\nwhat is trample?,hm\n", encoding="utf-8")
    assert inspect_file(path) == FileSummary(["first", "second"], None, 1)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.csv", b"question\n\n", "empty.csv contains no questions"),
        ("bad.parquet", b"PAR1 this is none", "bad.parquet cannot be read as"),
        ("bad.xlsx", b"not a workbook", "bad.xlsx cannot be read as"),
        ("page.html", b"<p>", "from page.html .its ending is not a known format"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_without_its_place(name, content, why, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SticklerError, match=why) as caught:
        inspect_file(path)
    shown = caught.value.sentence(phrase)
    assert str(tmp_path) not in shown
    assert "--" not in shown


def test_a_file_of_too_many_questions_is_sent_to_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(batch_jobs, "MAX_QUESTIONS", 3)
    path = tmp_path / "x.txt"
    path.write_text("a?\nb?\nc?\nd?\n", encoding="utf-8")
    with pytest.raises(SticklerError, match="stickler batch"):
        inspect_file(path)


def test_answers_come_in_the_files_order_with_what_the_rows_carried(service, upload, work):
    _, steps = start(service, upload, work)
    *_, last = steps
    assert last.result.counts.answered + last.result.counts.abstained == 40
    assert last.result.out.name == "mine-answers.csv"
    with last.result.out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["nr"] for row in rows] == [str(n) for n in range(40)]
    assert rows[0]["citations"].startswith("506.4b")


def test_a_batch_that_was_stopped_resumes_and_asks_nothing_twice(service, upload, work, asked):
    engine, steps = start(service, upload, work)
    engine.report = lambda done, total: engine.stop.set() if done else None
    with pytest.raises(Stopped):
        list(steps)
    assert len(asked) == engine.chunk
    _, steps = start(service, upload, work, ".xlsx")  # in another format, too
    *_, last = steps
    assert len(asked) == len(set(asked)) == 40
    sheet = openpyxl.load_workbook(last.result.out).active
    assert sheet.max_row == 41
    *_, last = start(service, upload, work, ".jsonl")[1]  # and after the end
    assert len(asked) == 40
    lines = last.result.out.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["input"]["nr"] for line in lines] == [str(n) for n in range(40)]


def test_other_settings_ask_again(service, upload, work, asked):
    for edition in ("current", "2009-10-01"):
        settings = Settings(model=NONE, edition=edition)
        list(start(service, upload, work, settings=settings)[1])
    assert len(asked) == 80


def test_whoever_asks_has_a_turn_between_two_chunks(searcher, upload, work):
    model = OrderedModel()
    settings = Settings(model="ordered", show_generated=True)
    service = Service(settings, resources=Resources(searcher=searcher, load_model=lambda _: model))
    engine, steps = start(service, upload, work, settings=settings)

    def batch():
        with contextlib.suppress(Stopped):
            list(steps)

    rest = threading.Thread(target=batch)
    rest.start()
    assert model.started.wait(20)
    for part in service.ask(FLYER, [], settings, threading.Event()):
        if "being answered before yours" in str(part):
            model.may_go.set()
    engine.stop.set()
    rest.join(20)
    assert model.order.index("question") == 1  # after one chunk


def test_a_file_that_is_gone_is_asked_for_again(service, upload, work):
    upload.unlink()
    with pytest.raises(SticklerError, match="choose it again"):
        next(start(service, upload, work)[1])


def test_a_column_that_is_not_there_is_an_error_without_folders(service, upload, work):
    with pytest.raises(SticklerError, match=r"mine\.csv has no column 'x'") as caught:
        list(start(service, upload, work, column="x")[1])
    shown = caught.value.sentence(phrase)
    assert str(work) not in shown
    assert shown.endswith(": choose the one with the questions.")


def test_a_list_is_answered_row_by_row_and_a_wrong_row_carries_its_error(service):
    rows = answer_list(service, [FLYER, " ", FLYER, "702.19b"], NO_MODEL, threading.Event())
    assert [row["id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert "error" in rows[1]
    assert rows[0]["citations"][0]["number"] == "702.17b"
    assert rows[2]["citations"] == rows[0]["citations"]
    assert rows[3]["citations"][0]["number"] == "702.19b"

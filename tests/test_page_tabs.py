"""The tabs Batch and Evaluate as people use them, and the endpoint for a list of questions."""

import csv
import json
import os
import threading
import time
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from playwright.sync_api import Page, expect
from visitor import PHONE, REACH, grave, opened

from eval import check, items
from eval.examiner import Examiner
from eval.run import open_run
from index import library
from page import batch_jobs
from page.middleware import MAX_UPLOAD

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]
QUESTIONS = [item.question for item in items.dev()[:64]]
WIDE = "[document.documentElement.scrollWidth, window.innerWidth]"


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """Questions in the second of three columns."""
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["nr", "what was asked", "who"])
        table.writerows((n, text, "=me") for n, text in enumerate(QUESTIONS))
    return path


class Chunks:
    """Lets so many chunks of a batch be answered, and counts what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.free = threading.Semaphore(0)

    def allow(self, count: int) -> None:
        self.free.release(count)


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> Chunks:
    counted = Chunks()

    def answered(assistant, chunk, real=batch_jobs.answered):
        assert counted.free.acquire(timeout=20)
        counted.asked.extend(chunk)
        return real(assistant, chunk)

    monkeypatch.setattr(batch_jobs, "answered", answered)
    return counted


def tab(page: Page, url: str, name: str) -> Page:
    opened(page, url).get_by_role("tab", name=name).click()
    return page


def choose(page: Page, path: Path) -> None:
    page.locator("#batch-file input[type=file]").set_input_files(path)


def downloaded(page: Page, name: str) -> Path:
    with page.expect_download() as saved:
        page.get_by_text(f"Download {name}").click()
    assert saved.value.suggested_filename == name
    return Path(saved.value.path())


def test_a_program_has_a_list_of_questions_answered(url):
    client = Client(url, verbose=False)
    rows = client.predict([REACH, "", "702.19b"], api_name="/batch")
    assert [row["id"] for row in rows] == ["q1", "q2", "q3"]
    assert rows[0]["citations"][0]["number"] == "702.17b"
    assert "empty" in rows[1]["error"]
    assert rows[2]["model"] == "book"
    with pytest.raises(AppError, match="send 1 to 100"):
        client.predict(["x"] * 101, api_name="/batch")
    described = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert described["/batch"]["parameters"][0]["parameter_name"] == "questions"


def test_a_file_is_answered_stopped_resumed_and_downloaded(page, url, upload, chunks):
    choose(tab(page, url, "Batch"), upload)
    expect(page.locator("#batch-summary")).to_contain_text("64 questions. Choose the column")
    go = page.get_by_role("button", name="Answer the questions")
    expect(go).to_be_disabled()
    page.get_by_label("Column with the questions").click()
    page.get_by_role("option", name="what was asked").click()
    expect(go).to_be_enabled()
    go.click()
    chunks.allow(2)
    progress = page.locator("#batch-progress")
    expect(progress).to_contain_text("32 of 64")
    expect(page.locator(".preview .question").first).to_have_text(QUESTIONS[0])
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_disabled()
    chunks.allow(1)  # the one that is under way
    expect(progress).to_contain_text("Stopped: 48 of 64 answered; the answers are kept.")
    page.get_by_role("button", name="Resume").click()
    chunks.allow(100)
    expect(progress).to_contain_text("Done:")
    assert sorted(chunks.asked) == sorted(set(QUESTIONS))
    with downloaded(page, "mine-answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["nr"], row["question"]) for row in rows] == [
        (str(n), text) for n, text in enumerate(QUESTIONS)
    ]
    assert rows[0]["citations"].startswith("506.4b")
    assert rows[0]["who"] == "'=me"  # no spreadsheet runs it
    page.get_by_label("JSON lines").check()
    expect(page.get_by_text("Download mine")).to_be_hidden()  # that was another format
    page.get_by_role("button", name="Answer the questions").click()
    lines = downloaded(page, "mine-answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["input"]["nr"] for line in lines] == [str(n) for n in range(64)]
    assert len(chunks.asked) == len(set(QUESTIONS))
    page.locator(".preview a.ref").first.click()
    expect(page.locator(".preview .peek h4")).to_be_visible()


def test_who_leaves_stops_the_batch_and_leaves_no_folder(browser, url, upload, chunks):
    context = browser.new_context()
    left = tab(context.new_page(), url, "Batch")
    upload.write_text("\n".join(QUESTIONS), encoding="utf-8")
    plain = upload.rename(upload.with_suffix(".txt"))
    choose(left, plain)
    left.get_by_role("button", name="Answer the questions").click()
    chunks.allow(1)
    expect(left.locator("#batch-progress")).to_contain_text("16 of 64")
    ours = Path(os.environ["GRADIO_TEMP_DIR"])
    assert list(ours.glob("work-*"))
    context.close()
    chunks.allow(1)
    for _ in range(200):
        if not list(ours.glob("work-*")):
            break
        time.sleep(0.1)
    assert not list(ours.glob("work-*"))
    assert len(chunks.asked) <= 32


def test_a_file_that_cannot_be_used_is_one_sentence_in_the_tab(page, url, tmp_path):
    wrong = tmp_path / "wrong.xlsx"
    wrong.write_bytes(b"no workbook")
    choose(tab(page, url, "Batch"), wrong)
    expect(page.locator("#batch-summary [role=alert]")).to_contain_text("wrong.xlsx cannot be read")
    expect(page.get_by_role("button", name="Answer the questions")).to_be_disabled()
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * (MAX_UPLOAD + 1))
    page.locator("#batch-file").get_by_label("Remove this file").or_(
        page.locator("#batch-file").get_by_label("Clear")
    ).first.click()
    choose(page, large)
    expect(page.get_by_test_id("toast-body")).to_contain_text("maximum")


def test_an_evaluation_shows_figures_a_plot_and_what_went_wrong(page, url, shared_home):
    tab(page, url, "Evaluate")
    published = page.get_by_role("region", name="Published figures").get_by_role("img")
    shown = check.published(library.load())["dev: found first"].value
    expect(published).to_contain_text(f"dev: found first{shown:.2f} of 556")
    count = page.get_by_label("number input for Items to ask")
    count.fill("40")  # enough for some to go wrong
    count.press("Tab")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#evaluate-progress")).to_contain_text("Done: 40 items.", timeout=60_000)
    expect(page.locator(".figures th", has_text="hit@10").first).to_be_visible()
    expect(page.locator(".plots svg").first).to_be_visible()
    page.locator(".wrong summary").first.click()
    found = page.locator(".wrong p", has_text="Found:").first
    expect(found).to_be_visible()
    found.locator("a.ref").first.click()
    expect(page.locator(".wrong .peek h4")).to_be_visible()
    assert page.url == url  # it opened in place
    (run,) = (shared_home / "runs").iterdir()
    assert run.name.endswith("-dev")
    tab(page, url, "Evaluate")  # later, it is opened again
    page.get_by_label("Earlier runs").click()
    page.get_by_role("option", name="dev, 40 items").click()
    expect(page.locator(".figures")).to_be_visible()


def test_an_evaluation_that_is_cancelled_keeps_the_items_done_so_far(
    page, url, shared_home, monkeypatch
):
    free = threading.Semaphore(0)

    def ask(self, items, partners=None, gold=False, real=Examiner.ask):
        assert free.acquire(timeout=20)
        return real(self, items, partners, gold)

    monkeypatch.setattr(Examiner, "ask", ask)
    before = set((shared_home / "runs").glob("*"))
    tab(page, url, "Evaluate")
    page.get_by_role("button", name="Run", exact=True).click()
    free.release(3)
    progress = page.locator("#evaluate-progress")
    expect(progress).to_contain_text("3 of 20")
    cancel = page.get_by_role("button", name="Cancel")
    cancel.click()
    expect(cancel).to_be_disabled()
    free.release(1)  # the one that is under way
    expect(progress).to_contain_text("Stopped after 4 of 20 items; see Earlier runs.")
    expect(cancel).to_be_hidden()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    (folder,) = set((shared_home / "runs").glob("*")) - before
    assert len(open_run(folder).records) == 4
    page.get_by_label("Earlier runs").click()
    page.get_by_role("option", name="dev, 4 items").click()
    expect(page.locator(".figures")).to_be_visible()


def test_both_tabs_are_accessible_and_fit_a_phone(browser, url, upload, chunks):
    chunks.allow(100)
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce")
    page = tab(context.new_page(), url, "Batch")
    assert grave(page) == []
    upload.write_text(upload.read_text(encoding="utf-8").replace("what was asked", "question"))
    choose(page, upload)
    page.get_by_role("button", name="Answer the questions").click()
    expect(page.locator("#batch-progress")).to_contain_text("Done:")
    page.get_by_text("Download mine").wait_for()
    assert grave(page) == []
    assert page.evaluate(WIDE) == [390, 390]
    page.get_by_role("tab", name="Evaluate").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".figures").wait_for(timeout=60_000)
    page.locator(".wrong summary").first.click()
    assert grave(page) == []
    assert page.evaluate(WIDE) == [390, 390]
    context.close()

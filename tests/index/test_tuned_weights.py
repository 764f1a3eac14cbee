"""Tuned weights are laid over the model that they belong to, and over no other."""

import json

import pytest
import torch

from index import files, tuned_weights
from index.embedder import DEFAULT, PLAIN, Embedder
from index.errors import Action, Remedy, SticklerError

BASE = Embedder(PLAIN).folder


def test_the_weights_that_ship_are_those_of_their_card_and_belong_to_the_base():
    path = tuned_weights.FOLDER / "retriever.safetensors"
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["weights"] == files.digest(path)
    assert card["base"] == files.fingerprint(BASE)
    assert tuned_weights.read(path, BASE)


def test_all_tuned_weights_together_stay_small():
    assert sum(path.stat().st_size for path in tuned_weights.FOLDER.iterdir()) <= 50 << 20


def test_tuned_weights_change_the_vectors_and_the_hash(embedder):
    plain = Embedder(PLAIN)
    assert embedder.name == DEFAULT
    assert plain.hash != embedder.hash
    question = ["can I chump block with a tapped creature?"]
    assert abs(plain.encode_questions(question) - embedder.encode_questions(question)).max() > 0.01


def test_weights_that_belong_to_another_base_are_refused(tmp_path):
    other = tmp_path / "base"
    other.mkdir()
    (other / "config.json").write_text("{}")
    path = tmp_path / "retriever.safetensors"
    tuned_weights.write(path, other, {"encoder.layer.0.output.dense.bias": torch.zeros(384)})
    with pytest.raises(SticklerError, match="belong to other base weights") as refusal:
        Embedder(str(path)).model  # noqa: B018
    assert Remedy(Action.TUNE, "retriever") in refusal.value.remedies


@pytest.mark.parametrize("name", ["no.such.part", "encoder.layer.0.output.dense.bias"])
def test_weights_of_another_shape_are_refused(tmp_path, name):
    path = tmp_path / "retriever.safetensors"
    tuned_weights.write(path, BASE, {name: torch.zeros(1, 768)})
    with pytest.raises(SticklerError, match=rf"parts that the model lacks \({name}\)"):
        Embedder(str(path)).model  # noqa: B018


@pytest.mark.parametrize("content", [None, b"", b"no weights at all"])
def test_weights_that_are_missing_or_damaged_are_one_sentence(tmp_path, content):
    path = tmp_path / "retriever.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SticklerError, match="cannot be read") as refusal:
        Embedder(str(path)).model  # noqa: B018
    assert Remedy(Action.TUNE, "retriever") in refusal.value.remedies


def test_weights_too_large_for_one_file_lie_in_two_that_belong_together(tmp_path):
    path = tmp_path / "retriever.safetensors"
    tensors = {f"part{at}": torch.full((1 << 21,), float(at)) for at in range(6)}
    tuned_weights.write(path, BASE, tensors)
    assert max(each.stat().st_size for each in tmp_path.iterdir()) < 15 << 20
    assert {name: each[0].item() for name, each in tuned_weights.read(path, BASE).items()} == {
        name: each[0].item() for name, each in tensors.items()
    }
    tuned_weights.write(tuned_weights.second(path), BASE, {"part5": torch.zeros(1)})
    with pytest.raises(SticklerError, match="is not its second half"):
        tuned_weights.read(path, BASE)

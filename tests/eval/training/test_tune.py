"""The retriever can be tuned, the same every time, and then used."""

import json

import pytest
import torch

from eval.training import data, loop
from eval.training.retriever import Retriever
from index import expansion, shipped_vectors
from index.embedder import Embedder
from qa import out_of_scope


@pytest.mark.slow
def test_a_retriever_is_tuned_and_can_be_used(stickler, tmp_path):
    code, out, err = stickler("tune", "retriever", "--limit", "20", "-o", str(tmp_path))
    assert code == 0, err
    path = tmp_path / "retriever.safetensors"
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["questions"] == 20
    assert set(card["before"]) == set(card["after"])
    assert str(path) in out
    assert "stickler tune vectors" in out  # the vectors that ship belong to one retriever
    assert Embedder(str(path)).encode_questions(["what is trample?"]).shape == (1, 384)


@pytest.mark.slow
def test_training_again_gives_the_same_weights(tmp_path):
    def trained(name):
        task = Retriever(data.load(20), frozen=3)
        loop.train(task, 2, 1e-4, 0, tmp_path / name, "key", lambda done, total: None)
        return loop.trained_weights(task)

    first, second = trained("first"), trained("second")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_vectors_that_ship_can_be_rewritten(stickler, tmp_path, monkeypatch):
    paths = [tmp_path / "expansions.npz", tmp_path / "out_of_scope.npz"]
    monkeypatch.setattr(expansion, "VECTORS", paths[0])
    monkeypatch.setattr(expansion, "_questions", lambda: ["a"])
    monkeypatch.setattr(out_of_scope, "VECTORS", paths[1])
    monkeypatch.setattr(out_of_scope, "_texts", lambda: ["b", "c"])
    code, out, err = stickler("tune", "vectors")
    assert (code, out) == (0, "".join(f"Wrote {path}.\n" for path in paths)), err
    model = Embedder().hash
    assert shipped_vectors.load(paths[1], ["b", "c"], model).shape == (2, 384)
    assert shipped_vectors.load(paths[1], ["b", "d"], model) is None

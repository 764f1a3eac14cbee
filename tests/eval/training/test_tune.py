"""The retriever can be tuned, the same every time, and then used."""

import json

import pytest
import torch

from index import files, tuned_weights
from index.embedder import PLAIN, Embedder
from qa import out_of_scope


@pytest.fixture
def tuned(stickler, tmp_path):
    """Tunes a retriever on a few questions; gives the path of its weights and what was printed."""

    def tune(name):
        code, out, err = stickler("tune", "retriever", "--limit", "20", "-o", str(tmp_path / name))
        assert code == 0, err
        return tmp_path / name / "retriever.safetensors", out

    return tune


def test_a_retriever_is_tuned_and_can_be_used(tuned):
    path, out = tuned("first")
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["questions"] == 20
    assert set(card["before"]) == set(card["after"])
    assert str(path) in out
    assert "stickler tune out-of-scope" in out  # the vectors that ship belong to one retriever
    assert Embedder(str(path)).encode_questions(["what is trample?"]).shape == (1, 384)


def test_tuning_again_gives_the_same_weights(tuned):
    first, _ = tuned("first")
    # a finished training is not repeated: its checkpoint must not be what makes them the same
    (files.home() / "tuning" / "retriever" / "checkpoint.pt").unlink()
    second, _ = tuned("second")
    base = Embedder(PLAIN).folder
    one, other = (tuned_weights.read(path, base) for path in (first, second))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_out_of_scope_vectors_can_be_rewritten(stickler, tmp_path, monkeypatch):
    path = tmp_path / "out_of_scope.npz"
    monkeypatch.setattr(out_of_scope, "VECTORS", path)
    monkeypatch.setattr(out_of_scope, "_phrases", lambda: [out_of_scope._Phrase(None, "a joke")])
    code, out, err = stickler("tune", "out-of-scope")
    assert (code, out) == (0, f"Wrote {path}.\n"), err
    assert out_of_scope._shipped(Embedder()).shape == (1, 384)

import json

import pytest

from index.embed import Embedder
from index.rerank import Reranker


@pytest.mark.parametrize("name", ["retriever", "reranker"])
def test_a_model_is_tuned_and_can_be_used(name, built_home, stickler, tmp_path):
    code, out, err = stickler("tune", name, "--limit", "40", "-o", str(tmp_path))
    assert code == 0, err
    card = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert card["questions"] == 40
    assert set(card["before"]) <= set(card["after"])
    path = tmp_path / f"{name}.safetensors"
    assert str(path) in out
    if name == "retriever":
        assert Embedder(str(path)).encode_questions(["what is trample?"]).shape == (1, 384)
    else:
        assert len(Reranker(path).read([("what is trample?", "Trample: a rule.")])) == 1


def test_tuning_again_gives_the_same_weights(stickler, tmp_path):
    for folder in ("first", "second"):
        stickler("tune", "retriever", "--limit", "20", "-o", str(tmp_path / folder))
        # a finished training is not done over: its checkpoint must not be what makes them alike
        from index import files

        (files.home() / "tuning" / "retriever" / "checkpoint.pt").unlink()
    cards = [
        json.loads((tmp_path / folder / "retriever.json").read_text(encoding="utf-8"))
        for folder in ("first", "second")
    ]
    assert cards[0]["weights"] == cards[1]["weights"]

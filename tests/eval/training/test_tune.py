import json
import random

import pytest
import torch

from eval.training import data, loop
from eval.training.reranker import Reranker as Taught
from index import tuned_weights
from index.embedder import PLAIN, Embedder
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


def test_the_reranker_learns_to_put_the_deciding_rule_first():
    task = Taught(data.load(24), Embedder(PLAIN))
    batch, optimizer = list(range(12)), torch.optim.AdamW(loop.weights(task).values(), lr=2e-4)
    losses = []
    for _ in range(6):
        loss = task.loss(batch, random.Random(0))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_tuning_again_gives_the_same_weights(stickler, tmp_path):
    for folder in ("first", "second"):
        stickler("tune", "retriever", "--limit", "20", "-o", str(tmp_path / folder))
        # a finished training is not done over: its checkpoint must not be what makes them alike
        from index import files

        (files.home() / "tuning" / "retriever" / "checkpoint.pt").unlink()
    base = Embedder(PLAIN).folder
    first, second = (
        tuned_weights.read(tmp_path / folder / "retriever.safetensors", base)
        for folder in ("first", "second")
    )
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_mean_lies_halfway_between_two_runs(stickler, tmp_path):
    paths = [tmp_path / name / "retriever.safetensors" for name in ("one", "other", "mean")]
    for seed, path in enumerate(paths[:2]):
        told = ("--limit", "20", "--seed", str(seed), "-o", str(path.parent))
        assert stickler("tune", "retriever", "--roundabout", *told)[0] == 0
    code, _, err = stickler("tune", "mean", *map(str, paths[:2]), "-o", str(tmp_path / "mean"))
    assert code == 0, err
    base = Embedder(PLAIN).folder
    one, other, mean = (tuned_weights.read(path, base) for path in paths)
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name, each in mean.items():
        assert torch.allclose(each, (one[name] + other[name]) / 2, rtol=1e-3, atol=1e-3)
    card = json.loads(paths[2].with_suffix(".json").read_text(encoding="utf-8"))
    assert [run["settings"]["seed"] for run in card["settings"]["mean of"]] == [0, 1]
    assert card["steps"] == sum(run["steps"] for run in card["settings"]["mean of"])


@pytest.mark.parametrize("names", [["lost.safetensors"], ["lost.safetensors", "gone.safetensors"]])
def test_a_mean_of_what_is_not_there_is_one_clear_sentence(names, stickler, tmp_path):
    code, _, err = stickler("tune", "mean", *(str(tmp_path / name) for name in names))
    assert code == 1
    assert err.startswith("Error: A ")
    assert len(err.strip().splitlines()) == 1

import json
import random

import pytest
import torch

from eval.tuning import data, loop
from eval.tuning.claims import Told
from eval.tuning.verdicts import Verdicts, differing, leans, load
from index import tuned
from index.embed import PLAIN, Embedder


@pytest.fixture(scope="module")
def task():
    torch.manual_seed(0)
    return Verdicts(data.load(24))


def test_where_two_texts_differ():
    assert differing([7, 8, 9], [7, 5, 9]) == [2]
    assert differing([7, 8, 9], [7, 9]) == [2]
    assert differing([7, 9], [7, 8, 9]) == [1, 2]
    assert differing([7, 9], [7, 9]) == []


def test_it_learns_to_tell_two_versions_apart_and_where_to_look(task):
    asked = "Can a land block it?"
    rules = (("can", True), ("can’t", False))
    family = [
        Told(f"Glimmer: A creature with glimmer {verb} be blocked by lands.", ((asked, yes),))
        for verb, yes in rules
    ]
    place = len(task.families)
    task.families.append(family)
    optimizer = torch.optim.AdamW(loop.weights(task).values(), lr=2e-4)
    losses = []
    for _ in range(10):
        loss = task.loss([place], random.Random(0))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    yes, no = leans(task.reader, [(told.text, asked) for told in family])
    assert yes > no


def test_reading_alone_and_among_others_is_the_same(task):
    pairs = [(f"Rule: {'It goes on. ' * at}", "Does it go on?") for at in range(1, 9)]
    alone = [leans(task.reader, [pair])[0] for pair in pairs]
    assert leans(task.reader, pairs) == pytest.approx(alone, abs=1e-4)


def test_kept_weights_read_as_the_trained_ones(task, tmp_path):
    path = tmp_path / "verdicts.safetensors"
    tuned.write(path, Embedder(PLAIN).folder, loop.weights(task))
    pair = [("Glimmer: A creature with glimmer can be blocked.", "Can I block it?")]
    assert leans(load(path), pair) == pytest.approx(leans(task.reader, pair), abs=0.02)


def test_the_command_ends_with_a_card_that_knows_the_placebo(built_home, stickler, tmp_path):
    code, _, err = stickler("tune", "verdicts", "--limit", "24", "-o", str(tmp_path))
    assert code == 0, err
    card = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))
    ways = ("deciding rule given", "another question's rule", "rules as found")
    assert all(f"AUC of yes over no, {way}" in card["after"] for way in ways)

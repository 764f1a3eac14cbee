import random

import pytest

from eval.training import loop


class Line:
    """Learns y = 3x - 1 from a few points: something small that can be trained to the end."""

    checkpoint = 50

    def __init__(self):
        import torch

        torch.manual_seed(5)
        self._model = torch.nn.Linear(1, 1)
        self.refreshed = 0

    @property
    def modules(self):
        return {"line.": self._model}

    def batches(self, rng):
        places = list(range(40))
        rng.shuffle(places)
        return [[place] for place in places]

    def refresh(self):
        self.refreshed += 1

    def loss(self, batch, rng):
        import torch

        x = torch.tensor([[at / 40 + 0.01 * rng.random()] for at in batch])
        return ((self._model(x) - (3 * x - 1)) ** 2).mean()


def trained(task, folder, key="k", progress=lambda done, total: None):
    return loop.train(task, 4, 0.05, 0, folder, key, progress)


def values(task):
    return {name: weight.tolist() for name, weight in loop.trained_weights(task).items()}


def test_training_brings_the_loss_down(tmp_path):
    task = Line()
    before = task.loss(range(40), random.Random(0)).item()
    steps, seconds = trained(task, tmp_path)
    assert (steps, seconds > 0) == (160, True)
    assert task.loss(range(40), random.Random(0)).item() < before / 10


def test_an_interrupted_training_resumes_and_ends_with_the_same_weights(tmp_path):
    whole, killed, resumed = Line(), Line(), Line()
    trained(whole, tmp_path / "whole")

    def kill(done, total):
        if done == 130:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(killed, tmp_path / "killed", progress=kill)
    seen = []
    trained(resumed, tmp_path / "killed", progress=lambda done, total: seen.append(done))
    assert seen[0] == 100  # the last checkpoint before the kill
    assert values(resumed) == values(whole)


def test_a_checkpoint_of_other_data_or_settings_is_ignored(tmp_path):
    trained(Line(), tmp_path, key="some data")
    seen = []
    trained(Line(), tmp_path, "other data", lambda done, total: seen.append(done))
    assert seen[0] == 0


def test_a_task_is_refreshed_at_every_checkpoint(tmp_path):
    task = Line()
    trained(task, tmp_path)
    assert task.refreshed == 4

"""The training loop: the same batches for the same seed; resumes from its last checkpoint."""

import io
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from index import files
from index.embedder import Progress

if TYPE_CHECKING:
    import torch

_WARM_UP = 0.1  # share of the steps in which the learning rate rises


class Task(Protocol):
    """A model with its data and loss."""

    checkpoint: int  # steps between two checkpoints: the most that an interruption can lose

    @property
    def modules(self) -> Mapping[str, "torch.nn.Module"]:
        """The modules to train, each by the prefix that its weights are saved with."""

    def batches(self, rng: random.Random) -> list[list[int]]:
        """The batches of one epoch, as indices of questions."""

    def refresh(self) -> None:
        """Recompute what is updated only at checkpoints."""

    def loss(self, batch: Sequence[int], rng: random.Random) -> "torch.Tensor": ...


class _State(NamedTuple):
    """All that changes while training, but for the step."""

    weights: list["torch.nn.Parameter"]
    optimizer: Any
    scheduler: Any


def train(
    task: Task, epochs: int, rate: float, seed: int, folder: Path, key: str, progress: Progress
) -> tuple[int, float]:
    """Train to the end; returns the number of steps and the seconds taken.

    Checkpoints are kept in `folder`; one that was saved with another `key` is ignored.
    """
    import torch

    torch.manual_seed(seed)

    plan = [b for e in range(epochs) for b in task.batches(random.Random(f"{seed}/{e}"))]
    weights = list(trained_weights(task).values())
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, _schedule(len(plan)))
    state = _State(weights, optimizer, scheduler)
    checkpoint = folder / "checkpoint.pt"
    first, seconds = _load(checkpoint, key, state)
    start = time.perf_counter() - seconds
    for step in range(first, len(plan)):
        if step % task.checkpoint == 0:
            if step > first:
                _save(checkpoint, key, step, time.perf_counter() - start, state)
            task.refresh()
        progress(step, len(plan))
        loss = task.loss(plan[step], random.Random(f"{seed}/{step}"))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    seconds = time.perf_counter() - start
    _save(checkpoint, key, len(plan), seconds, state)
    progress(len(plan), len(plan))
    return len(plan), seconds


def trained_weights(task: Task) -> "dict[str, torch.nn.Parameter]":
    """The weights that a task trains, by the names that they are saved with."""
    return {
        prefix + name: parameter
        for prefix, module in task.modules.items()
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    }


def _schedule(steps: int) -> Callable[[int], float]:
    """The share of the full learning rate at each step: linear warm-up, then linear decay."""
    warm = max(1.0, _WARM_UP * steps)
    return lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1.0, steps - warm)))


def _save(path: Path, key: str, step: int, seconds: float, state: _State) -> None:
    import torch

    checkpoint = {
        "key": key,
        "step": step,
        "seconds": seconds,
        "weights": [each.detach() for each in state.weights],
        "optimizer": state.optimizer.state_dict(),
        "scheduler": state.scheduler.state_dict(),
    }
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    files.write_whole(path, buffer.getvalue())


def _load(path: Path, key: str, state: _State) -> tuple[int, float]:
    """The step to resume at and the seconds up to there; 0 where no checkpoint fits."""
    import torch

    if not path.exists():
        return 0, 0.0
    checkpoint: Mapping[str, Any] = torch.load(path, weights_only=True)
    if checkpoint["key"] != key:
        return 0, 0.0
    with torch.no_grad():
        for mine, saved in zip(state.weights, checkpoint["weights"], strict=True):
            mine.copy_(saved)
    state.optimizer.load_state_dict(checkpoint["optimizer"])
    state.scheduler.load_state_dict(checkpoint["scheduler"])
    return int(checkpoint["step"]), float(checkpoint["seconds"])

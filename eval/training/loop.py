"""The training loop: the same batches for the same seed; a killed one goes on where it was."""

import io
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from index import files
from index.embedder import Progress

if TYPE_CHECKING:
    import torch

_WARM = 0.1  # share of the steps in which the rate rises
_KEPT = 50  # steps between two checkpoints: what a kill can lose


class Task(Protocol):
    """What one model learns."""

    @property
    def modules(self) -> Mapping[str, "torch.nn.Module"]:
        """What is trained, each under the prefix that its weights are kept with."""

    def batches(self, chance: random.Random) -> list[list[int]]:
        """One epoch's batches, as places in the questions."""

    def refresh(self) -> None:
        """Bring up to date what is only computed now and then."""

    def loss(self, batch: Sequence[int], chance: random.Random) -> "torch.Tensor": ...


def train(
    task: Task, epochs: int, rate: float, seed: int, folder: Path, key: str, progress: Progress
) -> tuple[int, float]:
    """Train to the end; the steps and seconds it took. `key`: what a checkpoint belongs to."""
    import torch

    torch.manual_seed(seed)

    plan = [b for e in range(epochs) for b in task.batches(random.Random(f"{seed}/{e}"))]
    trained = list(weights(task).values())
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    slope = torch.optim.lr_scheduler.LambdaLR(optimizer, _share(len(plan)))
    checkpoint = folder / "checkpoint.pt"
    begun, before = _resumed(checkpoint, key, trained, optimizer, slope)
    start = time.perf_counter() - before
    for step in range(begun, len(plan)):
        if step % _KEPT == 0:
            if step > begun:
                _keep(checkpoint, key, step, start, trained, optimizer, slope)
            task.refresh()
        progress(step, len(plan))
        loss = task.loss(plan[step], random.Random(f"{seed}/{step}"))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        slope.step()
        optimizer.zero_grad()
    seconds = time.perf_counter() - start
    _keep(checkpoint, key, len(plan), start, trained, optimizer, slope)
    progress(len(plan), len(plan))
    return len(plan), seconds


def weights(task: Task) -> "dict[str, torch.nn.Parameter]":
    """What a task trains, by the names that it is kept under."""
    return {
        prefix + name: parameter
        for prefix, module in task.modules.items()
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    }


def _share(steps: int) -> Callable[[int], float]:
    """Of the full rate: up in a line, then down to nothing."""
    warm = max(1.0, _WARM * steps)
    return lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1.0, steps - warm)))


def _keep(
    path: Path,
    key: str,
    step: int,
    start: float,
    trained: Sequence["torch.Tensor"],
    optimizer: Any,
    slope: Any,
) -> None:
    import torch

    state = {
        "key": key,
        "step": step,
        "seconds": time.perf_counter() - start,
        "trained": [each.detach() for each in trained],
        "optimizer": optimizer.state_dict(),
        "slope": slope.state_dict(),
    }
    buffer = io.BytesIO()
    torch.save(state, buffer)
    files.write_whole(path, buffer.getvalue())


def _resumed(
    path: Path, key: str, trained: Sequence["torch.Tensor"], optimizer: Any, slope: Any
) -> tuple[int, float]:
    """The step to go on from, and the seconds up to there; 0 where no checkpoint fits."""
    import torch

    if not path.exists():
        return 0, 0.0
    state: Mapping[str, Any] = torch.load(path, weights_only=True)
    if state["key"] != key:
        return 0, 0.0
    with torch.no_grad():
        for mine, kept in zip(trained, state["trained"], strict=True):
            mine.copy_(kept)
    optimizer.load_state_dict(state["optimizer"])
    slope.load_state_dict(state["slope"])
    return int(state["step"]), float(state["seconds"])


def by_length(
    places: Sequence[int], length: Callable[[int], int], size: int, chance: random.Random
) -> list[list[int]]:
    """Batches of things about equally long, so that little is padding; their order is chance."""
    pool = 30 * size
    batches = []
    for start in range(0, len(places), pool):
        near = sorted(places[start : start + pool], key=length)
        cut = [near[at : at + size] for at in range(0, len(near), size)]
        chance.shuffle(cut)
        batches += cut
    return batches

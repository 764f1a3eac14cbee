"""The mean of several runs' weights: less a matter of luck than any one of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import tuned
from index.errors import SticklerError

if TYPE_CHECKING:
    import torch


def cards(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What is said of each run."""
    if len(paths) < 2:
        raise SticklerError("A mean takes at least two: name two tuned retrievers or more.")
    try:
        found = [json.loads(p.with_suffix(".json").read_text(encoding="utf-8")) for p in paths]
    except (OSError, ValueError) as error:
        raise SticklerError(
            f"A card cannot be read ({error}): name weights as 'stickler tune retriever' keeps "
            "them, with the card beside them."
        ) from None
    for path, card in zip(paths, found, strict=True):
        if not isinstance(card, dict) or card.get("model") != "retriever":
            raise SticklerError(f"{path} is no tuned retriever: make one with 'stickler tune'.")
    return found


def tensors(paths: Sequence[Path], base: Path) -> "dict[str, torch.Tensor]":
    """The mean of each tensor, all runs counting alike."""
    import torch

    runs = [tuned.read(path, base) for path in paths]
    for path, run in zip(paths, runs, strict=True):
        if run.keys() != runs[0].keys():
            raise SticklerError(f"{path} was trained on other layers than {paths[0]}: tune anew.")
    return {name: torch.stack([run[name] for run in runs]).mean(0) for name in runs[0]}

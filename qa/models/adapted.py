"""The embedded model with a low-rank adapter, as `stickler tune answers` makes it, merged into it.

An adapter of a linear layer is two thin matrices, `down` and `up`: it adds up(down(x)).
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files, tuned
from index.errors import SticklerError
from qa.models import DEFAULT, embedded
from qa.models.local import Local

if TYPE_CHECKING:
    import torch

DOWN, UP = ".down.weight", ".up.weight"


class Adapted(Local):
    """In transformers, whatever other engine is installed: the merged weights are nowhere kept."""

    def __init__(self, name: str) -> None:
        self._path = Path(name).expanduser()
        tensors = tuned.read(self._path, embedded.packaged())
        super().__init__(DEFAULT)
        self.name = name
        merge(self._model, tensors)

    @cached_property
    def hash(self) -> str:
        return files.digest(self._path)[:16]  # the file names its base and its second half


def merge(model: Any, tensors: "Mapping[str, torch.Tensor]") -> None:
    """Add to each linear layer what its adapter would add to its output."""
    import torch

    layers = dict(model.named_modules())
    names = {name.removesuffix(DOWN).removesuffix(UP) for name in tensors}
    for name in sorted(names):
        weight = getattr(layers.get(name), "weight", None)
        down, up = tensors.get(name + DOWN), tensors.get(name + UP)
        if weight is None or down is None or up is None or weight.shape != (up @ down).shape:
            raise SticklerError(
                f"The tuned weights have parts that the model lacks ({name}): tune anew."
            )
        with torch.no_grad():
            weight += (up @ down).to(weight)

"""Weights that were tuned on players' questions, laid over the general model they began from.

Only what was trained is kept, in half precision; the file names the base weights by fingerprint.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files
from index.errors import SticklerError

if TYPE_CHECKING:
    import torch

FOLDER = Path(__file__).with_name("weights")
ENDING = ".safetensors"


def read(path: Path, base: Path) -> "dict[str, torch.Tensor]":
    """The tuned tensors of a file, which must belong to the base model in a folder."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            made_for = (file.metadata() or {}).get("base", "nothing known")
            if made_for != files.fingerprint(base):
                raise SticklerError(
                    f"The tuned weights {path} belong to other base weights ({made_for}) than "
                    f"those in {base} ({files.fingerprint(base)}): install the packages of "
                    f"requirements.lock, or tune anew with 'stickler tune {path.stem}'."
                )
            return {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise SticklerError(
            f"The tuned weights {path} cannot be read ({error}): install Stickler anew, or tune "
            f"anew with 'stickler tune {path.stem}'."
        ) from None


def write(path: Path, base: Path, tensors: "Mapping[str, torch.Tensor]") -> None:
    """Keep tuned tensors with the fingerprint of what they belong to."""
    from safetensors.torch import save

    halved = {name: each.detach().half().contiguous() for name, each in tensors.items()}
    files.write_whole(path, save(halved, {"base": files.fingerprint(base)}))


def lay_over(model: Any, tensors: "Mapping[str, torch.Tensor]") -> None:
    """Put tuned tensors in the place of the model's own."""
    unknown = model.load_state_dict(tensors, strict=False).unexpected_keys
    if unknown:
        raise SticklerError(
            f"The tuned weights have parts that the model lacks ({unknown[0]}): tune anew."
        )

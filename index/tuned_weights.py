"""Weights fine-tuned on players' questions, applied on top of the model they started from.

Only trained weights are stored, in half precision; the file identifies the base weights, a folder
or a single file, by fingerprint.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files
from index.errors import Action, Remedy, SticklerError

if TYPE_CHECKING:
    import torch

FOLDER = Path(__file__).with_name("weights")
SUFFIX = ".safetensors"
_LARGEST = 15 << 20  # bytes of one file


def read(path: Path, base: Path) -> "dict[str, torch.Tensor]":
    """The tuned tensors of a file and its second half, if any; they must belong to the base."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            told = file.metadata() or {}
            made_for = told.get("base", "nothing known")
            if made_for != fingerprint(base):
                raise SticklerError(
                    f"The tuned weights {path} belong to other base weights ({made_for}) than "
                    f"those in {base} ({fingerprint(base)})",
                    "install the packages of requirements.lock",
                    Remedy(Action.TUNE, "retriever"),
                )
            found = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        if "second" not in told:
            return found
        if files.digest(second(path)) != told["second"]:
            raise OSError(f"{second(path).name} is not its second half")
        return found | read(second(path), base)
    except (OSError, SafetensorError) as error:
        raise SticklerError(
            f"The tuned weights {path} cannot be read ({error})",
            "install Stickler again",
            Remedy(Action.TUNE, "retriever"),
        ) from None


def fingerprint(base: Path) -> str:
    """Identifies base weights: by the files of a folder, or by the content of a file."""
    return files.digest(base)[:16] if base.is_file() else files.fingerprint(base)


def second(path: Path) -> Path:
    """The path of the second half, for weights too large for one file."""
    return path.with_suffix(f".2{SUFFIX}")


def write(path: Path, base: Path, tensors: "Mapping[str, torch.Tensor]") -> None:
    """Save tuned tensors with the fingerprint of their base, in two files if large."""
    from safetensors.torch import save

    told = {"base": fingerprint(base)}
    halved = {name: each.detach().half().contiguous() for name, each in tensors.items()}
    second(path).unlink(missing_ok=True)
    if sum(2 * each.numel() for each in halved.values()) > _LARGEST:
        names = list(halved)
        data = save({name: halved.pop(name) for name in names[len(names) // 2 :]}, told)
        files.write_whole(second(path), data)
        told["second"] = hashlib.sha256(data).hexdigest()
    files.write_whole(path, save(halved, told))


def lay_over(model: Any, tensors: "Mapping[str, torch.Tensor]") -> None:
    """Put tuned tensors in the place of the model's own."""
    own = model.state_dict()
    for name, tensor in tensors.items():
        if name not in own or own[name].shape != tensor.shape:
            raise SticklerError(
                f"The tuned weights have parts that the model lacks ({name}): tune it again."
            )
    model.load_state_dict(tensors, strict=False)

"""Low-rank adapters for a GGUF model: trained on its unpacked weights, saved as a GGUF adapter.

llama.cpp lays the adapter over the packed file that it was trained on. Where the processor
multiplies 8 bits natively, the frozen weights are held in 8 bits; the adapter itself is always
float32.
"""

import math
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn

from eval.training.int8 import Int8Linear
from index import files
from index.errors import SticklerError

RANK = 8
ALPHA = 16
FIRST_LAYER = 8  # the lowest adapted layer, counting from 0; those below need no backward pass
_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # of the adapted layers, in transformers and in GGUF


class Adapted(nn.Module):
    """A frozen linear layer with an adapter, which at first changes nothing."""

    def __init__(self, base: nn.Linear | Int8Linear) -> None:
        super().__init__()
        self.base = base
        width = base.in_features
        self.lora_a = nn.Parameter(torch.randn(RANK, width) / math.sqrt(width))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        plain: torch.Tensor = self.base(inputs)
        low = nn.functional.linear(inputs, self.lora_a)
        return plain + nn.functional.linear(low, self.lora_b) * (ALPHA / RANK)


def load(path: Path) -> tuple[Any, Any]:
    """Tokenizer and adapted model of a GGUF file, unpacked."""
    if missing := [name for name in ("accelerate", "gguf") if not find_spec(name)]:
        raise SticklerError(
            f"Tuning a language model needs {' and '.join(missing)}, which is not installed",
            "run \"pip install 'stickler[tune]'\"",
        )
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    adapt(model, FIRST_LAYER, has_int8())
    return tokenizer, model


def has_int8() -> bool:
    """Whether this processor multiplies 8 bits natively: frozen weights are then held in them."""
    return bool(torch.cpu.get_capabilities().get("avx512_vnni"))


def adapt(model: Any, first_layer: int, int8: bool) -> None:
    """Freeze a model, optionally in 8 bits, and adapt its layers from `first_layer` up."""
    model.requires_grad_(False)
    for at, layer in enumerate(model.model.layers):
        for name in _NAMES:
            part, own = name.split(".")
            block = getattr(layer, part)
            frozen = Int8Linear(getattr(block, own)) if int8 else getattr(block, own)
            setattr(block, own, Adapted(frozen) if at >= first_layer else frozen)


def write(path: Path, weights: Mapping[str, torch.Tensor], base: str) -> None:
    """Write an adapter in half precision; `base` is the digest of the file it belongs to."""
    import gguf

    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / path.name
        writer = gguf.GGUFWriter(whole, "qwen2")
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", float(ALPHA))
        writer.add_string("general.base_model.0.digest", base)
        for name, weight in weights.items():
            writer.add_tensor(_tensor(name), weight.detach().half().numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        files.write_whole(path, whole.read_bytes())


def restore(path: Path, weights: Mapping[str, torch.Tensor], base: str) -> None:
    """Load a saved adapter into the trainable weights, to continue training from it."""
    import gguf

    found = gguf.GGUFReader(path)
    digest = found.get_field("general.base_model.0.digest")
    saved = {tensor.name: torch.from_numpy(tensor.data.copy()) for tensor in found.tensors}
    shapes = {_tensor(name): weight.shape for name, weight in weights.items()}
    same_base = digest is not None and digest.contents() == base
    if not same_base or shapes != {name: tensor.shape for name, tensor in saved.items()}:
        raise SticklerError(
            f"{path} is an adapter for another model, or of another size",
            "start without it, or name one that was trained with this version",
        )
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(saved[_tensor(name)])


def _tensor(name: str) -> str:
    """What GGUF calls a weight of an adapter."""
    _, _, layer, *module, kind = name.split(".")
    return f"blk.{layer}.{_NAMES['.'.join(module)]}.weight.{kind}"

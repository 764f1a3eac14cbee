"""Frozen linear layers in 8 bits, which a CPU with AVX-512 VNNI multiplies twice as fast.

Activations are rounded to 8 bits too, except for the few columns with outlier values. The gradient
is propagated through the same 8-bit weights.
"""

from typing import Any

import torch
from torch import nn

_COLUMNS = 64  # with the largest values: these are not rounded
_LARGEST = 127


class _Product(torch.autograd.Function):
    """Of tokens and a packed matrix; only the tokens get a gradient."""

    @staticmethod
    def forward(
        ctx: Any, tokens: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor
    ) -> torch.Tensor:
        ctx.save_for_backward(packed, scale)
        size = tokens.abs()
        large = size.amax(0).topk(min(_COLUMNS, tokens.shape[1])).indices
        steps = size.index_fill_(1, large, 0).amax(1, keepdim=True).clamp_(min=1e-12) / _LARGEST
        rounded = (tokens / steps).index_fill_(1, large, 0).round_().to(torch.int8)
        exact = tokens[:, large] @ (packed[:, large].float() * scale[:, None]).T
        return torch._int_mm(rounded, packed.T).float().mul_(scale).mul_(steps).add_(exact)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        packed, scale = ctx.saved_tensors
        gradient = gradients[0] * scale
        steps = gradient.abs().amax(1, keepdim=True).clamp_(min=1e-30) / _LARGEST
        rounded = gradient.div_(steps).round_().to(torch.int8)
        return torch._int_mm(rounded, packed).float().mul_(steps), None, None


class Int8Linear(nn.Module):
    """A linear layer whose weights are frozen and held in 8 bits, a scale for each row."""

    packed: torch.Tensor
    scale: torch.Tensor

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().float()
        scale = weight.abs().amax(1) / _LARGEST
        self.register_buffer("packed", (weight / scale[:, None]).round_().to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = layer.bias
        self.in_features, self.out_features = layer.in_features, layer.out_features

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        tokens = inputs.reshape(-1, self.in_features)
        product: torch.Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            tokens, self.packed, self.scale
        )
        if self.bias is not None:
            product = product + self.bias
        return product.view(*inputs.shape[:-1], self.out_features)

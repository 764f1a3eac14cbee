"""Decoding many rows token by token: what transformers would copy at every step stays in place.

By default it copies all keys and values to add one of each row, and again for every query head that
shares them.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, Cache
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

GROUPED = "grouped"  # the name of the attention below
_ROOM = 96  # places that are made ready together: an answer is at most 80 tokens by default


class Roomy(DynamicLayer):  # type: ignore[no-untyped-call]
    """Keys and values of one layer, with room behind them for those to come."""

    _rooms: torch.Tensor | None = None  # keys, then values; those known are at the front

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows, heads, new, size = key_states.shape
        start = self.get_seq_length()
        end = start + new
        if self._rooms is None or self._rooms.shape[3] < end:
            self._rooms = key_states.new_empty(2, rows, heads, end + _ROOM, size)
            if self.keys is not None and self.values is not None:
                self._rooms[0, :, :, :start] = self.keys
                self._rooms[1, :, :, :start] = self.values
        self._rooms[0, :, :, start:end] = key_states
        self._rooms[1, :, :, start:end] = value_states
        self.keys, self.values = self._rooms[:, :, :, :end]
        self.is_initialized = True
        return self.keys, self.values

    def batch_repeat_interleave(self, repeats: int) -> None:
        super().batch_repeat_interleave(repeats)
        self._rooms = None

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        super().batch_select_indices(indices)
        self._rooms = None


def cache() -> Cache:
    return Cache(layer_class_to_replicate=Roomy)


def joined(parts: Sequence[Cache]) -> Cache:
    """All their rows in one, those that are shorter with a gap in front: it is to be masked."""
    whole = cache()
    for at, layers in enumerate(zip(*(part.layers for part in parts), strict=True)):
        whole.update(_rows([one.keys for one in layers]), _rows([one.values for one in layers]), at)
    return whole


def _rows(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    width = max(part.shape[2] for part in parts)
    return torch.cat([pad(part, (0, 0, width - part.shape[2], 0)) for part in parts])


def _grouped(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Of one place, the query heads that share a key go together, as if they were more places."""
    if query.shape[2] > 1:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
    rows, heads, _, size = query.shape
    together = query.view(rows, key.shape[1], heads // key.shape[1], size)
    seen = scaled_dot_product_attention(
        together, key, value, attn_mask=attention_mask, scale=scaling
    )
    return seen.reshape(rows, 1, heads, size), None


AttentionInterface.register(GROUPED, _grouped)
AttentionMaskInterface.register(GROUPED, sdpa_mask)

"""The embedded model where many answers are wanted at once, as in a batch.

llama.cpp is faster at one answer, transformers at 32: they are decoded together, those that are
finished drop out, and what all prompts begin with is read once.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from qa.models import DEFAULT, Prompt
from qa.models.gguf import Gguf
from qa.models.local import Local, in_common

_TOGETHER = 32  # answers: 1.5 s each on two cores, 1.7 s with 16; llama.cpp takes 2.4 s
_MANY = 24  # prompts for which it pays


class Embedded(Gguf):
    """The embedded model in llama.cpp, and in transformers where it is asked for many answers."""

    @cached_property
    def _many(self) -> "Many":
        return Many(DEFAULT)

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        if len(prompts) < _MANY:
            return super().generate(prompts, limit)
        return self._many.generate(prompts, limit)


class Many(Local):
    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        told = [self._inputs([prompt])["input_ids"][0].tolist() for prompt in prompts]
        order = sorted(range(len(told)), key=lambda at: len(told[at]))  # little is padding
        answers = [""] * len(told)
        for start in range(0, len(order), _TOGETHER):
            part = order[start : start + _TOGETHER]
            with self._busy:
                said = self._said([told[at] for at in part], limit)
            for at, tokens in zip(part, said, strict=True):
                answers[at] = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
        return answers

    def _said(self, told: Sequence[list[int]], limit: int) -> list[list[int]]:
        """The tokens that follow each of these, greedily."""
        import torch

        with torch.inference_mode():
            cache, mask, following = self._read(told)
            said: list[list[int]] = [[] for _ in told]
            under_way = list(range(len(told)))
            ends = _as_set(self._model.generation_config.eos_token_id)
            while True:
                going = [row for row, token in enumerate(following.tolist()) if token not in ends]
                for row in going:
                    said[under_way[row]].append(int(following[row]))
                going = [row for row in going if len(said[under_way[row]]) < limit]
                if not going:
                    return said
                if len(going) < len(under_way):
                    rows = torch.tensor(going)
                    cache.batch_select_indices(rows)
                    mask, following = mask[rows], following[rows]
                    under_way = [under_way[row] for row in going]
                mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
                following = self._next(following[:, None], mask, cache)

    def _read(self, told: Sequence[list[int]]) -> tuple[Any, Any, Any]:
        """All prompts read, padded on the left; what they have in common is read once."""
        import torch
        from transformers import DynamicCache

        same = in_common(told)
        width = max(map(len, told)) - same
        gaps = [width + same - len(tokens) for tokens in told]
        ids = torch.tensor([[0] * gap + t[same:] for gap, t in zip(gaps, told, strict=True)])
        mask = torch.tensor([[1] * same + [0] * gap + [1] * (width - gap) for gap in gaps])
        cache = DynamicCache(config=self._model.config)
        if same:
            self._model(torch.tensor([told[0][:same]]), past_key_values=cache, use_cache=True)
            cache.batch_repeat_interleave(len(told))
        return cache, mask, self._next(ids, mask, cache)

    def _next(self, ids: Any, mask: Any, cache: Any) -> Any:
        """The likeliest token after each row."""
        places = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        read = self._model(
            ids,
            attention_mask=mask,
            position_ids=places,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return read.logits[:, -1].argmax(-1)


def _as_set(ids: int | Sequence[int]) -> set[int]:
    return {ids} if isinstance(ids, int) else set(ids)

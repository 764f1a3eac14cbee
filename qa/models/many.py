"""The embedded model where many answers are wanted at once, as in a batch.

llama.cpp is faster at one answer, transformers at 32: they are decoded together, those that are
finished drop out, and what all prompts begin with is read once.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

from qa.models import DEFAULT, Prompt
from qa.models.gguf import Gguf
from qa.models.local import Local, in_common

_TOGETHER = 32  # answers that are written together: on two cores 0.4 s each, with 8 1.0 s
_READ = 8  # prompts that are read together: 0.3 s each, with 32 0.45 s
_FINISHED = 4  # answers that drop out together: all that is known of the others is then copied
_MANY = 12  # prompts for which it pays: llama.cpp takes 1.5 s an answer


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
    def __init__(self, name: str) -> None:
        from qa.models import decoding

        super().__init__(name)
        self._model.set_attn_implementation(decoding.GROUPED)

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
            rows = list(range(len(told)))  # those that are decoded
            ends = _as_set(self._model.generation_config.eos_token_id)
            for _ in range(limit):
                for row, token in zip(rows, following.tolist(), strict=True):
                    said[row].append(token)
                going = [at for at, row in enumerate(rows) if ends.isdisjoint(said[row])]
                if not going:
                    break
                if len(rows) - len(going) >= _FINISHED:
                    places = torch.tensor(going)
                    cache.batch_select_indices(places)
                    mask, following = mask[places], following[places]
                    rows = [rows[at] for at in going]
                mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
                following = self._next(following[:, None], mask, cache)
        return [list(takewhile(lambda token: token not in ends, tokens)) for tokens in said]

    def _read(self, told: Sequence[list[int]]) -> tuple[Any, Any, Any]:
        """All prompts, a few at a time: how they are kept, where they are, what follows each."""
        import torch
        from torch.nn.functional import pad

        from qa.models import decoding

        parts = [told[at : at + _READ] for at in range(0, len(told), _READ)]
        caches, masks, following = zip(*map(self._read_few, parts), strict=True)
        width = max(mask.shape[1] for mask in masks)
        mask = torch.cat([pad(each, (width - each.shape[1], 0)) for each in masks])
        return decoding.joined(caches), mask, torch.cat(following)

    def _read_few(self, told: Sequence[list[int]]) -> tuple[Any, Any, Any]:
        """Padded on the left; what they have in common is read once."""
        import torch

        from qa.models import decoding

        same = in_common(told)
        width = max(map(len, told)) - same
        gaps = [width + same - len(tokens) for tokens in told]
        ids = torch.tensor([[0] * gap + t[same:] for gap, t in zip(gaps, told, strict=True)])
        mask = torch.tensor([[1] * same + [0] * gap + [1] * (width - gap) for gap in gaps])
        cache = decoding.cache()
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

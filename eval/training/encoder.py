"""The embedded encoder as it is trained: word vectors and lower layers stay, upper layers learn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from index.embedder import PLAIN, Embedder

if TYPE_CHECKING:
    import torch

_TOGETHER = 16  # texts of about the same length that are read at once: little is padding


def trunk(frozen: int) -> tuple[Any, Any]:
    """Tokenizer and encoder, the lowest layers frozen; no dropout: it costs a fifth of the time."""
    from transformers import AutoModel, AutoTokenizer

    folder = Embedder(PLAIN).folder
    model = AutoModel.from_pretrained(
        folder,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    for still in (model.embeddings, model.pooler, *model.encoder.layer[:frozen]):
        still.requires_grad_(False)
    model.train()
    return AutoTokenizer.from_pretrained(folder), model


def vectors(tokenizer: Any, model: Any, texts: Sequence[str], longest: int) -> "torch.Tensor":
    """Normalised mean vectors, as sentence-transformers makes them."""
    import torch

    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    means = []
    for start in range(0, len(order), _TOGETHER):
        part = [texts[at] for at in order[start : start + _TOGETHER]]
        encoded = tokenizer(
            part, truncation=True, max_length=longest, padding=True, return_tensors="pt"
        )
        weights = encoded["attention_mask"].unsqueeze(-1).float()
        states = model(**encoded).last_hidden_state
        means.append((states * weights).sum(1) / weights.sum(1))
    in_order = torch.cat(means)[torch.tensor(order).argsort()]
    return torch.nn.functional.normalize(in_order, dim=-1)

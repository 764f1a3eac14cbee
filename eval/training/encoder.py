"""The packaged encoder, set up for training: embeddings and lower layers are frozen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from index.embedder import PLAIN, Embedder

if TYPE_CHECKING:
    import torch

_BATCH = 16  # texts of about the same length, so that little is padding


def load(frozen: int) -> tuple[Any, Any]:
    """Tokenizer and encoder with its lowest `frozen` layers frozen.

    Without dropout, which costs a fifth of the time.
    """
    from transformers import AutoModel, AutoTokenizer

    folder = Embedder(PLAIN).folder
    model = AutoModel.from_pretrained(
        folder,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    for module in (model.embeddings, model.pooler, *model.encoder.layer[:frozen]):
        module.requires_grad_(False)
    model.train()
    return AutoTokenizer.from_pretrained(folder), model


def encode(tokenizer: Any, model: Any, texts: Sequence[str], max_length: int) -> "torch.Tensor":
    """Mean-pooled, normalised vectors, as sentence-transformers makes them; with gradients."""
    import torch

    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    means = []
    for start in range(0, len(order), _BATCH):
        part = [texts[at] for at in order[start : start + _BATCH]]
        encoded = tokenizer(
            part, truncation=True, max_length=max_length, padding=True, return_tensors="pt"
        )
        weights = encoded["attention_mask"].unsqueeze(-1).float()
        states = model(**encoded).last_hidden_state
        means.append((states * weights).sum(1) / weights.sum(1))
    in_order = torch.cat(means)[torch.tensor(order).argsort()]
    return torch.nn.functional.normalize(in_order, dim=-1)

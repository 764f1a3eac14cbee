"""The embedded encoder as it is trained: word vectors and lower layers stay, upper layers learn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from index.embed import PLAIN, Embedder
from index.rerank import encode, mean

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

    def read(part: Sequence[str]) -> "torch.Tensor":
        encoded = tokenizer(
            list(part), truncation=True, max_length=longest, padding=True, return_tensors="pt"
        )
        return mean(model, encoded)

    return torch.nn.functional.normalize(_in_parts(texts, len, read), dim=-1)


def pairs(tokenizer: Any, model: Any, those: Sequence[tuple[str, str]]) -> "torch.Tensor":
    """Mean vectors of questions and rules read together."""
    return _in_parts(
        those,
        lambda pair: len(pair[0]) + len(pair[1]),
        lambda part: mean(model, encode(tokenizer, part)),
    )


def _in_parts(
    things: Sequence[Any], length: Callable[[Any], int], read: Callable[[Sequence[Any]], Any]
) -> "torch.Tensor":
    import torch

    order = sorted(range(len(things)), key=lambda at: length(things[at]))
    parts = [order[at : at + _TOGETHER] for at in range(0, len(order), _TOGETHER)]
    read_parts = torch.cat([read([things[at] for at in part]) for part in parts])
    return read_parts[torch.tensor(order).argsort()]

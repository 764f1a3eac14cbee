"""Precomputed vectors of fixed texts, so that users do not have to compute them.

They are stored in 8 bits and tied by hash to the embedding model and to the texts.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from index.embedder import Embedder, Progress

if TYPE_CHECKING:
    from index.embedder import Vectors

_LARGEST = 127


def load(path: Path, texts: Sequence[str], model: str) -> "Vectors | None":
    """The vectors of the texts; None unless they were computed by the model with this hash."""
    import numpy as np

    if not ship_for(path, texts, model):
        return None
    with np.load(path) as file:
        vectors: Vectors = file["vectors"].astype("float32")
        vectors *= file["scale"]
        return vectors


def ship_for(path: Path, texts: Sequence[str], model: str) -> bool:
    """Whether a file has the vectors of these very texts by this very model, given by its hash."""
    import numpy as np

    if not path.exists():
        return False
    with np.load(path) as file:
        return str(file["made_with"]) == _made_with(model, texts)


def write(
    path: Path, texts: Sequence[str], embedder: Embedder, progress: Progress | None = None
) -> None:
    """Compute the vectors that ship."""
    import numpy as np

    vectors = embedder.encode_passages(texts, progress)
    scale = np.abs(vectors).max(axis=1, keepdims=True) / _LARGEST
    packed = (vectors / scale).round().astype("int8")
    np.savez(path, made_with=_made_with(embedder.hash, texts), vectors=packed, scale=scale)


def _made_with(model: str, texts: Sequence[str]) -> str:
    return f"{model} {hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]}"

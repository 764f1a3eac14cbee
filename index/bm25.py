"""BM25 over stemmed words and pairs of neighbouring ones."""

import functools
import itertools
import math
import re
from collections import Counter
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

_PAIRS = 0.3  # weight of pairs


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
    """BM25 over stemmed words, and with less weight over pairs of them, in memory or on disk."""

    def __init__(self, words: Any, pairs: Any) -> None:
        self._words = words
        self._pairs = pairs

    @classmethod
    def build(cls, texts: Sequence[str]) -> "Bm25":
        words = [stems(text) for text in texts]
        pairs = [_pairs(those) for those in words]
        texts_with = Counter(itertools.chain.from_iterable(map(set, pairs)))
        frequent = [[pair for pair in those if texts_with[pair] > 1] for those in pairs]
        return cls(_index(words), _index(frequent))

    @classmethod
    def load(cls, folder: Path) -> "Bm25":
        import bm25s

        return cls(bm25s.BM25.load(folder / "words"), bm25s.BM25.load(folder / "pairs"))

    def save(self, folder: Path) -> None:
        self._words.save(folder / "words", show_progress=False)
        self._pairs.save(folder / "pairs", show_progress=False)

    def weight(self, word: str) -> float:
        """The inverse document frequency of a word; an unknown word counts as if in one text."""
        known, scores = self._words.vocab_dict.get(word), self._words.scores
        texts = 1 if known is None else int(scores["indptr"][known + 1] - scores["indptr"][known])
        return math.log(1 + (scores["num_docs"] - texts + 0.5) / (texts + 0.5))

    def knows(self, word: str) -> bool:
        return word in self._words.vocab_dict

    def scores(self, question_stems: Sequence[str]) -> "NDArray[np.float32]":
        """A score for every text; all zero if no word is known."""
        pairs = _scores(self._pairs, _pairs(question_stems))
        return _scores(self._words, question_stems) + _PAIRS * pairs


def _index(texts: Sequence[Sequence[str]]) -> Any:
    import bm25s

    index = bm25s.BM25(k1=1.2, b=0.75)
    # The library fails on a text without tokens, so such a text gets a placeholder.
    index.index([[*tokens] or ["\0"] for tokens in texts], show_progress=False)
    return index


def _scores(index: Any, tokens: Sequence[str]) -> "NDArray[np.float32]":
    import numpy as np

    known = [token for token in tokens if token in index.vocab_dict]
    if not known:
        return np.zeros(index.scores["num_docs"], dtype="float32")
    scores: NDArray[np.float32] = index.get_scores(known)
    return scores


def _pairs(words: Sequence[str]) -> list[str]:
    return [" ".join(pair) for pair in itertools.pairwise(words)]

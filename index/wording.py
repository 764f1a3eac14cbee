"""Compares a question with the first rules that search found, word by word.

The vector of a whole text blurs what tells two subrules apart. Here every word of the question, as
the embedding model sees it in its place, looks for the nearest word of the rule.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from index.embed import Asked, Embedder
from index.hits import Found
from index.rerank import first, reordered

if TYPE_CHECKING:
    from index.embed import Vectors

COMPARED = 12  # rules of a question, the first that search found
_KEPT = 4000  # rules whose words are kept, some 40 KB each


class Wording:
    """The words of rules are read when a rule is first compared."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._one = threading.Lock()
        self._rules: dict[str, Vectors] = {}

    def compared(
        self,
        weight: float,
        asked: Sequence[Asked],
        found: Sequence[Found],
        texts: Sequence[Sequence[str]],
    ) -> list[Found]:
        """The first rules of each question, whose texts these are, in their order by words too."""
        likeness = self.likeness([words for _, words in asked], texts)
        numbers = [[hit.passage.number for hit in first(one, COMPARED)] for one in found]
        return [
            reordered(one, dict(zip(those, likes, strict=True)), weight, len(one.hits))
            for one, those, likes in zip(found, numbers, likeness, strict=True)
        ]

    def likeness(
        self, asked: Sequence["Vectors"], rules: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """For each question, given by its words: how well each of its rules takes them up."""
        with self._one:
            new = [text for those in rules for text in those if text not in self._rules]
            distinct = list(dict.fromkeys(new))
            self._rules |= zip(distinct, self._embedder.words(distinct), strict=True)
            found = [
                _likeness(words, [self._rules[text] for text in those])
                for words, those in zip(asked, rules, strict=True)
            ]
            for oldest in list(self._rules)[: max(0, len(self._rules) - _KEPT)]:
                del self._rules[oldest]
        return found


def _likeness(question: "Vectors", rules: Sequence["Vectors"]) -> list[float]:
    import numpy as np

    if not rules or not len(question):
        return [0.0] * len(rules)
    starts = np.cumsum([0, *map(len, rules[:-1])])
    near = np.concatenate(rules).astype("float32") @ question.T
    found: list[float] = np.maximum.reduceat(near, starts, axis=0).mean(axis=1).tolist()
    return found

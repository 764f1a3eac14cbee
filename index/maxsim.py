"""Late interaction: compares a question with the top rules that search found, token by token.

A single vector for a text blurs the differences between two subrules. MaxSim compares every
contextual token vector of the question with the nearest token vector of the rule.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from index.embedder import Embedder

if TYPE_CHECKING:
    from index.embedder import Vectors

CANDIDATES = 12  # rules of a question that are compared, the first that search found
_CACHED = 4000  # rules whose token vectors are kept, some 40 KB each


class MaxSim:
    """The token vectors of a rule are computed when it is first compared."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._tokens: dict[str, Vectors] = {}

    def scores(
        self, questions: Sequence["Vectors"], rules: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """For each question, given as token vectors, a score for each of its candidate texts."""
        with self._lock:
            new = [text for texts in rules for text in texts if text not in self._tokens]
            distinct = list(dict.fromkeys(new))
            self._tokens |= zip(distinct, self._embedder.token_vectors(distinct), strict=True)
            found = [
                maxsim(question, [self._tokens[text] for text in texts])
                for question, texts in zip(questions, rules, strict=True)
            ]
            for oldest in list(self._tokens)[: max(0, len(self._tokens) - _CACHED)]:
                del self._tokens[oldest]
        return found


def maxsim(question: "Vectors", rules: Sequence["Vectors"]) -> list[float]:
    """The mean over the question's tokens of the similarity to a rule's nearest token."""
    import numpy as np
    import torch

    if not rules or not len(question):
        return [0.0] * len(rules)
    starts = np.cumsum([0, *map(len, rules[:-1])])
    # torch turns half precision into single much faster than numpy does.
    tokens = torch.from_numpy(np.concatenate(rules)).float().numpy()
    similarity = tokens @ question.T
    found: list[float] = np.maximum.reduceat(similarity, starts, axis=0).mean(axis=1).tolist()
    return found

"""The result of a search: the rules found, and features of how well they match."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from index.passages import Passage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Via = Literal["number", "dense", "lexical", "reference"]  # 'lexical' is BM25, as the JSON calls it


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that was found, with its best-matching passage."""

    passage: Passage
    rank: int
    score: float
    via: tuple[Via, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.passage.number,
            "edition": self.passage.edition,
            "kind": self.passage.kind,
            "rank": self.rank,
            "score": self.score,
            "via": list(self.via),
        }


@dataclass(frozen=True, slots=True)
class SearchFeatures:
    """Features of a search result, from which confidence is computed."""

    similarity: float  # of the nearest passage, as the embedding model sees it
    nearest_question: float | None  # its similarity; None if most rules have no expansion questions
    term_weights: Mapping[str, float]  # the question's stems with their IDF weights
    unknown_terms: frozenset[str]  # stems that the book never uses
    named_headings: frozenset[str]  # the headings that the question names
    vector: "Floats"  # the question as the embedding model sees it


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as JSON for programs, including the text of its passage."""
    passage = hit.passage
    return {
        **hit.to_json(),
        "heading": passage.heading,
        "text": passage.shown,
        "truncated": passage.truncated,
    }


class SearchResult(NamedTuple):
    """The rules found for one question, best first."""

    hits: list[Hit]
    features: SearchFeatures

"""How confident search can be that the rules it found settle a question.

Two logistic regressions, fitted by `stickler eval calibrate`, use features of the search result
(scores, margins, agreement of dense search and BM25, question words that occur in no rule or
expansion question, and similarity to out-of-scope questions): `answerable`, do the loaded rules
settle the question at all; `rule_cited`, is a deciding rule among those cited. Excerpts and full
releases have separate weights, because among four times as many rules there is always something
similar. So do books and embedding models without expansion questions (index/expansion.py).
"""

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from index.bm25 import stems
from index.hits import Hit, SearchFeatures
from qa.out_of_scope import Neighbour

WEIGHTS = Path(__file__).with_name("confidence.json")
TABLES = ("answerable", "rule_cited")


class Confidence(NamedTuple):
    answerable: float  # the loaded rules settle the question
    rule_cited: float  # a deciding rule is among those cited
    enough: bool  # False: abstain


def features(hits: Sequence[Hit], search: SearchFeatures, neighbour: Neighbour) -> dict[str, float]:
    """Features that separate questions that the rules settle from those they do not."""
    best = hits[0].score
    shown = set(stems(" ".join(f"{hit.passage.heading} {hit.passage.shown}" for hit in hits[:3])))
    total = sum(search.term_weights.values()) or 1.0
    both = [{"dense", "lexical"} <= set(hit.via) for hit in hits[:5]]
    question = search.nearest_question
    return {
        **({} if question is None else {"expansion_similarity": question}),
        "score": best,
        "margin": best - hits[min(4, len(hits) - 1)].score,
        "similarity": search.similarity,
        "top_in_both": float(both[0]),
        "share_in_both": sum(both) / len(both),
        "covered_terms": sum(w for word, w in search.term_weights.items() if word in shown) / total,
        "unknown_terms": sum(search.term_weights[word] for word in search.unknown_terms) / total,
        "names_heading": float(bool(search.named_headings)),
        "out_of_scope_similarity": neighbour.similarity,
        "similarity_margin": search.similarity - neighbour.similarity,
    }


def confidence(
    hits: Sequence[Hit], search: SearchFeatures, neighbour: Neighbour, whole: bool
) -> Confidence:
    """How confident search is in its result, for excerpts or for a `whole` release."""
    values = features(hits, search, neighbour)
    tables = _weights()[extent(whole, search)]
    answerable, rule_cited = (logistic(tables[name], values) for name in TABLES)
    return Confidence(answerable, rule_cited, answerable >= tables["answerable"]["threshold"])


def extent(whole: bool, search: SearchFeatures) -> str:
    """The name of the weights for this kind of book, with or without expansion questions."""
    name = "whole" if whole else "excerpts"
    return name if search.nearest_question is not None else f"{name}, no questions"


@cache
def _weights() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return tables


def logistic(table: dict[str, Any], values: dict[str, float]) -> float:
    total = table["constant"] + sum(table["features"][key] * value for key, value in values.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))

"""How sure search can be that the rules it found settle a question.

What search knows of its own result (scores, margins, agreement of the paths, words of the question
that neither a rule nor the questions beside it have, and what else the question may be about) goes
through logistic functions whose weights `stickler eval calibrate` fits: `settled`, do the loaded
rules decide it at all; `found`, is a deciding rule among those cited. Excerpts and whole releases
have weights of their own: among four times as many rules something similar is always found. So have
books and embedding models for which no questions ship (index/expansion.py).
"""

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from index.bm25 import stems
from index.hits import Evidence, Hit
from qa.out_of_scope import Neighbour

WEIGHTS = Path(__file__).with_name("confidence.json")


class Confidence(NamedTuple):
    settled: float
    found: float
    enough: bool  # False: abstain


def features(hits: Sequence[Hit], evidence: Evidence, neighbour: Neighbour) -> dict[str, float]:
    """The figures that tell a question that the rules settle from one that they do not."""
    best = hits[0].score
    shown = set(stems(" ".join(f"{hit.passage.heading} {hit.passage.shown}" for hit in hits[:3])))
    total = sum(evidence.term_weights.values()) or 1.0
    both = [{"dense", "lexical"} <= set(hit.via) for hit in hits[:5]]
    question = evidence.nearest_question
    return {
        **({} if question is None else {"question": question}),
        "score": best,
        "margin": best - hits[min(4, len(hits) - 1)].score,
        "similar": evidence.similarity,
        "agree": float(both[0]),
        "paths": sum(both) / len(both),
        "covered": sum(w for word, w in evidence.term_weights.items() if word in shown) / total,
        "unknown": sum(evidence.term_weights[word] for word in evidence.unknown_terms) / total,
        "named": float(bool(evidence.named_headings)),
        "elsewhere": neighbour.similarity,
        "nearer": evidence.similarity - neighbour.similarity,
    }


def confidence(
    hits: Sequence[Hit], evidence: Evidence, neighbour: Neighbour, whole: bool
) -> Confidence:
    """How sure search is of what it found in excerpts, or in a `whole` release."""
    values = features(hits, evidence, neighbour)
    tables = _weights()[extent(whole, evidence)]
    settled, found = (logistic(tables[name], values) for name in ("settled", "found"))
    return Confidence(settled, found, settled >= tables["settled"]["threshold"])


def extent(whole: bool, evidence: Evidence) -> str:
    """What the weights are called for such a book and what is known of its rules."""
    name = "whole" if whole else "excerpts"
    return name if evidence.nearest_question is not None else f"{name}, no questions"


@cache
def _weights() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return tables


def logistic(table: dict[str, Any], values: dict[str, float]) -> float:
    total = table["constant"] + sum(table["features"][key] * value for key, value in values.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))

"""The model card of tuned weights: what they were trained on, and what tuning gained."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from eval import items, metrics
from index import files
from index.embedder import Embedder
from index.passages import passages
from index.rulebook import Edition

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Card:
    """A model card, stored beside the weights as JSON."""

    model: str
    base: str  # fingerprint of the weights that training started from
    data: str  # hash of questions and rules
    questions: int
    settings: Mapping[str, Any]
    steps: int
    minutes: float
    before: Figures  # on the dev set
    after: Figures
    weights: str  # SHA-256

    def write(self, path: Path) -> None:
        files.write_whole(path, json.dumps(asdict(self), indent=1).encode() + b"\n")


def dense_hits(embedder: Embedder, edition: Edition, limit: int | None) -> Figures:
    """How often a gold rule is in the top 1, 5 and 10 by vectors alone.

    Asks the first `limit` questions of the dev set.
    """
    rules = [p for p in passages(edition) if p.kind == "rule" and p.embedded]
    vectors = embedder.encode_passages([rule.embedded for rule in rules])
    dev = items.dev()[:limit]
    questions = embedder.encode_questions([item.question for item in dev])
    found = [[rules[at].number for at in (-row).argsort()[:10]] for row in questions @ vectors.T]
    return {
        f"rule among the first {k}": round(
            fmean(metrics.hit(f, item.gold_rules, k) for f, item in zip(found, dev, strict=True)), 3
        )
        for k in (1, 5, 10)
    }

"""What is said of tuned weights: what they were made from, and what they gave."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from eval import items
from eval.items import EvalItem
from index import files
from index.embed import Embedder
from index.passages import passages
from index.rerank import Reranker
from index.rulebook import Edition
from index.search import Searcher

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Card:
    """Lies beside the weights as JSON."""

    model: str
    base: str  # fingerprint of the weights that it began from
    data: str  # hash of questions and rules
    questions: int
    settings: Mapping[str, Any]
    steps: int
    minutes: float
    before: Figures  # on the players' questions, which nothing is trained on
    after: Figures
    weights: str  # SHA-256

    def write(self, path: Path) -> None:
        files.write_whole(path, json.dumps(asdict(self), indent=1).encode() + b"\n")


def by_vectors(embedder: Embedder, book: Edition, limit: int | None) -> Figures:
    """Players' questions against every rule of a book, by nothing but vectors."""
    rules = [p for p in passages(book) if p.kind == "rule" and p.embedded]
    vectors = embedder.encode_passages([rule.embedded for rule in rules])
    players = items.players()[:limit]
    asked = embedder.encode_questions([item.question for item in players])
    found = [[rules[at].number for at in (-row).argsort()[:10]] for row in asked @ vectors.T]
    return _hits(found, players)


def by_search(searcher: Searcher, limit: int | None) -> Figures:
    """Players' questions through the whole search, and yes or no read off the deciding rule."""
    players = items.players()[:limit]
    found = searcher.search_many([item.question for item in players])
    figures = _hits([[hit.passage.number for hit in hits] for hits in found], players)
    return figures | (_verdicts(searcher.reranker, searcher, players) if searcher.reranker else {})


def _verdicts(reader: Reranker, searcher: Searcher, players: Sequence[EvalItem]) -> Figures:
    asked = [item for item in players if item.gold_verdict]
    rules = searcher.book.current.by_number
    pairs = [
        (item.question, f"{rules[item.gold_rules[0]].heading}: {rules[item.gold_rules[0]].text}")
        for item in asked
    ]
    said = [reading.yes > 0 for reading in reader.read(pairs)]
    right = [yes == (item.gold_verdict == "yes") for yes, item in zip(said, asked, strict=True)]
    return {"verdict, deciding rule given": round(fmean(right), 3)}


def _hits(found: Sequence[Sequence[str]], players: Sequence[EvalItem]) -> Figures:
    gold = [set(item.gold_rules) for item in players]
    return {
        f"rule among the first {k}": round(
            fmean(bool(g & set(f[:k])) for g, f in zip(gold, found, strict=True)), 3
        )
        for k in (1, 5, 10)
    }

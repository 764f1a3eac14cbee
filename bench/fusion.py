"""Ablations of search on the dev set: without single stages, other fusions, other contexts.

Run as: python -m bench.fusion
"""

from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

from bench.measure import empty_home, head
from eval import items, metrics
from eval.run import VARIANTS
from index import library, passages, store
from index.embedder import Embedder
from index.rulebook import Edition, Rule
from index.searcher import Searcher
from index.stages import ScoreWeights
from index.vocabulary import Vocabulary

DEFAULT = ScoreWeights()
ABLATIONS = {
    "default": DEFAULT,
    "dense only": VARIANTS["dense"],
    "BM25 only": VARIANTS["bm25"],
    "dense and BM25 only": VARIANTS["fused"],
    "without MaxSim": replace(DEFAULT, maxsim=0),
    "without the heading's bonus": replace(DEFAULT, heading=0),
    "without the rules around": replace(DEFAULT, around=0),
    "examples count as much as rules": replace(DEFAULT, example=0),
    "without references": replace(DEFAULT, reference=0),
    "BM25 counts as much as dense": replace(DEFAULT, bm25=1),
}


def no_context(edition: Edition, rule: Rule) -> str:
    return ""


def nearest_heading(edition: Edition, rule: Rule) -> str:
    return f"{rule.heading}: " if rule.heading else ""


def parents_text(edition: Edition, rule: Rule) -> str:
    parent = edition.by_number.get(rule.parent or "")
    has_text = parent is not None and not parent.is_heading
    return nearest_heading(edition, rule) + (f"{parent.text} " if parent and has_text else "")


CONTEXTS = {
    "no context": no_context,
    "nearest heading only": nearest_heading,
    "nearest heading and the parent rule's text": parents_text,
}


def main() -> None:
    head("Variants of search on the dev set", ("variant", "first", "among 5", "among 10"))
    with empty_home():
        searcher = Searcher.open()
        for name, weights in ABLATIONS.items():
            _row(name, _rankings(searcher, weights))
        with mock.patch.object(Vocabulary, "translate", lambda self, question: question):
            _row("without the vocabulary", _rankings(searcher, DEFAULT))
        _row("reciprocal rank fusion of dense and BM25", _reciprocal(searcher))
        for name, lead in CONTEXTS.items():
            with mock.patch.object(passages, "_lead", lead):
                book, embedder = library.load(), Embedder()
                store.build(book, embedder, force=True)
                other = Searcher(book, store.open_store(book, embedder), embedder)
                _row(name, _rankings(other, DEFAULT))


def _rankings(searcher: Searcher, weights: ScoreWeights, k: int = 10) -> list[list[str]]:
    results = searcher.with_score_weights(weights).search(
        [item.question for item in items.dev()], k
    )
    return [[hit.passage.number for hit in result.hits] for result in results]


def _reciprocal(searcher: Searcher) -> list[list[str]]:
    """Ranks instead of scores: 1 / (60 + rank), added over both paths."""
    both = [_rankings(searcher, VARIANTS[name], 100) for name in ("dense", "bm25")]
    return [list(_fused(rankings)) for rankings in zip(*both, strict=True)]


def _fused(rankings: tuple[list[str], ...]) -> Iterator[str]:
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (60 + rank)
    yield from sorted(scores, key=lambda number: -scores[number])


def _row(name: str, rankings: list[list[str]]) -> None:
    pairs = list(zip(items.dev(), rankings, strict=True))
    figures = [
        metrics.mean([metrics.hit(found, item.gold_rules, k) for item, found in pairs]).value
        for k in (1, 5, 10)
    ]
    print(f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)


if __name__ == "__main__":
    main()

"""What other ways of fusing and of giving context find, on the players' questions.

Run as: python -m bench.fusion
"""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

from eval import items, metrics
from index import library, passages, store
from index.embedder import Embedder
from index.bm25 import Vocabulary
from index.rulebook import Edition, Rule
from index.searcher import Searcher, Weights

PLAIN = Weights()
FUSIONS = {
    "as it is": PLAIN,
    "dense only": replace(PLAIN, lexical=0, heading=0, around=0, reference=0),
    "lexical only": replace(PLAIN, dense=0, lexical=1, heading=0, around=0, reference=0),
    "dense + lexical, nothing else": replace(PLAIN, heading=0, around=0, example=0, reference=0),
    "without the heading's bonus": replace(PLAIN, heading=0),
    "without the rules around": replace(PLAIN, around=0),
    "examples count as much as rules": replace(PLAIN, example=0),
    "without references": replace(PLAIN, reference=0),
    "lexical counts as much as dense": replace(PLAIN, lexical=1),
}


def no_context(book: Edition, rule: Rule) -> str:
    return ""


def nearest_heading(book: Edition, rule: Rule) -> str:
    return f"{rule.heading}: " if rule.heading else ""


def parents_text(book: Edition, rule: Rule) -> str:
    parent = book.by_number.get(rule.parent or "")
    told = parent is not None and not parent.is_heading
    return nearest_heading(book, rule) + (f"{parent.text} " if parent and told else "")


CONTEXTS = {
    "no context": no_context,
    "nearest heading only": nearest_heading,
    "nearest heading and the parent rule's text": parents_text,
}


def main() -> None:
    print("\n## Ways of searching, on the players' questions\n")
    print("| way | first | among 5 | among 10 |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as home:
        os.environ["STICKLER_HOME"] = home
        searcher = Searcher.open()
        for name, weights in FUSIONS.items():
            _row(name, _rankings(searcher, weights))
        with mock.patch.object(Vocabulary, "translate", lambda self, question: question):
            _row("without the vocabulary", _rankings(searcher, PLAIN))
        _row("reciprocal ranks", _reciprocal(searcher))
        for name, lead in CONTEXTS.items():
            with mock.patch.object(passages, "_lead", lead):
                book, embedder = library.load(), Embedder()
                store.build(book, embedder, anew=True)
                other = Searcher(book, store.open_store(book, embedder), embedder)
                _row(name, _rankings(other, PLAIN))


def _rankings(searcher: Searcher, weights: Weights, k: int = 10) -> list[list[str]]:
    asked = Searcher(searcher.book, searcher.index, searcher.embedder, weights)
    found = asked.search_many([item.question for item in items.dev()], k)
    return [[hit.passage.number for hit in hits] for hits in found]


def _reciprocal(searcher: Searcher) -> list[list[str]]:
    """Ranks instead of scores: 1 / (60 + rank), added over both paths."""
    both = [_rankings(searcher, FUSIONS[name], 100) for name in ("dense only", "lexical only")]
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

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
from index.embedder import Embedder
from index.passages import passages
from index.rulebook import Edition
from index.searcher import Searcher
from qa.models.local import Local
from qa.prompt import fill
from qa.settings import Settings

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
    players = items.dev()[:limit]
    asked = embedder.encode_questions([item.question for item in players])
    found = [[rules[at].number for at in (-row).argsort()[:10]] for row in asked @ vectors.T]
    return _hits(found, players)


def by_search(searcher: Searcher, limit: int | None) -> Figures:
    """Players' questions through the whole search."""
    players = items.dev()[:limit]
    found = searcher.search_many([item.question for item in players])
    return _hits([[hit.passage.number for hit in hits] for hits in found], players)


def by_words(model: Local, searcher: Searcher, limit: int | None) -> Figures:
    """Yes or no to players' questions, as the model would open its answer to the product's prompt.

    Shown the rules that search finds; and, with the deciding one given, that and the best other.
    """
    settings = Settings()
    players = [item for item in items.dev()[:limit] if item.gold_verdict]
    rules = searcher.book.current.by_number
    found = [
        [hit.passage.number for hit in hits if hit.passage.number in rules]
        for hits in searcher.search_many([item.question for item in players], settings.top_k)
    ]
    given = [
        list(dict.fromkeys([item.gold_rules[0], *numbers]))
        for item, numbers in zip(players, found, strict=True)
    ]
    ways = {"rules as found": found, "deciding rule given": given}
    prompts = {
        what: [
            fill(
                item.question,
                [(number, rules[number].text) for number in numbers[: settings.context_rules]],
                settings.prompt_tokens,
                model.count,
            )[0]
            for item, numbers in zip(players, shown, strict=True)
        ]
        for what, shown in ways.items()
    }
    distinct = list(dict.fromkeys(prompt for those in prompts.values() for prompt in those))
    leans = dict(zip(distinct, model.yes_over_no(distinct), strict=True))
    yes = [item.gold_verdict == "yes" for item in players]
    figures: Figures = {}
    for what, those in prompts.items():
        figures |= _told_apart(what, [leans[prompt] for prompt in those], yes)
    return figures


def _told_apart(what: str, leans: Sequence[float], yes: Sequence[bool]) -> Figures:
    """How often the sign is right, and how well the numbers part yes from no; needs both."""
    from sklearn.metrics import roc_auc_score

    if len(set(yes)) < 2:
        return {}
    right = fmean((lean > 0) == truth for lean, truth in zip(leans, yes, strict=True))
    return {
        f"verdict, {what}": round(right, 3),
        f"AUC of yes over no, {what}": round(float(roc_auc_score(yes, leans)), 3),
    }


def _hits(found: Sequence[Sequence[str]], players: Sequence[EvalItem]) -> Figures:
    gold = [set(item.gold_rules) for item in players]
    return {
        f"rule among the first {k}": round(
            fmean(bool(g & set(f[:k])) for g, f in zip(gold, found, strict=True)), 3
        )
        for k in (1, 5, 10)
    }

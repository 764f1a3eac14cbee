"""What tuning gives on books that it has not seen: a newer release, and the book of 2009.

The players' questions are carried over to each book by the text of the rules that decide them; one
whose rule the book does not have is left out.

Run as: python -m bench.unseen [LIMIT]
"""

import os
import sys
import tempfile

from bench.search import RELEASE
from eval import items
from index import library
from index.embedder import DEFAULT, PLAIN
from index.bm25 import stems
from index.rulebook import Edition
from index.searcher import Searcher

SAME = 0.7  # share of words that two texts of one rule have in common
WAYS = {"untuned": PLAIN, "tuned": DEFAULT}


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    print("| book | questions | search | first | among 5 | among 10 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, embedder in WAYS.items():
        with tempfile.TemporaryDirectory() as home:
            os.environ["STICKLER_HOME"] = home
            document, _ = library.add_text(RELEASE.read_bytes(), RELEASE.name)
            searcher = Searcher.open(embedder)
            for edition in (document.edition, "2009-10-01"):
                count, shares = _measured(searcher, edition, limit)
                figures = " | ".join(f"{share:.3f}" for share in shares)
                print(f"| {edition} | {count} | {name} | {figures} |", flush=True)


def _measured(searcher: Searcher, edition: str, limit: int | None) -> tuple[int, list[float]]:
    shipped = library.load(d for d in library.documents() if d.added is None).current
    carried = _carried_over(shipped, searcher.book.edition(edition))
    asked = [
        (item.question, gold)
        for item in items.dev()[:limit]
        if (gold := {carried[rule] for rule in item.gold_rules if rule in carried})
    ]
    found = searcher.search_many([question for question, _ in asked], edition=edition)
    ranked = [
        [hit.passage.number in gold for hit in hits]
        for hits, (_, gold) in zip(found, asked, strict=True)
    ]
    return len(asked), [sum(any(one[:k]) for one in ranked) / len(asked) for k in (1, 5, 10)]


def _carried_over(shipped: Edition, target: Edition) -> dict[str, str]:
    """Each rule's number in the other book, by heading (else by section) and text."""
    places: dict[str, list[tuple[str, set[str]]]] = {}
    for rule in target.rules:
        if not rule.is_heading:
            for place in (rule.heading.lower(), rule.number.split(".")[0]):
                places.setdefault(place, []).append((rule.number, set(stems(rule.text))))
    carried = {}
    for rule in shipped.rules:
        words = set(stems(rule.text))
        near = places.get(rule.heading.lower() or rule.number.split(".")[0], [])
        likeness = [
            (len(words & other) / max(1, len(words if rule.truncated else words | other)), number)
            for number, other in near
        ]
        if likeness and max(likeness)[0] >= SAME:
            carried[rule.number] = max(likeness)[1]
    return carried


if __name__ == "__main__":
    main()

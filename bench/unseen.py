"""What tuning gains on unseen editions: a newer release, and the edition of 2009.

The questions of the dev set are mapped to each edition by the text of their deciding rules; those
whose rule the edition does not have are left out. With the newer release loaded, refusals are
counted too: questions about other rules ("outside" the excerpts) then have an answer.

Run as: python -m bench.unseen [LIMIT]
"""

import sys

from bench.measure import empty_home, head
from bench.search import RELEASE
from eval import items
from index import library
from index.bm25 import stems
from index.embedder import DEFAULT, PLAIN
from index.rulebook import Edition
from index.searcher import Searcher
from qa.assistant import Assistant
from qa.models import NONE
from qa.resources import Resources
from qa.settings import Settings

SAME = 0.7  # share of words that two texts of one rule have in common
EMBEDDERS = {"untuned": PLAIN, "tuned": DEFAULT}


def main(limit: int | None = None) -> None:
    head(
        "Books that tuning has not seen",
        ("book", "questions", "retriever", "first", "among 5", "among 10"),
    )
    if not RELEASE.exists():
        print("| release of 2026-04-17 | not there | | | | |")
        return
    refused: dict[str, list[bool]] = {}
    for name, embedder in EMBEDDERS.items():
        with empty_home():
            document, _ = library.add_text(RELEASE.read_bytes(), RELEASE.name)
            resources = Resources(embedder)
            searcher = resources.searcher
            for edition in (document.edition, "2009-10-01"):
                count, shares = _measure(searcher, edition, limit)
                figures = " | ".join(f"{share:.3f}" for share in shares)
                print(f"| {edition} | {count} | {name} | {figures} |", flush=True)
            if embedder == DEFAULT:
                refused = _refused(resources, limit)
    head("Refused with a whole release", ("questions", "asked", "refused"))
    for kind, those in refused.items():
        print(f"| {kind} | {len(those)} | {sum(those) / len(those):.3f} |", flush=True)


def _refused(resources: Resources, limit: int | None) -> dict[str, list[bool]]:
    """Of each kind of question, whether it is refused; only what nothing was fitted on."""
    asked = [("dev-held-out", item.question) for item in items.dev()[1::2][:limit]]
    asked += [(i.kind, i.question) for i in items.unanswerable() if i.split == "test"]
    assistant = Assistant(Settings(model=NONE), resources)
    drafts = assistant.draft_many([question for _, question in asked])
    refused: dict[str, list[bool]] = {}
    for (kind, _), draft in zip(asked, drafts, strict=True):
        refused.setdefault(kind, []).append(draft.answer.abstained)
    return refused


def _measure(searcher: Searcher, edition: str, limit: int | None) -> tuple[int, list[float]]:
    """How many questions were asked, and the share with a gold rule among the first 1, 5, 10."""
    shipped = library.load(d for d in library.documents() if d.added is None).current
    carried = _carried_over(shipped, searcher.rulebook.edition(edition))
    asked = [
        (item.question, gold)
        for item in items.dev()[:limit]
        if (gold := {carried[rule] for rule in item.gold_rules if rule in carried})
    ]
    results = searcher.search([question for question, _ in asked], edition=edition)
    ranked = [
        [hit.passage.number in gold for hit in result.hits]
        for result, (_, gold) in zip(results, asked, strict=True)
    ]
    total = max(1, len(asked))
    return len(asked), [sum(any(one[:k]) for one in ranked) / total for k in (1, 5, 10)]


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
        similarity = [
            (
                len(words & other) / max(1, len(words if rule.truncated else words | other)),
                number == rule.number,  # of two that are as similar, the one that did not move
                number,
            )
            for number, other in near
        ]
        if similarity and max(similarity)[0] >= SAME:
            carried[rule.number] = max(similarity)[2]
    return carried


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)

"""The items that are asked in an evaluation, and the sets they form.

While an item is asked, the passages it was made from are masked: else it would find its answer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from index.editions import CURRENT, Rulebook
from index.errors import SticklerError

_SETS = Path(__file__).parent / "sets"


@dataclass(frozen=True, slots=True)
class EvalItem:
    id: str
    kind: str
    question: str
    gold_rules: tuple[str, ...]
    gold_answer: str | None = None
    gold_verdict: str | None = None
    masked: tuple[str, ...] = ()
    edition: str = CURRENT
    source: str = ""
    split: str = ""


def players() -> list[EvalItem]:
    """Questions in players' words: they measure and choose, and nothing is fitted on them."""
    return _questions("players.jsonl")


def practice() -> list[EvalItem]:
    """Questions in players' words about other rules, for fitting and training."""
    return _questions("practice.jsonl")


def unanswerable() -> list[EvalItem]:
    """Questions that the shipped rules do not settle, in the splits train, calibrate and test."""
    names = sorted(path.name for path in _SETS.glob("unanswerable*.jsonl"))
    return [
        EvalItem(row["id"], row["kind"], row["question"], (), split=row["split"], source=name)
        for name in names
        for row in _rows(name)
    ]


def _questions(name: str) -> list[EvalItem]:
    return [
        EvalItem(
            id=row["id"],
            kind=row["kind"],
            question=row["question"],
            gold_rules=tuple(row["gold_rules"]),
            gold_answer=row["answer"],
            gold_verdict=row["verdict"],
            source=name,
        )
        for row in _rows(name)
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_SETS / name).read_text(encoding="utf-8").splitlines()]


def examples(book: Rulebook) -> list[EvalItem]:
    """The documents' own examples, each distinct text once: which rule does it illustrate?"""
    places: dict[str, list[tuple[str, str, str]]] = {}  # text -> (view, number, passage id)
    for view in (CURRENT, *book.editions):
        for rule in book.edition(view).rules:
            for place, example in enumerate(rule.examples, 1):
                if example.text:
                    passage = f"{rule.edition}/{rule.number}#{place}"
                    places.setdefault(example.text, []).append((view, rule.number, passage))
    items = []
    for text, found in places.items():
        view = found[0][0]
        items.append(
            EvalItem(
                id=found[0][2],
                kind="rule",
                question=text,
                gold_rules=tuple(dict.fromkeys(n for v, n, _ in found if v == view)),
                masked=tuple(dict.fromkeys(passage for _, _, passage in found)),
                edition=view,
                source=found[0][2].split("/")[0],
            )
        )
    return items


def load(name: str, book: Rulebook) -> list[EvalItem]:
    """A set by its name."""
    sets: dict[str, Callable[[], list[EvalItem]]] = {
        "players": players,
        "players-held-out": lambda: players()[1::2],  # the half that no threshold was set on
        "examples": lambda: examples(book),
        "unanswerable": lambda: [item for item in unanswerable() if item.split == "test"],
    }
    if name not in sets:
        raise SticklerError(f"There is no question set '{name}': there are {', '.join(sets)}.")
    return sets[name]()

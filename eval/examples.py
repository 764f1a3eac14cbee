"""Evaluation items from the documents' own examples: a situation, and its outcome.

The shipped examples were split by code, then reviewed and corrected by hand
(sets/examples-read.jsonl). Other examples, from an added release, are split by code alone; if code
cannot negate the outcome with certainty, the item only asks for its rule.
"""

import difflib
import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.items import SETS, EvalItem, rows
from index.editions import CURRENT, Rulebook
from qa.citations import sentences

VERSION = 1  # of the item format
READ = SETS / "examples-read.jsonl"
_SAME_EXAMPLE = 0.72  # least similarity, 0 to 1, for examples of two editions to count as the same
_OPEN_QUESTION = "What happens?"
# What code negates, in either direction; the first that fits is taken.
_NEGATIONS = (
    ("can’t", "can"),
    ("won’t", "will"),
    ("isn’t", "is"),
    ("aren’t", "are"),
    ("wasn’t", "was"),
    ("doesn’t have", "has"),
    ("will not", "will"),
    ("is not", "is"),
    ("illegal", "legal"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A distinct example: where it is, and its duplicates, which are masked with it."""

    id: str  # of its passage
    text: str
    numbers: tuple[str, ...]  # the rules of its own view that it illustrates
    masked: tuple[str, ...]
    view: str


@dataclass(frozen=True, slots=True)
class Case:
    """An example split into its parts."""

    situation: str
    outcome: str = ""
    negated: str = ""  # the opposite outcome
    distractors: tuple[str, ...] = ()  # wrong outcomes that a neighbouring rule would give
    equivalent: tuple[str, ...] = ()  # rules that say the same as the example's own
    by_hand: bool = False


def distinct(rulebook: Rulebook) -> list[Example]:
    """Every distinct example of all editions."""
    places: dict[str, list[tuple[str, str, str]]] = {}  # text -> (view, number, passage id)
    for view in (CURRENT, *rulebook.editions):
        for rule in rulebook.edition(view).rules:
            for place, example in enumerate(rule.examples, 1):
                if example.text:
                    passage = rule.example_id(place)
                    places.setdefault(example.text, []).append((view, rule.number, passage))
    groups: list[list[str]] = []
    words = {text: _words(text) for text in places}
    for text, found in places.items():
        known = next((g for g in groups if _duplicates(text, found, g[0], places, words)), None)
        if known is None:
            groups.append([text])
        else:
            known.append(text)
    return [_example(group, places) for group in groups]


def _duplicates(
    text: str,
    found: Sequence[tuple[str, str, str]],
    first: str,
    places: dict[str, list[tuple[str, str, str]]],
    words: dict[str, list[str]],
) -> bool:
    """True where a text is another edition's version of an example."""
    if {_edition(p) for _, _, p in found} & {_edition(p) for _, _, p in places[first]}:
        return False  # one edition does not give the same example twice
    match = difflib.SequenceMatcher(None, words[first], words[text], autojunk=False)
    return match.quick_ratio() >= _SAME_EXAMPLE and match.ratio() >= _SAME_EXAMPLE


def _edition(passage: str) -> str:
    return passage.split("/")[0]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _example(group: list[str], places: dict[str, list[tuple[str, str, str]]]) -> Example:
    found = places[group[0]]
    view = found[0][0]
    return Example(
        id=found[0][2],
        text=group[0],
        numbers=tuple(dict.fromkeys(number for v, number, _ in found if v == view)),
        masked=tuple(dict.fromkeys(p for text in group for _, _, p in places[text])),
        view=view,
    )


def read() -> dict[str, Case]:
    """The examples that were split by hand, by their text."""
    return {
        row["text"]: Case(
            row["situation"],
            row["outcome"],
            row["negated"],
            tuple(one["text"] for one in row["distractors"]),
            tuple(row["equivalent"]),
            by_hand=True,
        )
        for row in rows(READ)
    }


def unmatched(rulebook: Rulebook) -> list[str]:
    """Texts of examples that were split by hand and are no longer in the documents."""
    known = [example.text for example in distinct(rulebook)]
    return [text for text in read() if not any(each.startswith(text) for each in known)]


def build(rulebook: Rulebook) -> list[EvalItem]:
    """The items of all four kinds, always the same for the same documents."""
    examples = distinct(rulebook)
    by_hand = read()
    cases = {e.id: _case(e.text, by_hand) for e in examples}
    outcomes = [(e, cases[e.id].outcome) for e in examples if cases[e.id].outcome]
    items: list[EvalItem] = []
    for example in examples:
        case = cases[example.id]
        distractors = case.distractors or _neighbours(example, outcomes)
        items += _items(example, case, distractors)
    return items


def _case(text: str, by_hand: Mapping[str, Case]) -> Case:
    """The case for a text, split by hand if possible; another document may have a longer text."""
    if text in by_hand:
        return by_hand[text]
    longer = (case for read, case in by_hand.items() if case.outcome and text.startswith(read))
    return next(longer, None) or _split(text)


def _items(example: Example, case: Case, distractors: Sequence[str]) -> list[EvalItem]:
    source = "read by hand" if case.by_hand else "split by code"

    def item(kind: str, question: str, mark: str = "", **more: object) -> EvalItem:
        return EvalItem(
            id=f"{kind}/{example.id}{mark}",
            kind=kind,
            question=question,
            gold_rules=(*example.numbers, *case.equivalent),
            masked=example.masked,
            edition=example.view,
            source=source,
            **more,  # type: ignore[arg-type]
        )

    made = [item("rule", case.situation)]
    if not case.outcome:
        return made
    question = f"{case.situation} {_OPEN_QUESTION}"
    made.append(item("free", question, gold_answer=case.outcome))
    if not case.negated:
        return made
    for verdict, claim in (("yes", case.outcome), ("no", case.negated)):
        made.append(
            item("verdict", case.situation, f":{verdict}", gold_verdict=verdict, choices=(claim,))
        )
    if len(distractors) == 2:
        choices = [case.outcome, case.negated, *distractors]
        random.Random(_seed(example.id)).shuffle(choices)
        made.append(
            item("outcome", case.situation, gold_answer=case.outcome, choices=tuple(choices))
        )
    return made


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _split(text: str) -> Case:
    """An example split by code: its outcome is the last sentence, or what follows 'If ...,'."""
    parts = sentences(text)
    if text.endswith(("...", "…")) or parts[-1][-1:] not in ".!?”)":
        return Case(text)  # cut off before its outcome
    *before, last = parts
    condition = re.match(r"(If [^,]+), (?:then )?(.+)$", last)
    if condition:
        before.append(f"{condition[1]}.")
        last = condition[2][0].upper() + condition[2][1:]
    if not before:
        return Case(text)
    return Case(" ".join(before), last, _negated(last))


def _negated(outcome: str) -> str:
    """The opposite outcome where code can be certain: one phrase to negate, exactly once."""
    for negative, positive in _NEGATIONS:
        for old, new in ((negative, positive), (positive, negative)):
            if len(re.findall(rf"\b{old}\b", outcome)) == 1:
                return re.sub(rf"\b{old}\b", new, outcome)
    return ""


def _neighbours(example: Example, outcomes: Sequence[tuple[Example, str]]) -> tuple[str, ...]:
    """The outcomes of the two nearest examples of other rules."""
    place = next((at for at, (e, _) in enumerate(outcomes) if e.id == example.id), None)
    if place is None:
        return ()
    others = [
        (abs(at - place), outcome)
        for at, (other, outcome) in enumerate(outcomes)
        if other.view == example.view and not set(other.numbers) & set(example.numbers)
    ]
    return tuple(outcome for _, outcome in sorted(others)[:2])


def write(items: Sequence[EvalItem], folder: Path) -> list[Path]:
    """Write one file of JSON lines for each kind into a folder; gives their paths."""
    from dataclasses import asdict

    from index import files

    paths = []
    for kind in dict.fromkeys(item.kind for item in items):
        lines = [
            json.dumps({"version": VERSION, **asdict(item)}, ensure_ascii=False)
            for item in items
            if item.kind == kind
        ]
        paths.append(folder / f"{kind}.jsonl")
        files.write_whole(paths[-1], ("\n".join(lines) + "\n").encode())
    return paths

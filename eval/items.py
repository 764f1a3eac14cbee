"""The items that are asked in an evaluation, and the sets they form.

While an item is asked, the passages it was made from are masked: else it would find its answer.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from index import files, numbers
from index.editions import CURRENT, Rulebook
from index.errors import SticklerError

SETS = Path(__file__).parent / "sets"
ALL = ("rule", "outcome", "verdict", "free", "dev", "unanswerable")  # of a whole run


@dataclass(frozen=True, slots=True)
class EvalItem:
    id: str
    kind: str
    question: str
    gold_rules: tuple[str, ...]
    gold_answer: str | None = None
    gold_verdict: str | None = None
    choices: tuple[str, ...] = ()  # outcomes to choose from, or the one that is claimed
    masked: tuple[str, ...] = ()
    edition: str = CURRENT
    source: str = ""
    split: str = ""


def players() -> list[EvalItem]:
    """Questions in players' words: they measure and choose, and nothing is fitted on them."""
    return _questions("players.jsonl")


def fresh() -> list[EvalItem]:
    """More such questions about the same rules, with which nothing was chosen: they measure."""
    return _questions("fresh.jsonl")


def practice() -> list[EvalItem]:
    """Questions in players' words about other rules, for fitting and training."""
    return _questions("practice.jsonl")


def kept_back() -> list[EvalItem]:
    """The questions about every eighth group of practice: nothing is trained on these groups.

    A model is surer of what it was trained on; how sure it may be is fitted on these.
    """
    groups = sorted({numbers.group(item.gold_rules[0]) for item in practice()})
    kept = set(groups[3::8])
    asked = [item for item in practice() if numbers.group(item.gold_rules[0]) in kept]
    return asked + _questions("kept.jsonl")


def kept_roundabout() -> list[EvalItem]:
    """Questions about kept-back groups in words far from the rule's."""
    return _questions("kept-roundabout.jsonl")


def pairs(more: bool = False, roundabout: bool = False) -> list[EvalItem]:
    """Questions of our own for training, many in pairs that a small change turns around.

    `roundabout`: also those that are put in words far from the rule's.
    """
    names = [*_own_sets(more), *(["-roundabout"] if roundabout else [])]
    return [item for name in names for item in _questions(f"pairs{name}.jsonl")]


def invented(more: bool = False) -> list[dict[str, str]]:
    """Rules that no document here has, which some pairs are about: to learn to read new ones."""
    return [rule for name in _own_sets(more) for rule in _rows(f"invented{name}.jsonl")]


def _own_sets(more: bool) -> list[str]:
    return ["", "-general", *(["-more"] if more else [])]


def unanswerable() -> list[EvalItem]:
    """Questions that the shipped rules do not settle, in the splits calibrate and test."""
    name = "unanswerable.jsonl"
    return [
        EvalItem(row["id"], row["kind"], row["question"], (), split=row["split"], source=name)
        for row in _rows(name)
    ]


def _questions(name: str) -> list[EvalItem]:
    return [
        EvalItem(
            id=row["id"],
            kind=row["kind"],
            question=row["question"],
            gold_rules=tuple(row["gold_rules"]),
            gold_answer=row.get("answer"),
            gold_verdict=row["verdict"],
            source=name,
        )
        for row in _rows(name)
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SETS / name).read_text(encoding="utf-8").splitlines()]


def version(items: Sequence[EvalItem]) -> str:
    """Tells one set of items from another."""
    text = json.dumps([asdict(item) for item in items], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def own(path: Path) -> list[EvalItem]:
    """A user's questions with the rules that decide them: JSON lines like players.jsonl."""
    items = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            item = EvalItem(
                id=str(row.get("id") or f"{path.stem}-{number}"),
                kind=str(row.get("kind") or "own"),
                question=str(row["question"]),
                gold_rules=tuple(str(rule) for rule in row["gold_rules"]),
                gold_answer=row.get("answer"),
                gold_verdict=row.get("verdict"),
                edition=str(row.get("edition") or CURRENT),
                source=path.name,
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SticklerError(
                f"Line {number} of {path} is no question with its rules ({error!r}): write a JSON "
                'object a line, like {"question": "...", "gold_rules": ["702.19b"]}.'
            ) from None
        items.append(item)
    return items


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SticklerError(
            f"Could not read {path} ({error}): name a file of JSON lines in UTF-8."
        ) from None


def add(path: Path, name: str, book: Rulebook) -> tuple[list[EvalItem], list[str]]:
    """Take a user's question file in as a set; also what it leaves out, and why."""
    if name in NAMES or not re.fullmatch(r"[\w-]{1,40}", name):
        raise SticklerError(
            f"A set cannot be called '{name}': choose letters, digits and dashes, and none of "
            f"{', '.join(NAMES)}."
        )
    read = own(path)
    left_out = []
    kept = []
    for item in read:
        missing = [
            rule for rule in item.gold_rules if rule not in book.edition(item.edition).by_number
        ]
        if missing or not item.gold_rules or item.gold_verdict not in {"yes", "no", None}:
            why = (
                f"rule {missing[0]} is not in edition {item.edition}"
                if missing
                else (
                    "it names no deciding rule"
                    if not item.gold_rules
                    else "its verdict is no yes or no"
                )
            )
            left_out.append(f"{item.id}: {why}")
        else:
            kept.append(item)
    if not kept:
        raise SticklerError(
            f"No question of {path} can be used ({left_out[0] if left_out else 'it is empty'}): "
            "each needs gold_rules that the loaded rules have."
        )
    [(most, count)] = Counter(item.id for item in kept).most_common(1)
    if count > 1:
        raise SticklerError(f"{path} has the id '{most}' twice: give each question its own.")
    lines = [
        json.dumps(
            {**asdict(item), "answer": item.gold_answer, "verdict": item.gold_verdict},
            ensure_ascii=False,
        )
        for item in kept
    ]
    files.write_whole(_own_folder() / f"{name}.jsonl", ("\n".join(lines) + "\n").encode())
    return kept, left_out


def _own_folder() -> Path:
    return files.home() / "sets"


def load(name: str, book: Rulebook) -> list[EvalItem]:
    """A set by its name: one that ships, or one that a user added."""
    if name in ("rule", "outcome", "verdict", "free"):
        from eval import examples

        return [item for item in examples.build(book) if item.kind == name]
    if name in _SHIPPED:
        return _SHIPPED[name](book)
    path = _own_folder() / f"{name}.jsonl"
    if not re.fullmatch(r"[\w-]+", name) or not path.exists():
        added = sorted(each.stem for each in _own_folder().glob("*.jsonl"))
        raise SticklerError(
            f"There is no question set '{name}': there are {', '.join((*NAMES, *added))}; "
            "'stickler eval add FILE' adds your own."
        )
    return own(path)


def _whole_examples(book: Rulebook) -> list[EvalItem]:
    """Every example as it stands: which rule does it illustrate?"""
    from eval import examples

    return [
        EvalItem(e.id, "rule", e.text, e.numbers, masked=e.masked, edition=e.view)
        for e in examples.distinct(book)
    ]


_SHIPPED: dict[str, Callable[[Rulebook], list[EvalItem]]] = {
    "dev": lambda book: players(),
    "dev-held-out": lambda book: players()[1::2],  # the half that no threshold was set on
    "test": lambda book: fresh(),
    "unanswerable": lambda book: [item for item in unanswerable() if item.split == "test"],
    "examples": _whole_examples,
}
NAMES = ("rule", "outcome", "verdict", "free", *_SHIPPED)

"""Evaluation items, and the registry of evaluation sets.

While an item is asked, the passages that it was made from are masked; otherwise search would find
its answer. To add a set, add a line to `_SHIPPED`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from index import files
from index.editions import CURRENT, Rulebook
from index.errors import Action, Remedy, SticklerError

SETS = Path(__file__).parent / "sets"
TRAINING = Path(__file__).parent / "training" / "data"
DEFAULT = ("rule", "outcome", "verdict", "free", "dev", "unanswerable")  # sets of a whole run
_ROUNDABOUT_STRIDE = (
    3  # every third roundabout question is used for fitting: most people ask plainly
)
OTHER_RULES = "outside"  # kind of an unanswerable question that a whole release would settle
PLAIN, ROUNDABOUT = "plain", "roundabout"  # styles: how close the words are to the rule's


@dataclass(frozen=True, slots=True)
class EvalItem:
    """A question and what a right answer to it has."""

    id: str
    kind: str
    question: str
    gold_rules: tuple[str, ...]  # most decisive first; none where the rules do not settle it
    gold_answer: str | None = None
    gold_verdict: str | None = None  # yes or no
    choices: tuple[str, ...] = ()  # outcomes to choose from, or the one that is claimed
    masked: tuple[str, ...] = ()  # ids of passages
    edition: str = CURRENT
    source: str = ""
    split: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Set:
    """A set of items that can be run; `load` takes the rulebook and gives the items."""

    name: str
    description: str
    load: Callable[[Rulebook], list[EvalItem]]
    main_measure: str = "rule cited"  # shown in its plots; also determines which items went wrong


def dev() -> list[EvalItem]:
    """Questions in players' words, used to choose settings but never for training."""
    return questions(SETS / "dev.jsonl")


def test() -> list[EvalItem]:
    """Harder questions about the same rules, not used to choose anything."""
    return questions(SETS / "test.jsonl")


def calibration() -> list[EvalItem]:
    """Questions about groups of rules that nothing is trained on, for fitting the confidence.

    A model is more confident about what it was trained on than about anything else.
    """
    return questions(SETS / "calibration.jsonl")


def train() -> list[EvalItem]:
    """Questions in players' words about other rules than those of dev, test and calibration."""
    return questions(TRAINING / "train.jsonl")


def fitted() -> list[EvalItem]:
    """The calibration questions used for fitting: all plain ones, every third roundabout one."""
    asked = calibration()
    roundabout = [item for item in asked if item.style == ROUNDABOUT]
    return [item for item in asked if item.style == PLAIN] + roundabout[::_ROUNDABOUT_STRIDE]


def unanswerable() -> list[EvalItem]:
    """Questions that the shipped rules do not settle, in the splits calibrate and test."""
    path = SETS / "unanswerable.jsonl"
    return [
        EvalItem(row["id"], row["kind"], row["question"], (), split=row["split"], source=path.name)
        for row in rows(path)
    ]


def questions(path: Path) -> list[EvalItem]:
    """The items of a file that ships."""
    return [
        EvalItem(
            id=row["id"],
            kind=row["kind"],
            question=row["question"],
            gold_rules=tuple(row["gold_rules"]),
            gold_answer=row.get("answer"),
            gold_verdict=row["verdict"],
            source=path.name,
            style=row.get("style", ""),
        )
        for row in rows(path)
    ]


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines that ships."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _examples(kind: str) -> Callable[[Rulebook], list[EvalItem]]:
    def load(rulebook: Rulebook) -> list[EvalItem]:
        from eval import examples

        return [item for item in examples.build(rulebook) if item.kind == kind]

    return load


def _whole_examples(rulebook: Rulebook) -> list[EvalItem]:
    from eval import examples

    return [
        EvalItem(e.id, "rule", e.text, e.numbers, masked=e.masked, edition=e.view)
        for e in examples.distinct(rulebook)
    ]


def _unanswerable_test(rulebook: Rulebook) -> list[EvalItem]:
    return [item for item in unanswerable() if item.split == "test"]


def _sample(rulebook: Rulebook) -> list[EvalItem]:
    return fitted()[::2]


_RIGHT = "right, lenient"
_SHIPPED = (
    Set("rule", "situations from examples: which rule decides each?", _examples("rule"), "hit@10"),
    Set("outcome", "situations: which of four outcomes is right?", _examples("outcome"), _RIGHT),
    Set("verdict", "situations: is a claim about them true?", _examples("verdict"), _RIGHT),
    Set("free", "situations: what happens, in your own words?", _examples("free")),
    Set("dev", "questions in players' words, used to choose settings", lambda book: dev()),
    Set("dev-held-out", "the half of dev not used to set the threshold", lambda book: dev()[1::2]),
    Set("dev-sample", "every fifth question of dev, for slow runs", lambda book: dev()[::5]),
    Set("test", "harder questions about the same rules", lambda book: test()),
    Set("calibration", "what the confidence is fitted on", lambda book: calibration()),
    Set("calibration-sample", "half of those used for fitting, for judging answers", _sample),
    Set(
        "unanswerable",
        "questions that the shipped rules do not settle",
        _unanswerable_test,
        "refused",
    ),
    Set("examples", "whole examples: which rule does each illustrate?", _whole_examples, "hit@10"),
)
REGISTRY: dict[str, Set] = {one.name: one for one in _SHIPPED}


def load(name: str, rulebook: Rulebook) -> list[EvalItem]:
    """The items of a set by its name: one that ships, or one that a user added."""
    if name in REGISTRY:
        return REGISTRY[name].load(rulebook)
    if name not in added():
        raise SticklerError(
            f"There is no question set '{name}'",
            f"choose one of {', '.join((*REGISTRY, *added()))}",
            Remedy(Action.ADD_SET),
        )
    return parse(_added_path(name))


def version(items: Sequence[EvalItem]) -> str:
    """Identifies a list of items by its content."""
    text = json.dumps([asdict(item) for item in items], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def added() -> list[str]:
    """The names of the sets that the user has added."""
    return sorted(path.stem for path in _added_path("").parent.glob("*.jsonl"))


def add(path: Path, name: str, rulebook: Rulebook) -> tuple[list[EvalItem], list[str]]:
    """Add a user's question file as a set.

    Returns the items that were added, and a line for each one left out that says why.
    """
    if name in REGISTRY or not re.fullmatch(r"[\w-]{1,40}", name):
        raise SticklerError(
            f"A set cannot be called '{name}'",
            f"choose letters, digits and dashes, and none of {', '.join(REGISTRY)}",
        )
    checked = [(item, _problem(item, rulebook)) for item in parse(path)]
    kept = [item for item, problem in checked if problem is None]
    left_out = [f"{item.id}: {problem}" for item, problem in checked if problem]
    if not kept:
        raise SticklerError(
            f"No question of {path} can be used ({left_out[0] if left_out else 'it is empty'})",
            "give each one gold_rules that the loaded rules have",
        )
    [(most, count)] = Counter(item.id for item in kept).most_common(1)
    if count > 1:
        raise SticklerError(f"{path} has the id '{most}' twice", "give each question its own")
    lines = [
        json.dumps(
            {**asdict(item), "answer": item.gold_answer, "verdict": item.gold_verdict},
            ensure_ascii=False,
        )
        for item in kept
    ]
    files.write_whole(_added_path(name), ("\n".join(lines) + "\n").encode())
    return kept, left_out


def _problem(item: EvalItem, rulebook: Rulebook) -> str | None:
    """Why an item cannot be used with a rulebook, or None."""
    known = rulebook.edition(item.edition).by_number
    if missing := [rule for rule in item.gold_rules if rule not in known]:
        return f"rule {missing[0]} is not in edition {item.edition}"
    if not item.gold_rules:
        return "it names no deciding rule"
    return None if item.gold_verdict in {"yes", "no", None} else "its verdict is neither yes nor no"


def _added_path(name: str) -> Path:
    return files.data_folder() / "sets" / f"{name}.jsonl"


def parse(path: Path) -> list[EvalItem]:
    """The items of a user's file: JSON lines with at least question and gold_rules."""
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
                f"Line {number} of {path} is not a question with its rules ({error!r})",
                'write one JSON object a line, like {"question": "...", "gold_rules": ["702.19b"]}',
            ) from None
        items.append(item)
    return items


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SticklerError(
            f"Could not read {path} ({error})", "name a file of JSON lines in UTF-8"
        ) from None

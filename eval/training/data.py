"""The questions that the retriever is trained on, and the rules that decide them.

Questions in players' words, and our own questions about the same rules, about invented ones and
about retold ones: to learn to match unseen rules, a model must see many. The groups of rules that
any dev or calibration question is about are left out, both as questions and as rules.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import NamedTuple

from eval import items
from eval.items import TRAINING, EvalItem
from index import library, numbers
from index.errors import SticklerError
from index.passages import passages

_SOURCES = ("", "-general")  # the files of pairs and invented rules that are trained on


class RuleText(NamedTuple):
    """A rule's text, as search embeds it and as people read it."""

    embedded: str
    shown: str
    group: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the rules that decide it, most decisive first; all are in `Data.rules`."""

    text: str
    rules: tuple[str, ...]
    verdict: str | None


@dataclass(frozen=True)
class Data:
    """Questions, and every rule by its number."""

    questions: list[Question]
    rules: dict[str, RuleText]

    @cached_property
    def hash(self) -> str:
        """Tells one state of questions and rules from another."""
        text = json.dumps([[asdict(q) for q in self.questions], self.rules], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(limit: int | None = None) -> Data:
    """What may be trained on, from the documents that ship.

    `limit` takes only the first questions and the rules around them, for a trial run.
    """
    if not TRAINING.is_dir():
        raise SticklerError(
            "The training data is not part of an installed Stickler",
            "use a clone of its repository",
        )
    rules = _rules()
    questions = []
    for item in [*items.train(), *pairs()]:
        known = tuple(rule for rule in item.gold_rules if rule in rules)
        if known and known[0] == item.gold_rules[0]:
            questions.append(Question(item.question, known, item.gold_verdict))
    return Data(questions, rules) if limit is None else _first(limit, questions, rules)


def pairs() -> list[EvalItem]:
    """Our own questions, many in pairs in which a small change in the facts reverses the answer."""
    return [item for name in _SOURCES for item in items.questions(TRAINING / f"pairs{name}.jsonl")]


def invented(sources: Sequence[str] = _SOURCES) -> list[dict[str, str]]:
    """Rules that no document has, which many pairs are about."""
    return [rule for name in sources for rule in items.rows(TRAINING / f"invented{name}.jsonl")]


def _rules() -> dict[str, RuleText]:
    """The rules of the documents that are not held out, and the invented ones."""
    held_out = {numbers.group(i.gold_rules[0]) for i in [*items.dev(), *items.calibration()]}
    book = library.load(d for d in library.documents() if d.added is None).current
    rules = {
        passage.number: RuleText(
            passage.embedded, f"{passage.heading}: {passage.shown}", numbers.group(passage.number)
        )
        for passage in passages(book)
        if passage.kind == "rule" and passage.embedded
    }
    rules = {number: rule for number, rule in rules.items() if rule.group not in held_out}
    return rules | {
        rule["number"]: RuleText(
            f"{rule['section']} > {rule['heading']}: {rule['text']}",
            f"{rule['heading']}: {rule['text']}",
            rule["number"][:-1],
        )
        for rule in invented()
    }


def _first(limit: int, questions: list[Question], rules: dict[str, RuleText]) -> Data:
    questions = questions[:limit]
    groups = {rules[question.rules[0]].group for question in questions}
    return Data(
        questions,
        {
            number: rule
            for number, rule in rules.items()
            if rule.group in groups or any(number in question.rules for question in questions)
        },
    )

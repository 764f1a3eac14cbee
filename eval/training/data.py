"""The questions that models are tuned on, and the rules that decide them.

Practice questions, and questions of our own about the same rules, about invented ones and about
some that are retold: a model that is to read rules it has never met must meet many. The groups of
rules that decide the players' questions, or that are kept back for calibration, stay out, as
questions and as rules.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import NamedTuple

from eval import items
from index import library, numbers
from index.passages import passages
from index.rerank import as_read


class Text(NamedTuple):
    """A rule as search embeds it and as a reader is shown it."""

    embedded: str
    shown: str
    group: str
    text: str  # without its heading, as a language model is shown it


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    rules: tuple[str, ...]  # most decisive first; all of them in `Data.rules`
    verdict: str | None
    answer: str | None = None  # as it was written for it


@dataclass(frozen=True)
class Data:
    questions: list[Question]
    rules: dict[str, Text]

    @cached_property
    def hash(self) -> str:
        """Tells one state of questions and rules from another; what is answered is left out."""
        asked = [asdict(question) for question in self.questions]
        for each in asked:
            del each["answer"]
        return _hash([asked, {number: rule[:3] for number, rule in self.rules.items()}])

    @cached_property
    def answers_hash(self) -> str:
        """Tells one state of the written answers from another."""
        return _hash([question.answer for question in self.questions])


def load(limit: int | None = None, more: bool = False, roundabout: bool = False) -> Data:
    """What may be trained on, out of the documents that ship; a limit is for trying it out.

    `more`: also the second lot of invented rules, which helps those that read, not the retriever.
    `roundabout`: also the questions that are put in words far from the rule's.
    """
    held_out = {_group(i.gold_rules[0]) for i in [*items.dev(), *items.kept_back()]}
    book = library.load(d for d in library.documents() if d.added is None).current
    rules = {
        passage.number: Text(
            passage.embedded,
            as_read(passage.heading, passage.shown),
            _group(passage.number),
            passage.shown,
        )
        for passage in passages(book)
        if passage.kind == "rule" and passage.embedded
    }
    rules = {number: text for number, text in rules.items() if text.group not in held_out}
    rules |= {
        rule["number"]: Text(
            f"{rule['section']} > {rule['heading']}: {rule['text']}",
            as_read(rule["heading"], rule["text"]),
            rule["number"][:-1],
            rule["text"],
        )
        for rule in items.invented(more)
    }
    questions = []
    for item in [*items.train(), *items.pairs(more, roundabout)]:
        known = tuple(rule for rule in item.gold_rules if rule in rules)
        if known and known[0] == item.gold_rules[0]:
            questions.append(Question(item.question, known, item.gold_verdict, item.gold_answer))
    if limit is not None:
        questions = questions[:limit]
        groups = {rules[question.rules[0]].group for question in questions}
        rules = {
            number: text
            for number, text in rules.items()
            if text.group in groups or any(number in question.rules for question in questions)
        }
    return Data(questions, rules)


def _hash(told: object) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _group(number: str) -> str:
    return numbers.group(number) if numbers.is_number(number) else number

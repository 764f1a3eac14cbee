"""What the language model is trained on: questions packed behind the rules that they share.

Half of it are rules in two versions that decide a question differently, so that the answer can only
be learned from the rule. The other half are rules of the documents beside others of their group,
now and then without the one that decides. Groups of rules that a question of dev or calibration is
about are left out.
"""

import hashlib
import json
import random
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from eval import items
from eval.items import TRAINING, EvalItem
from eval.training import data
from index import library
from index.rulebook import Edition
from qa import verdict
from qa.prompt import ShownRule

_QUESTIONS = 6  # behind the same rules, at most
_FEWEST = 3  # for which a changed rule is worth reading twice
_BESIDE = 2  # other rules shown beside the deciding one, at most
_UNSETTLED = 0.12  # share of packs that lack the deciding rule
_FILES = ("train", "pairs", "pairs-general", "pairs-roundabout", "pairs-more")
_OTHER = {"yes": "no", "no": "yes"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and how it should be answered."""

    text: str
    verdict: str | None  # yes or no
    rule: str  # that decides it
    answer: str = ""  # one sentence, without the yes or no


class Pack(NamedTuple):
    """Rules as they are shown, yes/no questions about them, and an open one, if any."""

    rules: tuple[ShownRule, ...]
    questions: tuple[Question, ...]
    open: Question | None = None
    settled: bool = True  # whether the rule that decides is among the rules


class Unit(NamedTuple):
    """What one step learns from: a rule in two versions, and a real one."""

    versions: tuple[Pack, Pack]
    real: Pack


def units(seed: int, limit: int | None = None) -> list[Unit]:
    """All there is to learn from, in an order of the seed's; `limit` takes the first so many."""
    rng = random.Random(seed)
    contrasts, turned, real = _contrasts(), _turned(rng), _real(rng)
    for those in (contrasts, turned, real):
        rng.shuffle(those)
    versions = list(chain.from_iterable(zip(contrasts, turned, strict=False)))
    return [Unit(both, real[at % len(real)]) for at, both in enumerate(versions[:limit])]


def readings(unit: Unit) -> int:
    """How many questions a unit has, each counted once for every rule it is read behind."""
    return sum(len(pack.questions) for pack in (*unit.versions, unit.real))


def fingerprint(those: list[Unit]) -> str:
    """Tells one list of units from another."""
    text = json.dumps([[list(map(_plain, unit.versions)), _plain(unit.real)] for unit in those])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(pack: Pack) -> list[object]:
    asked = [asdict(each) for each in (*pack.questions, pack.open) if each]
    return [pack.rules, asked, pack.settled]


def _contrasts() -> list[tuple[Pack, Pack]]:
    """Rules that no book has, each in two versions written for the purpose."""

    def version(row: dict[str, Any], name: str) -> Pack:
        number = _number(row["id"])
        asked = (
            Question(ask["q"], ask[name], number, ask.get(f"why {name}", "")) for ask in row["asks"]
        )
        return Pack((ShownRule(number, row["heading"], row[name]),), tuple(asked))

    rows = items.rows(TRAINING / "contrasts.jsonl")
    return [(version(row, "a"), version(row, "b")) for row in rows]


def _turned(rng: random.Random) -> list[tuple[Pack, Pack]]:
    """Invented rules as they are, and with a decisive point changed; players' questions."""
    asked = {item.id: item for item in _questions(_FILES) if item.gold_verdict}
    rules = {rule["number"]: rule for rule in data.invented(("", "-general", "-more"))}
    found = []
    for row in items.rows(TRAINING / "turned.jsonl"):
        number = _number(row["number"])
        as_is, changed = (
            ShownRule(number, rules[row["number"]]["heading"], text)
            for text in (rules[row["number"]]["text"], row["text"])
        )
        known = [asked[name] for name in (*row["flipped"], *row["same"]) if name in asked]
        rng.shuffle(known)
        found += [
            (_version(as_is, some), _version(changed, some, set(row["flipped"])))
            for some in _chunks(known)
            if len(some) >= _FEWEST
        ]
    return found


def _version(rule: ShownRule, asked: Sequence[EvalItem], flipped: Container[str] = ()) -> Pack:
    """A rule and its questions, of which it answers those that are `flipped` the other way."""
    return Pack(
        (rule,),
        tuple(
            Question(
                item.question,
                _OTHER[item.gold_verdict or ""] if item.id in flipped else item.gold_verdict,
                rule.number,
            )
            for item in asked
        ),
    )


def _real(rng: random.Random) -> list[Pack]:
    """Questions about rules of the documents, with other rules of their group beside them."""
    groups = {number: rule.group for number, rule in data.load().rules.items()}
    book = library.load(d for d in library.documents() if d.added is None).current
    by_rule: dict[str, list[Question]] = {}
    for item in _questions(_FILES[:4]):
        number = item.gold_rules[0]
        if number in groups and len(item.gold_rules) == 1 and _whole(number, book):
            question = Question(
                item.question, item.gold_verdict, number, _sentence(item.gold_answer or "")
            )
            by_rule.setdefault(number, []).append(question)
    packs = []
    for number, those in by_rule.items():
        rng.shuffle(those)
        near = [n for n in groups if n in book.by_number and groups[n] == groups[number]]
        others = [n for n in near if n != number]
        aside = [question for question in those if not question.verdict and question.answer]
        for some in _chunks([question for question in those if question.verdict]):
            settled = len(others) < 2 or rng.random() > _UNSETTLED
            shown = [number] if settled else []
            shown += rng.sample(others, min(rng.randint(1 - settled, _BESIDE), len(others)))
            rng.shuffle(shown)
            rules = tuple(ShownRule.of(book.by_number[n]) for n in shown)
            open_one = aside.pop() if aside and settled else None
            packs.append(Pack(rules, tuple(some), open_one, settled))
    return packs


def _whole(number: str, book: Edition) -> bool:
    return number in book.by_number and not book.by_number[number].truncated


def _questions(files: tuple[str, ...]) -> list[EvalItem]:
    return [item for name in files for item in items.questions(TRAINING / f"{name}.jsonl")]


def _chunks(those: Sequence[T]) -> list[Sequence[T]]:
    return [those[at : at + _QUESTIONS] for at in range(0, len(those), _QUESTIONS)]


def _sentence(answer: str) -> str:
    """A written answer without its yes or no and its full stop."""
    rest = verdict.split(answer)[1].strip().rstrip(".")
    return rest[:1].upper() + rest[1:]


def _number(name: str) -> str:
    """A number of the rulebook's form for a rule that no book has."""
    at = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    return f"{701 + at % 2}.{20 + at // 2 % 170}{'abcdef'[at // 340 % 6]}"

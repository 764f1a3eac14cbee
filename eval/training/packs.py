"""What the language model is trained on: questions packed after the rules that they share.

Half are rules in two versions that decide a question differently, so that the answer can be learned
only from the rule. The other half are rules from the documents, with others that search finds for
the same questions, and sometimes without the deciding one. Groups of rules that any dev or
calibration question is about are left out.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from eval import items
from eval.items import TRAINING, EvalItem
from eval.training import data
from index.rulebook import Edition
from index.searcher import Searcher
from qa import verdict
from qa.prompt import ShownRule

_QUESTIONS = 6  # most questions after the same rules
_FEWEST = 3  # questions that make a reversed rule worthwhile
_OTHER_RULE_COUNTS = (0, 1, 1, 2, 2, 2)  # numbers of other rules to show, with their frequencies
_SEARCHED = 8  # search results from which these are taken
_SHARE_RULE_FIRST = 0.6  # share of packs with the deciding rule first, as when search is right
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
    """The data of one training step: a rule in two versions, and real rules."""

    versions: tuple[Pack, Pack]
    real: Pack


def units(seed: int, searcher: Searcher, limit: int | None = None) -> list[Unit]:
    """All training steps, shuffled by the seed; `limit` takes only the first ones.

    `searcher` finds the rules that are shown with the deciding ones.
    """
    rng = random.Random(seed)
    contrasts, turned, asked = _contrasts(rng), _turned(rng), _about_real_rules(rng, searcher)
    for those in (contrasts, turned, asked):
        rng.shuffle(those)
    versions = list(chain.from_iterable(zip(contrasts, turned, strict=False)))[:limit]
    real = _with_found_rules(asked[: len(versions)], searcher, rng)
    return [Unit(both, real[at % len(real)]) for at, both in enumerate(versions)]


def readings(unit: Unit) -> int:
    """How many questions a unit has, counting each once for every rule it follows."""
    return sum(len(pack.questions) for pack in (*unit.versions, unit.real))


def fingerprint(those: list[Unit]) -> str:
    """Tells one list of units from another."""
    text = json.dumps([[list(map(_plain, unit.versions)), _plain(unit.real)] for unit in those])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(pack: Pack) -> list[object]:
    asked = [asdict(each) for each in (*pack.questions, pack.open) if each]
    return [pack.rules, asked, pack.settled]


def _contrasts(rng: random.Random) -> list[tuple[Pack, Pack]]:
    """Rules that no book has, each in two versions written for the purpose."""

    def version(row: dict[str, Any], name: str) -> Pack:
        number = _number(row["id"])
        asked = (
            Question(ask["q"], ask[name], number, ask.get(f"why {name}", "").rstrip("."))
            for ask in row["asks"]
        )
        return Pack((ShownRule(number, row["heading"], row[name]),), tuple(asked))

    rows = items.rows(TRAINING / "contrasts.jsonl")
    for row in rows:
        rng.shuffle(row["asks"])
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


def _version(
    rule: ShownRule, asked: Sequence[EvalItem], flipped: Container[str] | None = None
) -> Pack:
    """A rule as it was written, or changed so that it answers `flipped` the other way."""

    def question(item: EvalItem) -> Question:
        if flipped is None:
            answer = _sentence(item.gold_answer or "")
            return Question(item.question, item.gold_verdict, rule.number, answer)
        other = _OTHER[item.gold_verdict or ""]
        return Question(
            item.question, other if item.id in flipped else item.gold_verdict, rule.number
        )

    return Pack((rule,), tuple(map(question, asked)))


def _about_real_rules(rng: random.Random, searcher: Searcher) -> list[Pack]:
    """Packs of questions about rules in the documents, grouped by rule; the rules come later."""
    trainable = data.load().rules
    book = searcher.rulebook.current
    by_rule: dict[str, list[Question]] = {}
    for item in _questions(_FILES[:4]):
        number = item.gold_rules[0]
        if number in trainable and len(item.gold_rules) == 1 and _whole(number, book):
            question = Question(
                item.question, item.gold_verdict, number, _sentence(item.gold_answer or "")
            )
            by_rule.setdefault(number, []).append(question)
    packs = []
    for those in by_rule.values():
        rng.shuffle(those)
        aside = [question for question in those if not question.verdict and question.answer]
        for some in _chunks([question for question in those if question.verdict]):
            packs.append(Pack((), tuple(some), aside.pop() if aside else None))
    return packs


def _with_found_rules(packs: Sequence[Pack], searcher: Searcher, rng: random.Random) -> list[Pack]:
    """The packs with their deciding rule among others that search finds for their questions."""
    trainable = data.load().rules.keys() & searcher.rulebook.current.by_number.keys()
    asked = list({question.text: None for pack in packs for question in pack.questions})
    results = dict(zip(asked, searcher.search(asked, _SEARCHED), strict=True))
    complete = []
    for pack in packs:
        own = pack.questions[0].rule
        votes: Counter[str] = Counter()
        for question in pack.questions:
            for rank, hit in enumerate(results[question.text].hits, 1):
                votes[hit.passage.number] += 60 // rank
        others = [n for n, _ in votes.most_common() if n != own and n in trainable]
        shown = others[: rng.choice(_OTHER_RULE_COUNTS)]
        settled = len(others) < 2 or rng.random() > _UNSETTLED
        if settled:
            shown.insert(0 if rng.random() < _SHARE_RULE_FIRST else rng.randint(0, len(shown)), own)
        else:
            shown = others[:2]
        by_number = searcher.rulebook.current.by_number
        rules = tuple(ShownRule.of(by_number[number]) for number in shown)
        complete.append(
            pack._replace(rules=rules, open=pack.open if settled else None, settled=settled)
        )
    return complete


def _whole(number: str, edition: Edition) -> bool:
    return number in edition.by_number and not edition.by_number[number].truncated


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

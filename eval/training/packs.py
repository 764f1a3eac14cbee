"""What the language model is trained on: questions packed after the rules that they share.

Two packs of a step are a rule in two versions that decide a question differently, so that the
answer can be learned only from the rule. Three are rules from the documents, with others that
search finds for the same questions and with similar answered questions, sometimes without the
deciding rule. Groups of rules that any dev or calibration question is about are left out.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from eval import items
from eval.items import TRAINING, EvalItem
from eval.training import data
from index import expansion
from index.expansion import AnsweredQuestion
from index.rulebook import Edition
from index.searcher import Searcher
from qa import verdict
from qa.prompt import ShownRule
from qa.settings import Settings

if TYPE_CHECKING:
    from index.embedder import Vectors

_QUESTIONS = 6  # most questions after the same rule in two versions
_REAL_QUESTIONS = 4  # most questions after the same real rules
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
    similar: tuple[AnsweredQuestion, ...] = ()  # as the product adds them to the prompt


class Unit(NamedTuple):
    """The data of one training step: a rule in two versions, and packs of real rules."""

    versions: tuple[Pack, Pack]
    real: tuple[Pack, ...]


def units(seed: int, searcher: Searcher, limit: int | None = None) -> list[Unit]:
    """All training steps, shuffled by the seed; `limit` takes only the first ones.

    `searcher` finds the rules that are shown with the deciding ones.
    """
    rng = random.Random(seed)
    contrasts, turned, asked = _contrasts(rng), _turned(rng), _about_real_rules(searcher)
    expansions = _expansions(rng, searcher)
    for those in (contrasts, turned, asked, expansions):
        rng.shuffle(those)
    versions = list(chain.from_iterable(zip(contrasts, turned, strict=False)))[:limit]
    of_expansions, of_pairs = cycle(expansions), cycle(asked)
    packs = [next(each) for _ in versions for each in (of_expansions, of_pairs, of_pairs)]
    threes = zip(*[iter(_with_found_rules(packs, searcher, rng))] * 3, strict=True)
    return [Unit(both, real) for both, real in zip(versions, threes, strict=True)]


def readings(unit: Unit) -> int:
    """How many questions a unit has, counting each once for every rule it follows."""
    return sum(len(pack.questions) for pack in (*unit.versions, *unit.real))


def fingerprint(those: list[Unit]) -> str:
    """Tells one list of units from another."""
    text = json.dumps([[_plain(pack) for pack in (*unit.versions, *unit.real)] for unit in those])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(pack: Pack) -> list[object]:
    asked = [asdict(each) for each in (*pack.questions, pack.open) if each]
    return [pack.rules, asked, pack.settled, [asdict(each) for each in pack.similar]]


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
            for some in _chunks(known, _QUESTIONS)
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


def _about_real_rules(searcher: Searcher) -> list[Pack]:
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
    # Neighbours in a file are often about the same facts, so they share similar questions.
    return list(chain.from_iterable(map(_packs, by_rule.values())))


def _expansions(rng: random.Random, searcher: Searcher) -> list[Pack]:
    """Packs of expansion questions, few of each rule: the others can be similar questions."""
    trainable = data.load().rules
    packs = []
    for match in expansion.matches(searcher.rulebook.current):
        if match.unchanged and match.rule in trainable:
            answered = [
                Question(question, verdict.split(answer)[0], match.rule, _sentence(answer))
                for question, answer in expansion.answered(match)
            ]
            rng.shuffle(answered)
            packs += _packs(answered[: min(_REAL_QUESTIONS, len(answered) // 2)])
    return packs


def _packs(questions: Sequence[Question]) -> list[Pack]:
    """Packs of one rule's questions, each with an open one as long as there are any."""
    aside = [question for question in questions if not question.verdict and question.answer]
    plain = [question for question in questions if question.verdict]
    chunks = _chunks(plain, _REAL_QUESTIONS)
    return [Pack((), tuple(some), aside.pop() if aside else None) for some in chunks]


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
        vectors = [results[question.text].features.vector for question in pack.questions]
        complete.append(
            pack._replace(
                rules=rules,
                open=pack.open if settled else None,
                settled=settled,
                similar=_similar(pack, vectors, shown, searcher),
            )
        )
    return complete


def _similar(
    pack: Pack, vectors: Sequence["Vectors"], shown: Sequence[str], searcher: Searcher
) -> tuple[AnsweredQuestion, ...]:
    """The answered questions most similar to the questions of a pack, which are not among them."""
    import numpy as np

    middle = np.mean(vectors, axis=0)
    own = {question.text for question in (*pack.questions, pack.open) if question}
    wanted = Settings().max_similar_questions
    near = searcher.similar_questions(middle / np.linalg.norm(middle), shown, wanted + len(own))
    return tuple(each for each in near if each.question not in own)[:wanted]


def _whole(number: str, edition: Edition) -> bool:
    return number in edition.by_number and not edition.by_number[number].truncated


def _questions(files: tuple[str, ...]) -> list[EvalItem]:
    return [item for name in files for item in items.questions(TRAINING / f"{name}.jsonl")]


def _chunks(those: Sequence[T], size: int) -> list[Sequence[T]]:
    return [those[at : at + size] for at in range(0, len(those), size)]


def _sentence(answer: str) -> str:
    """A written answer without its yes or no and its full stop."""
    rest = verdict.split(answer)[1].strip().rstrip(".")
    return rest[:1].upper() + rest[1:]


def _number(name: str) -> str:
    """A number of the rulebook's form for a rule that no book has."""
    at = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    return f"{701 + at % 2}.{20 + at // 2 % 170}{'abcdef'[at // 340 % 6]}"

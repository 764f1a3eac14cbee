"""Finds, checks and quotes the rules of an answer.

Every sentence of a model is set against the rules that the model was shown. What a rule supports
may be shown with that rule; what none supports is counted and not shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from index import numbers
from index.hits import Hit
from index.lexical import stems
from index.rulebook import Edition, Rule

if TYPE_CHECKING:
    from index.embed import Embedder, Vectors

Status = Literal["supported", "retrieved", "in_rulebook", "unknown"]

_END = re.compile(r"[.!?][”\"’)\]]*(?=\s+[“\"(\[A-Z{]|\s*\n)")
_POINTER = re.compile(
    r"\(?See (?:also )?(?:rule|section)|.* follows the rules for |For more information"
)
_KIND = re.compile(r"\S+(?: \S+){0,3} is an? (?:\w+ )?ability(?: that functions[^.]*)?\.?$")
_NO = re.compile(r"\b(?:no|not|never|neither|nor|cannot|without|n[o']t)\b|n['’]t\b", re.IGNORECASE)
_COVERED = 0.75  # share of a sentence's words that the rule or the question must have
_NEAR = 0.55  # how much less than the best a rule may score, for each rule that is asked for
_MORE = 2  # rules than asked for, at most
_LIKE = 0.55  # how near in meaning the sentence and a sentence of the rule must be


@dataclass(frozen=True, slots=True)
class Citation:
    number: str
    edition: str
    heading: str
    quote: str  # verbatim, a substring of text
    text: str  # the whole rule
    status: Status
    span: tuple[int, int] | None = None  # where in the answer the number stands
    truncated: bool = False  # the source cut the rule's text off


def near_best(hits: Sequence[Hit], about: int) -> list[Hit]:
    """The hits to cite: few where the first stand out, more where many are about as good."""
    return [hit for hit in hits[: about + _MORE] if hit.score >= hits[0].score - _NEAR * about]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each a substring of it; a quotation is not cut in the middle."""
    found, start = [], 0
    for match in _END.finditer(text):
        part = text[start : match.end()]
        if part.count("“") <= part.count("”"):
            found.append(part)
            start = match.end()
    found.append(text[start:])
    return [stripped for part in found if (stripped := part.strip())]


def decisive(
    questions: Sequence["Vectors"], rules: Sequence[Sequence[Rule]], embedder: "Embedder"
) -> list[list[str]]:
    """For each question's rules the sentence that comes nearest to its vector, to the letter."""
    parts = [[(rule, part) for rule in those for part in _quotable(rule)] for those in rules]
    flat = [f"{rule.heading}: {part}" for those in parts for rule, part in those]
    vectors = iter(embedder.encode_passages(flat) if flat else ())
    quotes = []
    for question, those in zip(questions, parts, strict=True):
        best: dict[str, tuple[float, str]] = {}
        for rule, part in those:
            score = float(next(vectors) @ question)
            best[rule.number] = max(best.get(rule.number, (score, part)), (score, part), key=_score)
        quotes.append([quote for _, quote in best.values()])
    return quotes


def _score(scored: tuple[float, str]) -> float:
    return scored[0]


def _quotable(rule: Rule) -> list[str]:
    """Sentences that say something: no mere pointer or kind of ability, no stump of a cut text."""
    whole = sentences(rule.text)
    if rule.truncated and len(whole) > 1:
        whole = whole[:-1]
    telling = [one for one in whole if not (_POINTER.match(one) or _KIND.match(one))]
    return telling or whole


def attribute(
    sentence: str, question: str, rules: Sequence[Rule], embedder: "Embedder"
) -> Rule | None:
    """The rule that supports a sentence of the model: its words, its meaning, and its yes or no."""
    words = set(stems(sentence))
    if not words:
        return None
    asked = set(stems(question))
    near = [
        (rule, part)
        for rule in rules
        for part in _quotable(rule)
        if len(words & (asked | set(stems(f"{rule.heading} {rule.text}")))) >= _COVERED * len(words)
        and _denies(part) == _denies(sentence)
    ]
    if not near:
        return None
    vectors = embedder.encode_questions([sentence, *(part for _, part in near)])
    scores = (vectors[1:] @ vectors[0]).tolist()
    best = max(scores)
    return near[scores.index(best)][0] if best >= _LIKE else None


def _denies(text: str) -> bool:
    return len(_NO.findall(text)) % 2 == 1


def cite(rule: Rule, quote: str, span: tuple[int, int] | None) -> Citation:
    """A citation whose quote is the rule's own words; anything else is a mistake of ours."""
    if quote not in rule.text:
        raise ValueError(f"'{quote[:40]}' is not in rule {rule.number}.")
    return Citation(
        rule.number, rule.edition, rule.heading, quote, rule.text, "supported", span, rule.truncated
    )


def invented(text: str, shown: Sequence[str], book: Edition) -> list[Citation]:
    """The numbers that a model wrote by itself, each with what became of the check."""
    found = []
    for number in numbers.references(text):
        rule = book.by_number.get(number)
        status: Status = (
            "unknown" if number not in book else "retrieved" if number in shown else "in_rulebook"
        )
        edition, heading = (rule.edition, rule.heading) if rule else (book.name, "")
        found.append(Citation(number, edition, heading, "", rule.text if rule else "", status))
    return found

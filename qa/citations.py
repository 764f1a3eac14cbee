"""Finds, checks and quotes the rules of an answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from index import numbers
from index.hits import Hit
from index.rulebook import Edition, Rule

if TYPE_CHECKING:
    from index.embedder import Embedder, Vectors

Status = Literal["supported", "retrieved", "in_rulebook", "unknown"]

_END = re.compile(r"[.!?][”\"’)\]]*(?=\s+[“\"(\[A-Z{]|\s*\n)")
_POINTER = re.compile(
    r"\(?See (?:also )?(?:rule|section)|.* follows the rules for |For more information"
)
_KIND = re.compile(r"\S+(?: \S+){0,3} is an? (?:\w+ )?ability(?: that functions[^.]*)?\.?$")
_MAX_SCORE_GAP = 0.55  # how far below the best a rule may score, per requested citation
_MAX_EXTRA = 2  # the most citations beyond the requested number


@dataclass(frozen=True, slots=True)
class Citation:
    """A rule that an answer names, with the sentence of it that decides."""

    number: str
    edition: str
    heading: str
    quote: str  # verbatim, a substring of text
    text: str  # the whole rule
    status: Status
    span: tuple[int, int] | None = None  # where in the answer the number stands
    truncated: bool = False  # the source cut the rule's text off


def near_best(hits: Sequence[Hit], about: int) -> list[Hit]:
    """The hits to cite: few if the first stand out, more if many are about equally good."""
    return [
        hit
        for hit in hits[: about + _MAX_EXTRA]
        if hit.score >= hits[0].score - _MAX_SCORE_GAP * about
    ]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each a substring of it; quotations are not split."""
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
    """For each question, the sentence of each rule that is nearest to its vector, verbatim."""
    parts = [
        [(rule, part) for rule in those for part in quotable_sentences(rule)] for those in rules
    ]
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


def quotable_sentences(rule: Rule) -> list[str]:
    """Sentences worth quoting: no mere reference or type of ability, no truncated sentence."""
    whole = sentences(rule.text)
    if rule.truncated and len(whole) > 1:
        whole = whole[:-1]
    telling = [one for one in whole if not (_POINTER.match(one) or _KIND.match(one))]
    return telling or whole


def cite(rule: Rule, quote: str, span: tuple[int, int] | None) -> Citation:
    """A citation whose quote is verbatim; anything else is a bug."""
    if quote not in rule.text:
        raise ValueError(f"'{quote[:40]}' is not in rule {rule.number}.")
    return Citation(
        rule.number, rule.edition, rule.heading, quote, rule.text, "supported", span, rule.truncated
    )


def unverified(
    text: str, shown: Sequence[str], retrieved: Sequence[str], book: Edition
) -> list[Citation]:
    """The numbers that a model wrote without having been shown them, with their status."""
    found = []
    for number in numbers.references(text):
        if number in shown:
            continue
        rule = book.by_number.get(number)
        status: Status = (
            "retrieved" if number in retrieved else "in_rulebook" if number in book else "unknown"
        )
        edition, heading = (rule.edition, rule.heading) if rule else (book.name, "")
        found.append(Citation(number, edition, heading, "", rule.text if rule else "", status))
    return found

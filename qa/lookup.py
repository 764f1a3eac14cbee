"""Look-ups: questions that are just a number, a range or a keyword."""

import re
from collections.abc import Collection, Sequence

from index import numbers
from index.hits import Hit
from index.passages import passages
from index.rulebook import Edition, Rule, marked
from qa import citations
from qa.citations import Citation

_MOST_LOOKED_UP = 8
_SAYS = re.compile(
    r"^\W*(?:what (?:does|do|is|are)|show(?: me)?|read|quote)?\s*"
    r"(?P<number>(?:rules?\s+|cr\s*)?\d{3}[\w.–-]*(?:\s*(?:to|through)\s*\d{3}[\w.]*)?)"
    r"\s*(?:say|mean|about)?\W*$",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"^\W*(?:(?:what(?:'s|’s| is| are| does)|define|explain|how (?:does|do)|meaning of)\s+)?"
    r"(?:the |a |an )?(?P<name>\w[\w'’ /-]{1,40}?)"
    r"(?:\s+(?:mean|do|work|ability|keyword))*\W*$",
    re.IGNORECASE,
)


def number_asked(question: str) -> str:
    """'what does 702.19b say?' -> '702.19b'; any other question stays as it is."""
    match = _SAYS.match(question)
    return match["number"] if match else question


def name_asked(question: str) -> str | None:
    """'what is trample?' -> 'trample', which may be a heading."""
    match = _NAMES.match(question)
    return match["name"] if match else None


def text(rules: Sequence[Rule]) -> tuple[str, tuple[Citation, ...]]:
    """The rules, whole, with their citations."""
    parts: list[str] = []
    cited: list[Citation] = []
    at = 0
    for rule in rules[:_MOST_LOOKED_UP]:
        line = f"{rule.number}: {marked(rule.text, rule.truncated)}"
        cited.append(citations.cite(rule, rule.text, (at, at + len(rule.number))))
        parts.append(line)
        at += len(line) + 1
    if len(rules) > _MOST_LOOKED_UP:
        parts.append(f"... and {len(rules) - _MOST_LOOKED_UP} more.")
    return "\n".join(parts), tuple(cited)


def rules(asked: str, edition: Edition, masked: Collection[str] = ()) -> list[Rule]:
    """The rules of a question that is nothing but a number, a range or a keyword's name."""
    wanted = numbers.asked(number_asked(asked)) or _named(name_asked(asked), edition)
    found = [rule for number in wanted if number in edition for rule in edition.find(number)]
    return [r for r in found if not r.is_heading and r.passage_id not in masked]


def _named(name: str | None, edition: Edition) -> list[str]:
    """The number with this heading; a section only if its first rule, its definition, is loaded."""
    headed = edition.headed(name)[:1] if name else []
    return [number for number in headed if "." in number or f"{number}.1" in edition]


def hits(rules: Sequence[Rule], edition: Edition) -> tuple[Hit, ...]:
    """The rules as search hits."""
    wanted = {rule.number for rule in rules}
    own = [p for p in passages(edition) if p.kind == "rule" and p.number in wanted]
    return tuple(Hit(p, rank, 0.0, ("number",)) for rank, p in enumerate(own, 1))

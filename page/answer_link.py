"""Links that ask a question again: /?ask=...&edition=...&cites=702.17b-1a2b3c4d.

A link names the rules that its answer cited, each with a digest of its wording, so that whoever
opens it can see which of them have been reworded since.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, urlencode

from index import numbers
from index.rulebook import Edition
from index.searcher import LONGEST_QUESTION
from qa.answer import Answer

MAX_LENGTH = 2000  # characters: some messengers cut off longer links
_MAX_CITES = 12
_CITE = re.compile(rf"({numbers.RULE})-([0-9a-f]{{8}})")


class LinkedRule(NamedTuple):
    """A rule that the answer of a link cited, and the digest of what it said."""

    number: str
    digest: str


class Link(NamedTuple):
    """What a link asks."""

    question: str
    edition: str
    cites: tuple[LinkedRule, ...]


def address(answer: Answer) -> str | None:
    """The link to an answer; None where it would be too long."""
    cites = "_".join(f"{cited.number}-{_digest(cited.text)}" for cited in answer.cited[:_MAX_CITES])
    query = {
        "ask": answer.standalone_question or answer.question,
        "edition": answer.edition,
        "cites": cites,
    }
    found = f"?{urlencode(query, quote_via=quote, errors='replace')}"
    return found if len(found) <= MAX_LENGTH else None


def read(ask: str, edition: str, cites: str) -> Link:
    """Parse a link's parameters; anything that is not a valid citation is ignored."""
    found = [LinkedRule(*match.groups()) for match in _CITE.finditer(cites[:MAX_LENGTH])]
    # Keep one character too many, so that a question that is too long is still rejected.
    return Link(ask[: LONGEST_QUESTION + 1], edition, tuple(found[:_MAX_CITES]))


def changed(cites: Sequence[LinkedRule], edition: Edition) -> list[str]:
    """The numbers of the rules that a book words differently, or lacks."""
    rules = {cite: edition.by_number.get(cite.number) for cite in cites}
    return [
        cite.number
        for cite, rule in rules.items()
        if rule is None or _digest(rule.text) != cite.digest
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode(errors="replace")).hexdigest()[:8]

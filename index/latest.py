"""The newest rules from their publisher: the rules page, its link to the plain text, the text.

>>> latest.get().sentence
'Added the edition 2026-04-17: 3138 rules.'
"""

import datetime
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Literal, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from index import library, parsers
from index.diff import Diff, compare
from index.editions import Rulebook
from index.errors import SticklerError
from index.fetch import encoded, fetch
from index.rulebook import ParsedDocument

PAGE = "https://magic.wizards.com/en/rules"
_LARGEST_PAGE = 5_000_000  # bytes
_DAY = re.compile(r"(?<!\d)(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)(?!\d)")
_BY_HAND = "save the plain text with a browser and add that"


class Link(NamedTuple):
    """A plain text that the rules page links to, and the day in the name of its file."""

    address: str
    day: str | None


@dataclass(frozen=True, slots=True)
class Latest:
    """The result of asking for the newest rules; `parsed` and `diff` are set only if added."""

    status: Literal["added", "loaded", "older"]
    edition: str  # the one that the publisher offers
    newest: str  # of those that were loaded before
    parsed: ParsedDocument | None = None
    diff: Diff | None = None  # to the newest whole edition that was loaded, or else to excerpts

    @property
    def sentence(self) -> str:
        if self.parsed is not None:
            return f"Added the edition {self.edition}: {len(self.parsed.rules)} rules."
        if self.status == "loaded":
            return f"The newest edition, {self.edition}, is already loaded: nothing was added."
        return (
            f"The rules page offers the edition {self.edition}, which is older than {self.newest}, "
            "the newest that is loaded: nothing was added."
        )


def rules_page() -> str:
    """The address of the publisher's rules page; STICKLER_RULES_PAGE overrides it."""
    return os.environ.get("STICKLER_RULES_PAGE") or PAGE


def get(
    page: str | None = None,
    tell: Callable[[str], None] = lambda step: None,
    offered: Callable[[str], None] = lambda edition: None,
) -> Latest:
    """Add the newest rules unless they are loaded.

    `tell` is called with each step, `offered` with the date of a newer edition before it is
    fetched. If the file name shows that nothing newer is offered, only the page is fetched.
    """
    page = page or rules_page()
    tell(f"Reading {page}")
    link = newest_link(_links(_read_page(page), page), page)
    book = library.load()
    if known := _nothing_new(_edition_of(link), book):
        return known
    if link.day:
        offered(link.day)
    tell(f"Fetching {link.address}")
    data = fetch(link.address, parsers.LARGEST)
    edition = parsers.parse(data, unquote(link.address.rsplit("/", 1)[-1])).edition
    if known := _nothing_new(edition, book):
        return known
    tell(f"Adding the edition {edition}")
    _, parsed = library.add_text(data, link.address)
    return Latest("added", edition, next(iter(book.editions)), parsed, _whats_new(edition, book))


def newest_link(links: Iterable[Link], page: str) -> Link:
    """The link to take: the one with the newest day, or the only one."""
    found = list(dict.fromkeys(links))
    dated = [link for link in found if link.day]
    if dated:
        return max(dated, key=lambda link: link.day or "")
    if not found:
        raise SticklerError(
            f"{page} has no link to the rules as plain text", "check the address", _BY_HAND
        )
    if len(found) > 1:
        raise SticklerError(
            f"{page} links to {len(found)} plain texts without a date in their names, so it is "
            "not clear which is the newest",
            _BY_HAND,
        )
    return found[0]


def _read_page(page: str) -> str:
    data = fetch(page, _LARGEST_PAGE)
    if len(data) > _LARGEST_PAGE:
        raise SticklerError(
            f"{page} is larger than {_LARGEST_PAGE // 1_000_000} MB, far more than a rules page",
            "check the address",
            _BY_HAND,
        )
    return data.decode("utf-8", errors="replace")


class _Anchors(HTMLParser):
    """Collects where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.targets += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _links(html: str, page: str) -> list[Link]:
    """The plain texts that a page links to; if any are named after the rules, only those."""
    anchors = _Anchors()
    anchors.feed(html)
    found = {}
    for target in anchors.targets:
        try:
            address = encoded(urljoin(page, target.strip()))
            name = unquote(urlsplit(address).path.rsplit("/", 1)[-1])
        except ValueError:  # no address at all
            continue
        if name.lower().endswith(".txt"):
            found[Link(address, _day(name))] = "rules" in name.lower()
    return [link for link, named in found.items() if named] or list(found)


def _day(name: str) -> str | None:
    """'MagicCompRules 20260417.txt' -> '2026-04-17'."""
    for parts in _DAY.findall(name):
        try:
            return datetime.date(*map(int, parts)).isoformat()
        except ValueError:
            continue
    return None


def _edition_of(link: Link) -> str | None:
    """The edition that a link leads to, if that is known without fetching it."""
    added = [each.edition for each in library.documents() if each.source == link.address]
    return added[0] if added else link.day


def _nothing_new(edition: str | None, rulebook: Rulebook) -> Latest | None:
    """Why an offered edition is not added; None if it should be added or is not known yet."""
    newest = next(iter(rulebook.editions))
    if edition is None or edition > newest:
        return None
    if edition < newest:
        return Latest("older", edition, newest)
    return Latest("loaded", edition, newest) if rulebook.editions[newest].is_whole else None


def _whats_new(edition: str, before: Rulebook) -> Diff | None:
    """What changed since the newest whole edition that was loaded, or else the newest excerpts."""
    others = [each for each in before.editions.values() if each.name != edition]
    if not others:
        return None
    since = next((each for each in others if each.is_whole), others[0])
    return compare(since, library.load().edition(edition))

"""The rulebook's sections as a tree to browse, and search results as you type."""

from collections.abc import Sequence
from html import escape

from index import numbers
from index.rulebook import Edition, Rule
from page.cards import open_link

_MAX_NAMED = 12  # rules found by number or heading
_MAX_RESULTS = 24


def render_tree(edition: Edition) -> str:
    """The sections, each folded; what is below one is fetched when it is opened."""
    sections = sorted({rule.number[:3] for rule in edition.rules})
    rows = "".join(
        f'<details class="branch" data-section="{number}" data-edition="{escape(edition.name)}">'
        f'<summary><span class="number">{number}</span> '
        f"{_section_name(edition, number)}"
        f'<span class="count">{len(edition.subrules(number))}</span></summary>'
        '<div class="twigs"></div></details>'
        for number in sections
    )
    return f'<nav class="tree" aria-label="Sections">{rows}</nav>'


def _section_name(edition: Edition, section: str) -> str:
    """Its heading; where the texts never name it, how its first rule begins."""
    if name := edition.sections.get(section):
        return escape(name)
    first = next((rule.text for rule in edition.subrules(section) if not rule.is_heading), "")
    return f'<span class="quiet">{escape(_shorten(first, 40))}</span>'


def render_branch(edition: Edition, section: str) -> str:
    """The rules of a section, each with its subrules below it."""
    if not numbers.is_number(section):
        return ""
    groups: dict[str, list[Rule]] = {}
    for rule in edition.subrules(section):
        groups.setdefault(numbers.group(rule.number), []).append(rule)
    rows = (_render_group(edition, number, those) for number, those in groups.items())
    return f"<ul>{''.join(rows)}</ul>"


def _render_group(edition: Edition, number: str, rules: Sequence[Rule]) -> str:
    below = [rule for rule in rules if rule.number != number]
    own = edition.by_number.get(number)
    named = escape(_shorten(own.text)) if own is not None else ""
    if not below:
        return f"<li>{open_link(number, edition)} {named}</li>"
    leaves = "".join(
        f"<li>{open_link(rule.number, edition)} {escape(_shorten(rule.text))}</li>"
        for rule in below
    )
    # Opening a rule in the tree shows its page too: a link inside would be a control in a control.
    return (
        f'<li><details><summary data-open="{escape(number)}" data-edition="{escape(edition.name)}">'
        f'<span class="number">{escape(number)}</span> {named}</summary><ul>{leaves}</ul></details>'
        "</li>"
    )


def _shorten(text: str, limit: int = 70) -> str:
    first = text.split("\n", 1)[0]
    return first if len(first) <= limit else f"{first[: limit - 3].rsplit(' ', 1)[0]} …"


def render_results(query: str, edition: Edition, searched: Sequence[str] | None) -> str:
    """Rules by number, by heading and then as search found them (None while it still loads)."""
    found = list(dict.fromkeys([*_find_by_name(query, edition), *(searched or [])]))[:_MAX_RESULTS]
    rows = "".join(
        f"<li>{open_link(number, edition)} "
        f'<span class="heading">{escape(heading_of(edition, number))}</span>'
        f'<span class="glimpse">{escape(_first_words(edition, number))}</span></li>'
        for number in found
    )
    count = "1 rule found" if len(found) == 1 else f"{len(found)} rules found"
    if searched is None:
        count += "; semantic search is still loading"
    shown = f'<ul aria-label="Rules found">{rows}</ul>' if found else ""
    return f'<div class="results"><p class="quiet" role="status">{count}</p>{shown}</div>'


def _find_by_name(query: str, edition: Edition) -> list[str]:
    """What a number or the beginning of a heading leads to, without any model."""
    wanted = " ".join(query.lower().split())
    plain = wanted.removeprefix("rule ").removeprefix("cr ")
    if plain[:1].isdecimal():
        exact = [number for number in numbers.asked(wanted) if number in edition]
        started = [rule.number for rule in edition.rules if rule.number.startswith(plain)]
        return [*exact, *started][:_MAX_NAMED]
    if len(wanted) < 2:
        return []
    headed = [
        rule.number
        for rule in edition.rules
        if rule.is_heading
        and any(part.startswith(wanted) for part in _word_suffixes(rule.heading.lower()))
    ]
    sections = [
        n for n, name in edition.sections.items() if wanted in name.lower() and n in edition
    ]
    return [*headed, *sections][:_MAX_NAMED]


def _word_suffixes(heading: str) -> list[str]:
    """'first strike' -> 'first strike', 'strike': where a search may begin."""
    words = heading.split()
    return [" ".join(words[start:]) for start in range(len(words))]


def heading_of(edition: Edition, number: str) -> str:
    """The heading of a rule or a section."""
    rule = edition.by_number.get(number)
    return rule.heading if rule is not None else edition.sections.get(number, "")


def _first_words(edition: Edition, number: str) -> str:
    rule = edition.by_number.get(number)
    return "" if rule is None or rule.is_heading else rule.text[:140]

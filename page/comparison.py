"""Two editions compared, as HTML: what was added, removed, renumbered and reworded, by section."""

from html import escape

from index.diff import Diff, RuleChange, SectionChanges, compare, two_editions
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Edition
from page.cards import open_link
from page.errors import render_error
from page.rule_page import mark_changes

_GLIMPSE = 120  # characters of a rule that only moved


def editions_to_compare(rulebook: Rulebook) -> tuple[str, str]:
    """The two to begin with: the newest whole ones, or else the newest."""
    names = sorted(rulebook.editions, key=lambda name: (rulebook.editions[name].is_whole, name))
    return (names[-2], names[-1]) if len(names) > 1 else (names[0], names[0])


def render_comparison(rulebook: Rulebook, old: str, new: str) -> str:
    """All that changed from one edition to another, each section folded; an error in its place."""
    try:
        editions = two_editions(rulebook, (old, new))
    except SticklerError as error:
        return f'<div class="rule-page comparison">{render_error(error)}</div>'
    diff = compare(*editions)
    notes = "".join(f'<p class="quiet">{escape(note)}</p>' for note in diff.notes)
    shown = "".join(_render_section(section, *editions) for section in diff.sections)
    return (
        f'<div class="rule-page comparison"><h2>From {escape(diff.old)} to {escape(diff.new)}</h2>'
        f'<p role="status">{_render_summary(diff)}</p>{notes}{shown}</div>'
    )


def _render_summary(diff: Diff) -> str:
    return f"{escape(diff.summary[:1].upper() + diff.summary[1:])}."


def _render_section(section: SectionChanges, old: Edition, new: Edition) -> str:
    rows = "".join(_render_change(change, old, new) for change in section.changes)
    return (
        f'<details class="changes"><summary><span class="number">{escape(section.number)}</span> '
        f'{escape(section.name)} <span class="count">{len(section.changes)}</span></summary>'
        f'<ol class="versions">{rows}</ol></details>'
    )


def _render_change(change: RuleChange, old: Edition, new: Edition) -> str:
    """A rule's numbers, what happened to it, and its words."""
    link = open_link(change.rule.number, old if change.new is None else new)
    if change.old is not None and "renumbered" in change.kinds:
        link = f"{open_link(change.old.number, old)} → {link}"
    if change.kinds == ("renumbered",):
        words = f'<p class="glimpse">{escape(change.rule.text[:_GLIMPSE])}</p>'
    else:
        words = f'<p class="text">{mark_changes(change.words)}</p>'
    kinds = " and ".join(change.kinds)
    return f'<li><p>{link} <span class="quiet">{kinds}</span></p>{words}</li>'

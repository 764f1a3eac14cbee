"""A rule's page: its text among its neighbours, who refers to it, its history, and a peek at it."""

from collections.abc import Iterable, Sequence
from html import escape

from index import history, numbers
from index.editions import Rulebook
from index.errors import SticklerError
from index.rulebook import Edition, Rule, marked
from page.cards import address, badge, link, links, open_link, rule_body, rule_text, title
from page.errors import render_error
from page.rule_tree import heading_of, render_branch

_MAX_PEEKED = 12  # subrules
_MAX_REFERRING = 40
WELCOME = (
    '<div class="rule-page"><h2>The rulebook</h2><p class="quiet">Find a rule by number, keyword '
    "or in your own words, or open a section. Every rule has its own address, which you can "
    "share.</p></div>"
)
_CHANGES = {"same": "{}", "gone": "<del>{}</del>", "new": "<ins>{}</ins>"}


def render_page(query: str, edition: Edition) -> str:
    """A rule among its neighbours; a section as its list; an error where there is neither."""
    try:
        number = _find_number(query, edition)
    except SticklerError as error:
        return f'<div class="rule-page">{render_error(error)}</div>'
    if not numbers.parse(number).rule:
        return _render_section(number, edition)
    group = numbers.group(number)
    rules = [rule for rule in [edition.by_number.get(group), *edition.subrules(group)] if rule]
    heading = rules[0].heading
    shown = "".join(_render_rule(rule, edition, rule.number == number) for rule in rules)
    return (
        f'<div class="rule-page" data-number="{escape(number)}" '
        f'data-edition="{escape(edition.name)}">'
        f'{_render_crumbs(number, edition)}<h2><span class="number">{escape(group)}</span> '
        f"{escape(heading)}</h2>{shown}{_render_neighbours(group, rules, edition)}</div>"
    )


def same_rule(number: str, was: Edition, edition: Edition) -> str:
    """The number that a rule of one edition has in another; its own where it is not there."""
    rule = was.by_number.get(number)
    other = history.counterpart(rule, edition) if rule is not None else None
    return other.number if other is not None else number


def _find_number(query: str, edition: Edition) -> str:
    """The first number that a query stands for, if the book has it."""
    wanted = numbers.asked(query) or edition.headed(query)
    if wanted and wanted[0] in edition:
        return wanted[0]
    return edition.find(query)[0].number  # says what is wrong


def _render_section(section: str, edition: Edition) -> str:
    heading = escape(edition.sections.get(section, ""))
    return (
        f'<div class="rule-page" data-number="{section}" data-edition="{escape(edition.name)}">'
        f'<h2><span class="number">{section}</span> {heading}</h2>'
        f'<div class="twigs">{render_branch(edition, section)}</div></div>'
    )


def _render_crumbs(number: str, edition: Edition) -> str:
    section = number[:3]
    name = edition.sections.get(section, "")
    own = escape(address(number, edition.name))
    return (
        '<p class="crumbs">'
        f"{open_link(section, edition, f'{section} {name}'.strip())}"
        f'<button type="button" class="copy-link" data-address="{own}">Copy link</button></p>'
    )


def _render_rule(rule: Rule, edition: Edition, chosen: bool) -> str:
    """One rule of a page: text, examples, who refers to it, and its history on demand."""
    if rule.is_heading:
        return _render_links(rule, edition) if chosen else ""
    current = ' aria-current="true"' if chosen else ""
    return (
        f'<article class="entry" id="rule-{escape(rule.number)}" tabindex="-1"{current}>'
        f"<h3>{open_link(rule.number, edition)} {badge(rule.edition)}</h3>"
        f"{rule_body(rule, edition)}{_render_links(rule, edition)}</article>"
    )


def _render_links(rule: Rule, edition: Edition) -> str:
    """Who refers to a rule, and where its history is fetched to."""
    referring = edition.referred_from(rule.number)
    back = ""
    if referring:
        more = len(referring) - _MAX_REFERRING
        behind = f" and {more} more" if more > 0 else ""
        back = (
            f'<details class="referring"><summary>Referred to by {len(referring)}</summary>'
            f"<p>{links(referring[:_MAX_REFERRING], edition)}{behind}</p></details>"
        )
    past = (
        f'<details class="history" data-history="{escape(rule.number)}" '
        f'data-edition="{escape(edition.name)}"><summary>History</summary><div></div></details>'
    )
    return f'<div class="below">{back}{past}</div>'


def _render_neighbours(group: str, rules: Sequence[Rule], edition: Edition) -> str:
    before, _ = edition.neighbours(rules[0].number)
    _, after = edition.neighbours(rules[-1].number)

    def named(arrow: str, rule: Rule | None) -> str:
        other = numbers.group(rule.number) if rule is not None else group
        if rule is None or other == group:
            return ""
        return f"{arrow} {open_link(other, edition)} {escape(rule.heading)}"

    return (
        f'<p class="neighbours"><span>{named("←", before)}</span>'
        f"<span>{named('→', after)}</span></p>"
    )


def render_history(number: str, name: str, rulebook: Rulebook) -> str:
    """A rule in every edition, newest first, with the words that went and came."""
    if not numbers.is_number(number):
        raise SticklerError(f"'{number[:20]}' is not a rule number: name one like 702.19b.")
    rule = rulebook.edition(name).rule(number)
    versions = history.history(rule, rulebook)
    if len(versions) < 2:
        return f'<p class="quiet">This rule occurs only in the edition {escape(rule.edition)}.</p>'
    rows = []
    for version in reversed(versions):
        found = version.rule
        own = rulebook.editions[found.edition]
        same = all(kind == "same" for kind, _ in version.changes) and found is not versions[0].rule
        unchanged = '<span class="quiet">unchanged</span>' if same else ""
        rows.append(
            f"<li><p>{link(found.number, own)} {badge(found.edition)} {unchanged}</p>"
            f'<p class="text">{mark_changes(version.changes)}</p></li>'
        )
    return f'<ol class="versions">{"".join(rows)}</ol>'


def mark_changes(changes: Iterable[tuple[history.Change, str]]) -> str:
    """A text with the words that went and came marked; its line breaks stay."""
    words = "".join(_CHANGES[kind].format(escape(text)) for kind, text in changes)
    return words.replace("\n", "<br>")


def render_peek(number: str, edition: Edition) -> str:
    """A rule to glance at where it is referred to, with what is below it if that is little."""
    if not numbers.is_number(number) or number not in edition:
        return f'<p class="quiet">Rule {escape(number[:20])} is not among the loaded rules.</p>'
    own = edition.by_number.get(number)
    head = title(number, heading_of(edition, number), own.edition if own else edition.name)
    below = [rule for rule in edition.subrules(number) if numbers.group(rule.number) == number]
    texts = [rule for rule in [own, *below] if rule is not None and not rule.is_heading]
    shown = "".join(
        f'<p class="text"><b>{escape(rule.number)}</b> '
        f"{rule_text(marked(rule.text, rule.truncated), edition)}</p>"
        for rule in texts[:_MAX_PEEKED]
    )
    more = f"… and {len(texts) - _MAX_PEEKED} more. " if len(texts) > _MAX_PEEKED else ""
    opened = open_link(number, edition, "Open in the rules", "open")
    return f"<h4>{head}</h4>{shown}<p>{more}{opened}</p>"

"""Rules as HTML: a text with its links, symbols and decisive sentence, and an answer's evidence.

Whatever comes from a document or a visitor goes through `escape`, nothing else makes tags.

>>> rule_text("Pay {T}.", book)
'Pay <span class="mana" role="img" aria-label="tap">T</span>.'
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from index import numbers
from index.editions import CURRENT
from index.rulebook import CUT_OFF, Edition, Example, Rule
from qa.answer import Answer
from qa.citations import Citation
from qa.models import BOOK

_SPOTS = re.compile(
    rf"(?P<rule>(?<![\w.]){numbers.RULE}(?!\w))"
    rf"|(?P<lead>\b(?:rules?|sections?)\s+)(?P<section>{numbers.SECTION})(?!\w|\.\d)"
    r"|\{(?P<mana>[^{}\s]{1,9})\}",
    re.IGNORECASE,
)
_MANA = {
    "W": "white",
    "U": "blue",
    "B": "black",
    "R": "red",
    "G": "green",
    "C": "colorless",
    "S": "snow",
    "P": "Phyrexian",
    "H": "Phyrexian",
    "T": "tap",
    "Q": "untap",
    "E": "energy",
    "X": "X generic",
    "Y": "Y generic",
    "Z": "Z generic",
    "CHAOS": "chaos",
}
_CUT_OFF_MARK = f' <span class="cut">{CUT_OFF.strip()}</span>'


def address(number: str, edition: str) -> str:
    """The link that opens a rule; it can be shared."""
    query = {"rule": number} | ({} if edition == CURRENT else {"edition": edition})
    return f"?{urlencode(query)}"


def link(number: str, edition: Edition, label: str | None = None) -> str:
    """A number that opens its rule; one that the book lacks is marked as missing."""
    shown = escape(label or number)
    if number not in edition:
        return f'<span class="absent" title="not in the loaded rules">{shown}</span>'
    href = escape(address(number, edition.name))
    return (
        f'<a class="ref" href="{href}" data-rule="{escape(number)}" '
        f'data-edition="{escape(edition.name)}">{shown}</a>'
    )


def open_link(number: str, edition: Edition, label: str = "", css: str = "number") -> str:
    """A link to a rule's page in the tab Rules."""
    return (
        f'<a class="{css}" href="{escape(address(number, edition.name))}" '
        f'data-open="{escape(number)}" data-edition="{escape(edition.name)}">'
        f"{escape(label or number)}</a>"
    )


def links(found: Sequence[str], edition: Edition) -> str:
    """Several numbers that open their rules."""
    return ", ".join(link(number, edition) for number in found)


def mana(symbol: str) -> str | None:
    """A mana symbol as a badge that can be read out; None for what is no symbol."""
    parts = symbol.upper().split("/")
    names = [_MANA.get(part) or (f"{part} generic" if part.isdecimal() else "") for part in parts]
    if not all(names) or len(names) > 3:
        return None
    colour = f" mana-{parts[0]}" if parts[0] in "WUBRG" and len(parts) == 1 else ""
    label, shown = " or ".join(names), escape(symbol.upper())
    return f'<span class="mana{colour}" role="img" aria-label="{label}">{shown}</span>'


def rule_text(text: str, edition: Edition) -> str:
    """A text with its references as links and its symbols as badges."""
    parts, at = [], 0
    for match in _SPOTS.finditer(text):
        parts.append(escape(text[at : match.start()]))
        at = match.end()
        if match["mana"]:
            parts.append(mana(match["mana"]) or escape(match[0]))
        elif match["section"]:
            parts.append(escape(match["lead"]) + link(match["section"], edition))
        else:
            parts.append(link(match["rule"].lower(), edition, match["rule"]))
    parts.append(escape(text[at:]))
    return "".join(parts).replace("\n", "<br>")


def paragraph(text: str, edition: Edition, truncated: bool, quote: str = "") -> str:
    """A rule's text with the decisive sentence marked; one that its source cut off says so."""
    before, found, after = text.partition(quote) if quote else (text, "", "")
    mark = f"<mark>{rule_text(quote, edition)}</mark>" if found else ""
    shown = rule_text(before, edition) + mark + rule_text(after, edition)
    return f'<p class="text">{shown}{_CUT_OFF_MARK if truncated else ""}</p>'


def examples(those: Sequence[Example], edition: Edition) -> str:
    """The examples, folded."""
    if not those:
        return ""
    shown = "".join(
        f"<li>{rule_text(each.text, edition)}{_CUT_OFF_MARK if each.truncated else ''}</li>"
        for each in those
    )
    name = "1 example" if len(those) == 1 else f"{len(those)} examples"
    return f'<details class="examples"><summary>{name}</summary><ul>{shown}</ul></details>'


def badge(edition: str) -> str:
    """The edition that a rule is from."""
    return f'<span class="edition" title="edition">{escape(edition)}</span>'


def title(number: str, heading: str, edition: str) -> str:
    """A rule's number, heading and edition."""
    named = f' <span class="heading">{escape(heading)}</span>' if heading else ""
    return f'<span class="number">{escape(number)}</span>{named} {badge(edition)}'


def rule_body(rule: Rule, edition: Edition) -> str:
    """A rule's text and its examples."""
    return paragraph(rule.text, edition, rule.truncated) + examples(rule.examples, edition)


def _card(citation: Citation, edition: Edition, quote: str) -> str:
    """A cited rule, whole."""
    rule = edition.by_number.get(citation.number)
    known = rule is not None and rule.text == citation.text
    head = title(citation.number, citation.heading, citation.edition)
    anchor = escape(f"card-{citation.number}")
    link = open_link(citation.number, edition, "Open in the rules", "open")
    return (
        f'<article class="card" id="{anchor}" tabindex="-1" aria-labelledby="{anchor}-title">'
        f'<h3 id="{anchor}-title">{head}</h3>'
        f"{paragraph(citation.text, edition, citation.truncated, quote)}"
        f"{examples(rule.examples, edition) if known and rule else ''}"
        f'<p class="card-foot">{link}</p>'
        "</article>"
    )


def _folded_rules(found: Iterable[str], edition: Edition, name: str) -> str:
    """Rules that were found and not cited, each folded to its first words."""
    rules = [edition.by_number[number] for number in found if number in edition.by_number]
    if not rules:
        return ""
    rows = "".join(
        f'<details class="read"><summary>{title(rule.number, rule.heading, rule.edition)}'
        f'<span class="glimpse">{escape(rule.text[:120])}</span></summary>'
        f"{rule_body(rule, edition)}</details>"
        for rule in rules
    )
    return f'<section class="also" aria-label="{name}"><h3>{name}</h3>{rows}</section>'


def render_evidence(answer: Answer, edition: Edition, turn: int) -> str:
    """All that an answer rests on: the cited rules whole, then what else was found."""
    cited = {citation.number for citation in answer.cited}
    others = [hit.passage.number for hit in answer.hits if hit.passage.number not in cited]
    looked_up = answer.model == BOOK  # a rule that was asked for by number is wanted whole
    shown = "".join(
        _card(citation, edition, "" if looked_up else citation.quote) for citation in answer.cited
    )
    name = "Closest rules" if answer.abstained else "Found but not cited"
    note = ""
    if answer.abstained:
        note = '<p class="quiet">No rule is cited. These are the closest; they may not apply.</p>'
    return (
        f'<div class="evidence" data-turn="{turn}"><h2>Evidence</h2>{note}{shown}'
        f"{_folded_rules(others, edition, name)}</div>"
    )


EMPTY = (
    '<div class="evidence evidence-empty"><h2>Evidence</h2><p class="quiet">The rules behind an '
    "answer appear here, word for word, with the deciding sentence highlighted.</p></div>"
)

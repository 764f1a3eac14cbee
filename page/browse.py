"""The rulebook to leaf through: the tree, a rule's page, its history, and search as you type."""

from collections.abc import Sequence
from html import escape

from index import history, numbers
from index.editions import Rulebook
from index.errors import SticklerError
from index.library import Document
from index.rulebook import Edition, Rule
from page.cards import address, badge, examples, link, links, rule_text, title
from page.errors import here

_FEW = 12  # results of a search
_MOST_REFERRING = 40
WELCOME = (
    '<div class="rule-page"><h2>The rulebook</h2><p class="quiet">Find a rule by number, keyword '
    "or in your own words, or open a section. Every rule has an address of its own that you can "
    "send to a friend.</p></div>"
)
_CHANGES = {"same": "{}", "gone": "<del>{}</del>", "new": "<ins>{}</ins>"}


def tree(book: Edition) -> str:
    """The sections, each folded; what is below one is fetched when it is opened."""
    sections = sorted({rule.number[:3] for rule in book.rules})
    rows = "".join(
        f'<details class="branch" data-section="{number}" data-edition="{escape(book.name)}">'
        f'<summary><span class="number">{number}</span> '
        f"{_section_name(book, number)}"
        f'<span class="count">{len(book.subrules(number))}</span></summary>'
        '<div class="twigs"></div></details>'
        for number in sections
    )
    return f'<nav class="tree" aria-label="Sections">{rows}</nav>'


def _section_name(book: Edition, section: str) -> str:
    """Its heading; where the texts never name it, how its first rule begins."""
    if name := book.sections.get(section):
        return escape(name)
    first = next((rule.text for rule in book.subrules(section) if not rule.is_heading), "")
    return f'<span class="quiet">{escape(_short(first, 40))}</span>'


def branch(book: Edition, section: str) -> str:
    """The rules of a section, each with its subrules below it."""
    if not numbers.is_number(section):
        return ""
    groups: dict[str, list[Rule]] = {}
    for rule in book.subrules(section):
        groups.setdefault(numbers.group(rule.number), []).append(rule)
    return f"<ul>{''.join(_twig(book, number, those) for number, those in groups.items())}</ul>"


def _twig(book: Edition, number: str, rules: Sequence[Rule]) -> str:
    below = [rule for rule in rules if rule.number != number]
    own = book.by_number.get(number)
    named = escape(_short(own.text)) if own is not None else ""
    if not below:
        return f"<li>{_entry(book, number, number)} {named}</li>"
    leaves = "".join(
        f"<li>{_entry(book, rule.number, rule.number)} {escape(_short(rule.text))}</li>"
        for rule in below
    )
    # Opening a rule in the tree shows its page too: a link inside would be a control in a control.
    return (
        f'<li><details><summary data-open="{escape(number)}" data-edition="{escape(book.name)}">'
        f'<span class="number">{escape(number)}</span> {named}</summary><ul>{leaves}</ul></details>'
        "</li>"
    )


def _entry(book: Edition, number: str, label: str) -> str:
    return (
        f'<a class="number" href="{escape(address(number, book.name))}" '
        f'data-open="{escape(number)}" data-edition="{escape(book.name)}">{escape(label)}</a>'
    )


def _short(text: str, most: int = 70) -> str:
    first = text.split("\n", 1)[0]
    return first if len(first) <= most else f"{first[: most - 3].rsplit(' ', 1)[0]} …"


def results(query: str, book: Edition, searched: Sequence[str] | None) -> str:
    """Rules by number, by heading and then as search found them (None while it still loads)."""
    found = list(dict.fromkeys([*_by_name(query, book), *(searched or [])]))[: 2 * _FEW]
    rows = "".join(
        f"<li>{_entry(book, number, number)} "
        f'<span class="heading">{escape(_heading(book, number))}</span>'
        f'<span class="glimpse">{escape(_glimpse(book, number))}</span></li>'
        for number in found
    )
    told = "1 rule found" if len(found) == 1 else f"{len(found)} rules found"
    if searched is None:
        told += "; search by meaning is still loading"
    shown = f'<ul aria-label="Rules found">{rows}</ul>' if found else ""
    return f'<div class="results"><p class="quiet" role="status">{told}</p>{shown}</div>'


def _by_name(query: str, book: Edition) -> list[str]:
    """What a number or the beginning of a heading leads to, without any model."""
    wanted = " ".join(query.lower().split())
    plain = wanted.removeprefix("rule ").removeprefix("cr ")
    if plain[:1].isdecimal():
        exact = [number for number in numbers.asked(wanted) if number in book]
        begun = [rule.number for rule in book.rules if rule.number.startswith(plain)]
        return [*exact, *begun][:_FEW]
    if len(wanted) < 2:
        return []
    headed = [
        rule.number
        for rule in book.rules
        if rule.is_heading and any(w.startswith(wanted) for w in _tails(rule.heading.lower()))
    ]
    sections = [n for n, name in book.sections.items() if wanted in name.lower() and n in book]
    return [*headed, *sections][:_FEW]


def _tails(heading: str) -> list[str]:
    """'first strike' -> 'first strike', 'strike': where a search may begin."""
    words = heading.split()
    return [" ".join(words[start:]) for start in range(len(words))]


def _heading(book: Edition, number: str) -> str:
    rule = book.by_number.get(number)
    return rule.heading if rule is not None else book.sections.get(number, "")


def _glimpse(book: Edition, number: str) -> str:
    rule = book.by_number.get(number)
    return "" if rule is None or rule.is_heading else rule.text[:140]


def page(query: str, book: Edition) -> str:
    """A rule among its neighbours; a section as its list; what is not there is said."""
    try:
        number = _number(query, book)
    except SticklerError as error:
        said = f'<p class="failure" role="alert">{escape(here(str(error)))}</p>'
        return f'<div class="rule-page">{said}</div>'
    if not numbers.parse(number).rule:
        return _section_page(number, book)
    group = numbers.group(number)
    rules = [rule for rule in [book.by_number.get(group), *book.subrules(group)] if rule]
    heading = rules[0].heading
    shown = "".join(_entry_full(rule, book, rule.number == number) for rule in rules)
    return (
        f'<div class="rule-page" data-number="{escape(number)}" data-edition="{escape(book.name)}">'
        f'{_crumbs(number, book)}<h2><span class="number">{escape(group)}</span> '
        f"{escape(heading)}</h2>{shown}{_neighbours(group, rules, book)}</div>"
    )


def same_rule(number: str, was: Edition, book: Edition) -> str:
    """The number that a rule of one edition has in another; its own where it is not there."""
    rule = was.by_number.get(number)
    other = history.counterpart(rule, book) if rule is not None else None
    return other.number if other is not None else number


def _number(query: str, book: Edition) -> str:
    """The first number that a query stands for, if the book has it."""
    wanted = numbers.asked(query) or book.headed(query)
    if wanted and wanted[0] in book:
        return wanted[0]
    return book.find(query)[0].number  # says what is wrong


def _section_page(section: str, book: Edition) -> str:
    return (
        f'<div class="rule-page" data-number="{section}" data-edition="{escape(book.name)}">'
        f'<h2><span class="number">{section}</span> {escape(book.sections.get(section, ""))}</h2>'
        f'<div class="twigs">{branch(book, section)}</div></div>'
    )


def _crumbs(number: str, book: Edition) -> str:
    section = number[:3]
    name = book.sections.get(section, "")
    own = escape(address(number, book.name))
    return (
        '<p class="crumbs">'
        f"{_entry(book, section, f'{section} {name}'.strip())}"
        f'<button type="button" class="copy-link" data-address="{own}">Copy link</button></p>'
    )


def _entry_full(rule: Rule, book: Edition, chosen: bool) -> str:
    """One rule of a page: text, examples, who refers to it, and its history on demand."""
    if rule.is_heading:
        return _below(rule, book) if chosen else ""
    cut = ' <span class="cut">[cut off in the source]</span>' if rule.truncated else ""
    current = ' aria-current="true"' if chosen else ""
    return (
        f'<article class="entry" id="rule-{escape(rule.number)}" tabindex="-1"{current}>'
        f"<h3>{_entry(book, rule.number, rule.number)} {badge(rule.edition)}</h3>"
        f'<p class="text">{rule_text(rule.text, book)}{cut}</p>'
        f"{examples(rule.examples, book)}{_below(rule, book)}</article>"
    )


def _below(rule: Rule, book: Edition) -> str:
    referring = book.referred_from(rule.number)
    back = ""
    if referring:
        more = len(referring) - _MOST_REFERRING
        behind = f" and {more} more" if more > 0 else ""
        back = (
            f'<details class="referring"><summary>Referred to by {len(referring)}</summary>'
            f"<p>{links(referring[:_MOST_REFERRING], book)}{behind}</p></details>"
        )
    past = (
        f'<details class="history" data-history="{escape(rule.number)}" '
        f'data-edition="{escape(book.name)}"><summary>History</summary><div></div></details>'
    )
    return f'<div class="below">{back}{past}</div>'


def _neighbours(group: str, rules: Sequence[Rule], book: Edition) -> str:
    before, _ = book.neighbours(rules[0].number)
    _, behind = book.neighbours(rules[-1].number)
    names = [
        f"{arrow}{_entry(book, numbers.group(rule.number), numbers.group(rule.number))}"
        f" {escape(rule.heading)}"
        if rule is not None and numbers.group(rule.number) != group
        else ""
        for arrow, rule in (("← ", before), ("→ ", behind))
    ]
    return f'<p class="neighbours"><span>{names[0]}</span><span>{names[1]}</span></p>'


def past(number: str, name: str, book: Rulebook) -> str:
    """A rule in every edition, newest first, with the words that went and came."""
    if not numbers.is_number(number):
        raise SticklerError(f"'{number[:20]}' is not a rule number: name one like 702.19b.")
    rule = book.edition(name).rule(number)
    versions = history.history(rule, book)
    if len(versions) < 2:
        return f'<p class="quiet">Only the edition {escape(rule.edition)} has this rule.</p>'
    rows = []
    for version in reversed(versions):
        found = version.rule
        own = book.editions[found.edition]
        words = "".join(_CHANGES[kind].format(escape(text)) for kind, text in version.changes)
        same = all(kind == "same" for kind, _ in version.changes) and found is not versions[0].rule
        unchanged = '<span class="quiet">unchanged</span>' if same else ""
        rows.append(
            f"<li><p>{link(found.number, own)} {badge(found.edition)} {unchanged}</p>"
            f'<p class="text">{words}</p></li>'
        )
    return f'<ol class="versions">{"".join(rows)}</ol>'


def peek(number: str, book: Edition) -> str:
    """A rule to glance at where it is referred to, with what is below it if that is little."""
    if not numbers.is_number(number) or number not in book:
        return f'<p class="quiet">Rule {escape(number[:20])} is not among the rules loaded.</p>'
    own = book.by_number.get(number)
    head = title(number, _heading(book, number), own.edition if own else book.name)
    below = [rule for rule in book.subrules(number) if numbers.group(rule.number) == number]
    texts = [rule for rule in [own, *below] if rule is not None and not rule.is_heading]
    shown = "".join(
        f'<p class="text"><b>{escape(rule.number)}</b> {rule_text(rule.text, book)}</p>'
        for rule in texts[:_FEW]
    )
    more = f"… and {len(texts) - _FEW} more. " if len(texts) > _FEW else ""
    return (
        f"<h4>{head}</h4>{shown}<p>{more}"
        f'<a class="open" href="{escape(address(number, book.name))}" data-open="{escape(number)}" '
        f'data-edition="{escape(book.name)}">Open in the rules</a></p>'
    )


def documents(those: Sequence[Document]) -> str:
    """What is loaded; of a file's place only its name, the rest is the server's business."""
    rows = "".join(
        f"<li>{badge(each.edition)} {escape(_place(each))}"
        f"{f' <span class=quiet>added {escape(each.added)}</span>' if each.added else ''}</li>"
        for each in those
    )
    return f'<ul class="documents" aria-label="Rules texts loaded">{rows}</ul>'


def _place(document: Document) -> str:
    if document.added is None or "://" in document.source:
        return document.source
    return document.source.replace("\\", "/").rsplit("/", 1)[-1]

"""The commands that show and change the rulebook: stickler rules ...

Run as: stickler rules show 702.19b
"""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import EditionName, Json
from cli.terminal import mark_change, rule_title, show, wrapped
from index import library, numbers
from index.rulebook import Edition, ParsedDocument, Rule, marked

if TYPE_CHECKING:
    from index.latest import Latest

app = typer.Typer()
rules_app = typer.Typer(help="Look up rules; add and remove rules documents.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")


@rules_app.command("list")
def list_rules(
    section: Annotated[str | None, typer.Argument(help="A section, like 702.")] = None,
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """List the sections, or one section's rules by their headings."""
    book = library.load().edition(edition)
    if section is None:
        rows = [
            {
                "number": number,
                "heading": book.sections.get(number, ""),
                "rules": len(book.subrules(number)),
            }
            for number in sorted({rule.number[:3] for rule in book.rules})
        ]
        lines = [f"{row['number']}  {row['heading']}  ({row['rules']})" for row in rows]
    else:
        below = [rule for rule in book.find(section) if not numbers.parse(rule.number).letters]
        rows = [book.rule_json(rule) for rule in below]
        lines = [f"{rule.number:9}{_one_line(rule.text)}" for rule in below]
    show(rows, lines, as_json)


@rules_app.command("show")
def show_rules(
    query: Annotated[str, typer.Argument(help="702.19b, 510.1c-d, 702, or a keyword: trample.")],
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """Show rules with their subrules and examples."""
    book = library.load().edition(edition)
    found = book.find(query)
    lines = [line for rule in found for line in _rule_lines(book, rule)]
    show([book.rule_json(rule) for rule in found], lines, as_json)


@rules_app.command("history")
def show_history(
    query: Annotated[str, typer.Argument(help="A rule number or a keyword.")],
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """Show a rule's text in every edition, with changes marked word by word."""
    from index import history  # the comparison of texts is loaded where it is needed

    book = library.load()
    rows, lines = [], []
    for rule in book.edition(edition).find(query):
        versions = history.history(rule, book)
        rows.append([{**asdict(v.rule), "changes": v.changes} for v in versions])
        for version in versions:
            changes = (mark_change(kind, text) for kind, text in version.changes)
            lines += [rule_title(version.rule), wrapped("".join(changes))]
        lines.append("")
    show(rows, lines, as_json)


@rules_app.command("diff")
def show_diff(
    old: Annotated[str | None, typer.Argument(help="An edition, as YYYY-MM-DD.")] = None,
    new: Annotated[str | None, typer.Argument(help="A later edition.")] = None,
    words: Annotated[bool, typer.Option("--words", help="Show what changed word by word.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Show what changed between two editions; by default, between the two newest full ones."""
    from cli import rules_diff  # the comparison of texts is loaded where it is needed
    from index import diff

    if (old is None) != (new is None):
        raise typer.BadParameter("name two editions, or none for the two newest full ones")
    if markdown and as_json:
        raise typer.BadParameter("choose --markdown or --json")
    names = (old, new) if old is not None and new is not None else None
    found = diff.compare(*diff.two_editions(library.load(), names))
    lines = rules_diff.as_markdown if markdown else rules_diff.as_lines
    show(rules_diff.as_json(found, words), lines(found, words), as_json)


@rules_app.command()
def add(
    source: Annotated[str, typer.Argument(metavar="FILE_OR_URL")],
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """Add a rules document; nothing changes unless all of it can be read."""
    document, parsed = library.add(source, edition)
    row = {**_document_json(document, parsed), "glossary": len(parsed.glossary)}
    lines = [
        f"Added the edition {row['edition']}: {row['rules']} rules, {row['examples']} examples, "
        f"{row['glossary']} glossary entries."
    ]
    show(row, lines, as_json)
    for notice in parsed.notices:
        typer.echo(f"Note: {notice}", err=True)


@rules_app.command("latest")
def add_latest(
    page: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The page that links to the plain text. Default: STICKLER_RULES_PAGE, or the "
            "publisher's rules page.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add the newest rules from their publisher and summarise what changed."""
    from index import latest  # as heavy as the comparison of texts

    def tell(step: str) -> None:
        if not as_json:
            typer.echo(f"{step} ...", err=True)

    found = latest.get(page, tell)
    show(_latest_json(found), _latest_lines(found), as_json)
    for notice in found.parsed.notices if found.parsed else ():
        typer.echo(f"Note: {notice}", err=True)


@rules_app.command()
def remove(
    edition: Annotated[str, typer.Argument(help="The edition's day, as YYYY-MM-DD.")],
    as_json: Json = False,
) -> None:
    """Remove the documents that you added for an edition."""
    gone = library.remove(edition)
    show([asdict(d) for d in gone], [f"Removed {d.file}." for d in gone], as_json)


@rules_app.command("documents")
def list_documents(edition: EditionName = None, as_json: Json = False) -> None:
    """List the rules documents: those that ship and those you added."""
    chosen = [d for d in library.documents() if edition in (None, d.edition)]
    if not chosen:
        library.load().edition(edition)  # an edition that is not there is an error
    rows = [_document_json(document, library.read(document)) for document in chosen]
    lines = [
        f"{row['edition']}  {row['rules']:5} rules {row['examples']:4} examples  "
        f"{'added ' + row['added'] if row['added'] else 'ships'}  {row['source']}"
        for row in rows
    ]
    show(rows, [*lines, "", library.notice()], as_json)


def _document_json(document: library.Document, parsed: ParsedDocument) -> dict[str, Any]:
    return {
        **asdict(document),
        "rules": len(parsed.rules),
        "examples": sum(len(rule.examples) for rule in parsed.rules),
        "notices": parsed.notices,
    }


def _latest_json(found: "Latest") -> dict[str, Any]:
    return {
        "status": found.status,
        "edition": found.edition,
        "newest_before": found.newest,
        "rules": len(found.parsed.rules) if found.parsed else None,
        "compared_with": found.diff.old if found.diff else None,
        "counts": found.diff.counts if found.diff else None,
        "notes": found.diff.notes if found.diff else [],
    }


def _latest_lines(found: "Latest") -> Iterator[str]:
    yield found.sentence
    if found.diff:
        yield f"Since {found.diff.old}: {found.diff.summary}."
        yield from found.diff.notes
        yield f"See 'stickler rules diff {found.diff.old} {found.diff.new}'."


def _rule_lines(edition: Edition, rule: Rule) -> Iterator[str]:
    yield rule_title(rule)
    if not rule.is_heading:
        yield wrapped(marked(rule.text, rule.truncated))
    for example in rule.examples:
        yield wrapped(marked(f"Example: {example.text}", example.truncated), indent=6)
    missing = [reference.number for reference in edition.references(rule) if not reference.known]
    if missing:
        yield wrapped(f"(not loaded: {', '.join(missing)})")
    yield ""


def _one_line(text: str) -> str:
    return textwrap.shorten(text, 90, placeholder=" ...")

"""The commands that need no language model: stickler rules ..., stickler index ..., search.

Run as: stickler rules show 702.19b
"""

import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from index import library, numbers
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.rerank import DEFAULT as RERANKER
from index.rulebook import Edition, Rule
from cli.terminal import (
    EditionName,
    EmbedderName,
    Json,
    RerankerName,
    progress_bar,
    show,
    wrapped,
)

if TYPE_CHECKING:
    from index.hits import Hit
    from index.passages import Passage

app = typer.Typer()
rules_app = typer.Typer(help="Look rules up; add and remove rules texts.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")
index_app = typer.Typer(help="Build and inspect the search index.", no_args_is_help=True)
app.add_typer(index_app, name="index")


@rules_app.command("list")
def list_rules(
    section: Annotated[str | None, typer.Argument(help="A section, like 702.")] = None,
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """List the sections, or one section's rules by their headings."""
    book = library.load().edition(edition)
    if section is None:
        found = sorted({rule.number[:3] for rule in book.rules})
        rows = [
            {
                "number": number,
                "heading": book.sections.get(number, ""),
                "rules": len(book.subrules(number)),
            }
            for number in found
        ]
        lines = [f"{row['number']}  {row['heading']}  ({row['rules']})" for row in rows]
    else:
        below = [rule for rule in book.find(section) if not numbers.parse(rule.number).letters]
        rows = [rule_json(book, rule) for rule in below]
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
    show([rule_json(book, rule) for rule in found], lines, as_json)


@rules_app.command("history")
def show_history(
    query: Annotated[str, typer.Argument(help="A rule number or a keyword.")],
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """Show a rule's text in every edition, and what changed word by word."""
    from index import history  # the comparison of texts is loaded where it is needed

    book = library.load()
    rows, lines = [], []
    for rule in book.edition(edition).find(query):
        versions = history.history(rule, book)
        rows.append([{**asdict(v.rule), "changes": v.changes} for v in versions])
        for version in versions:
            lines.append(_title(version.rule))
            lines.append(wrapped("".join(_changed(kind, text) for kind, text in version.changes)))
        lines.append("")
    show(rows, lines, as_json)


@rules_app.command()
def add(
    source: Annotated[str, typer.Argument(metavar="FILE_OR_URL")],
    edition: EditionName = None,
    as_json: Json = False,
) -> None:
    """Add a rules text; it is read whole before anything changes."""
    document, parsed = library.add(source, edition)
    examples = sum(len(rule.examples) for rule in parsed.rules)
    row = {
        **asdict(document),
        "rules": len(parsed.rules),
        "examples": examples,
        "glossary": len(parsed.glossary),
        "notices": parsed.notices,
    }
    lines = [
        f"Added the edition {document.edition}: {len(parsed.rules)} rules, {examples} examples, "
        f"{len(parsed.glossary)} glossary entries."
    ]
    show(row, lines, as_json)
    for notice in parsed.notices:
        typer.echo(f"Note: {notice}", err=True)


@rules_app.command()
def remove(
    edition: Annotated[str, typer.Argument(help="The edition's day, as YYYY-MM-DD.")],
    as_json: Json = False,
) -> None:
    """Remove the texts you added of an edition."""
    gone = library.remove(edition)
    show([asdict(d) for d in gone], [f"Removed {d.file}." for d in gone], as_json)


@rules_app.command("documents")
def list_documents(edition: EditionName = None, as_json: Json = False) -> None:
    """List the rules texts: what ships and what you added."""
    if edition is not None:
        library.load().edition(edition)  # an edition that is not there is an error
    rows = []
    for document in library.documents():
        if edition in (None, document.edition):
            parsed = library.read(document)
            examples = sum(len(rule.examples) for rule in parsed.rules)
            counts = {"rules": len(parsed.rules), "examples": examples}
            rows.append({**asdict(document), **counts, "notices": parsed.notices})
    lines = [
        f"{row['edition']}  {row['rules']:5} rules {row['examples']:4} examples  "
        f"{'added ' + row['added'] if row['added'] else 'ships'}  {row['source']}"
        for row in rows
    ]
    show(rows, [*lines, "", library.notice()], as_json)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="A question in your own words.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many rules.")] = 10,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    reranker: RerankerName = RERANKER,
    as_json: Json = False,
) -> None:
    """Find the rules that decide a question."""
    from index.searcher import Searcher

    searcher = Searcher.open(embedder, progress_bar("Embedding"), reranker)
    hits = searcher.search(question, k, edition)
    lines = []
    for hit in hits:
        via = f"{hit.score:.2f} {'+'.join(hit.via)}"
        lines.append(f"{hit.rank:2}. {_title(hit.passage)}  {typer.style(via, dim=True)}")
        label = "" if hit.passage.kind == "rule" else f"{hit.passage.kind.capitalize()}: "
        lines.append(wrapped(label + hit.passage.shown + _cut_off(hit.passage.truncated), 4))
    show([hit_json(hit) for hit in hits], lines, as_json)


@index_app.command("build")
def build_index(
    embedder: EmbedderName = EMBEDDER,
    anew: Annotated[bool, typer.Option("--anew", help="Even if it is fresh.")] = False,
    as_json: Json = False,
) -> None:
    """Build the index, or bring it up to date; only new or changed passages are embedded."""
    from index import store
    from index.embedder import Embedder

    manifest = store.build(library.load(), Embedder(embedder), progress_bar("Embedding"), anew)
    show(manifest, _index_lines(manifest), as_json)


@index_app.command("info")
def index_info(as_json: Json = False) -> None:
    """Say what the index holds and whether it is fresh."""
    from index import store

    manifest = store.read_manifest()
    if manifest is None:
        raise SticklerError("There is no index yet: run 'stickler index build'.")
    fresh = not store.stale(manifest)
    state = "test" if fresh else "out of date: run 'stickler index build'"
    show({**manifest, "test": fresh}, [*_index_lines(manifest), f"State: {state}"], as_json)


def _index_lines(manifest: dict[str, Any]) -> list[str]:
    model = manifest["model"]
    views = [f"  {name}: {count} passages" for name, count in manifest["views"].items()]
    return [
        f"Index in {manifest['folder']}, built {manifest['built']}",
        f"Model: {model['name']} ({model['hash']}), {len(manifest['documents'])} documents",
        *views,
    ]


def hit_json(hit: "Hit") -> dict[str, Any]:
    """A hit as --json prints it."""
    passage = hit.passage
    told = {"heading": passage.heading, "text": passage.shown, "truncated": passage.truncated}
    return {**hit.to_json(), **told}


def rule_json(book: Edition, rule: Rule) -> dict[str, Any]:
    """A rule as --json prints it."""
    return {
        **asdict(rule),
        "parent": rule.parent,
        "references": [asdict(reference) for reference in book.references(rule)],
        "referred_from": book.referred_from(rule.number),
    }


def _rule_lines(book: Edition, rule: Rule) -> Iterable[str]:
    yield _title(rule)
    if not rule.is_heading:
        yield wrapped(rule.text + _cut_off(rule.truncated))
    for example in rule.examples:
        yield wrapped(f"Example: {example.text}{_cut_off(example.truncated)}", indent=6)
    missing = [reference.number for reference in book.references(rule) if not reference.known]
    if missing:
        yield wrapped(f"(not loaded: {', '.join(missing)})")
    yield ""


def _title(rule: "Rule | Passage") -> str:
    heading = f" {rule.heading}" if rule.heading else ""
    return f"{typer.style(rule.number + heading, bold=True)} [{rule.edition}]"


def _cut_off(truncated: bool) -> str:
    return " [cut off in the source]" if truncated else ""


def _changed(kind: str, text: str) -> str:
    """Marks that need no colours: [-gone-] and {+new+}."""
    words, space = text.rstrip(), text[len(text.rstrip()) :]
    return {"same": text, "gone": f"[-{words}-]{space}", "new": f"{{+{words}+}}{space}"}[kind]


def _one_line(text: str) -> str:
    return textwrap.shorten(text, 90, placeholder=" ...")

"""The command that finds rules without a language model: stickler search.

Run as: stickler search "does my trampler need to kill both blockers?"
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import EditionName, EmbedderName, Json
from cli.terminal import progress_bar, rule_title, show, wrapped
from index.embedder import DEFAULT as EMBEDDER
from index.rulebook import marked

if TYPE_CHECKING:
    from index.hits import Hit

app = typer.Typer()


@app.command()
def search(
    question: Annotated[
        str, typer.Argument(help="A question in your own words, or a rule number.")
    ],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many rules.")] = 10,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    as_json: Json = False,
) -> None:
    """Find the rules that decide a question."""
    from index.hits import hit_json
    from qa.resources import Resources

    resources = Resources(embedder, progress=progress_bar("Embedding"))
    resources.rulebook.edition(
        edition
    )  # an unknown one is an error before anything heavy is loaded
    [result] = resources.searcher.search([question], k, edition)
    lines = [line for hit in result.hits for line in _hit_lines(hit)]
    show([hit_json(hit) for hit in result.hits], lines, as_json)


def _hit_lines(hit: "Hit") -> Iterator[str]:
    passage = hit.passage
    via = f"{hit.score:.2f} {'+'.join(hit.via)}"
    yield f"{hit.rank:2}. {rule_title(passage)}  {typer.style(via, dim=True)}"
    label = "" if passage.kind == "rule" else f"{passage.kind.capitalize()}: "
    yield wrapped(marked(label + passage.shown, passage.truncated), 4)

"""What the commands share: their common options, and how results and progress are printed."""

import json
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from index.embedder import Progress

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
EditionName = Annotated[
    str | None, typer.Option("--edition", help="The day a rulebook took effect, as YYYY-MM-DD.")
]

EmbedderName = Annotated[
    str,
    typer.Option(
        "--embedder",
        envvar="STICKLER_EMBEDDER",
        help="A sentence-transformers model: a folder, a Hugging Face id, or what 'tune' made.",
    ),
]

RerankerName = Annotated[
    str,
    typer.Option(
        "--reranker",
        envvar="STICKLER_RERANKER",
        help="A file that 'stickler tune reranker' made, to read the first rules anew.",
    ),
]

_NARROW = "utf" not in (sys.stdout.encoding or "").lower()  # JSON is then escaped, not damaged


def show(result: object, lines: Iterable[str], as_json: bool) -> None:
    typer.echo(
        json.dumps(result, ensure_ascii=_NARROW, indent=1) if as_json else "\n".join(lines).rstrip()
    )


def wrapped(text: str, indent: int = 2) -> str:
    pad = " " * indent
    return "\n".join(
        textwrap.fill(line, 100, initial_indent=pad, subsequent_indent=pad)
        for line in text.split("\n")
    )


def progress_bar(label: str) -> "Progress":
    """A bar on standard error that appears with the first step."""
    from tqdm import tqdm

    bar: list[Any] = []

    def step(done: int, total: int) -> None:
        if not bar:
            bar.append(tqdm(total=total, desc=label, file=sys.stderr, leave=False))
            _open_bars.extend(bar)
        bar[0].update(done - bar[0].n)
        if done >= total:
            bar.pop().close()  # what comes after has a bar of its own

    return step


_open_bars: list[Any] = []


def fail(message: str) -> None:
    """Say on standard error, on a line of its own, why a command ends here."""
    for bar in _open_bars:
        bar.close()
    typer.echo(message, err=True)

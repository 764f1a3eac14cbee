"""How the commands print: results, titles of rules, progress bars and errors."""

import json
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from index.embedder import Progress
    from index.passages import Passage
    from index.rulebook import Rule

_NARROW = "utf" not in (sys.stdout.encoding or "").lower()  # JSON is then escaped, not damaged
_open_bars: list[Any] = []


def show(result: object, lines: Iterable[str], as_json: bool) -> None:
    """Print a result on standard output: as JSON, or as lines for people."""
    typer.echo(
        json.dumps(result, ensure_ascii=_NARROW, indent=1) if as_json else "\n".join(lines).rstrip()
    )


def wrapped(text: str, indent: int = 2) -> str:
    """A text in lines of at most 100 characters; its own line breaks stay."""
    pad = " " * indent
    return "\n".join(
        textwrap.fill(line, 100, initial_indent=pad, subsequent_indent=pad)
        for line in text.split("\n")
    )


def rule_title(rule: "Rule | Passage") -> str:
    """Number, heading and edition of a rule: '702.19b Trample [2024-03-08]'."""
    heading = f" {rule.heading}" if rule.heading else ""
    return f"{typer.style(rule.number + heading, bold=True)} [{rule.edition}]"


def mark_change(kind: str, text: str) -> str:
    """A piece of a text with marks that need no colours: [-gone-] and {+new+}."""
    words, space = text.rstrip(), text[len(text.rstrip()) :]
    return {"same": text, "gone": f"[-{words}-]{space}", "new": f"{{+{words}+}}{space}"}[kind]


def progress_bar(label: str) -> "Progress":
    """A function of (done, total) that draws a bar on standard error from its first call."""
    bar: list[Any] = []

    def step(done: int, total: int) -> None:
        if not bar:
            from tqdm import tqdm

            bar.append(tqdm(total=total, desc=label, file=sys.stderr, leave=False))
            _open_bars.extend(bar)
        bar[0].update(done - bar[0].n)
        if done >= total:
            bar.pop().close()  # the next task gets its own bar

    return step


def fail(message: str) -> None:
    """Print on standard error, on a separate line, why the command failed."""
    for bar in _open_bars:
        bar.close()
    typer.echo(message, err=True)

"""The commands for the answer cache: stickler cache ...

Run as: stickler cache clear
"""

import typer

from cli.options import Json
from cli.terminal import show

app = typer.Typer()
cache_app = typer.Typer(
    help="Show or clear the cache of earlier answers.",
    no_args_is_help=True,
)
app.add_typer(cache_app, name="cache")


@cache_app.command("show")
def show_cache(as_json: Json = False) -> None:
    """Show how many answers are cached, and where."""
    from qa.answer_cache import MAX_ANSWERS, contents

    path, answers, size = contents()
    row = {"path": str(path), "answers": answers, "most": MAX_ANSWERS, "bytes": size}
    show(row, [f"{answers} of at most {MAX_ANSWERS} answers, {_kilobytes(size)}, {path}"], as_json)


@cache_app.command("clear")
def clear_cache(as_json: Json = False) -> None:
    """Delete all cached answers."""
    from qa import answer_cache

    freed = answer_cache.clear()
    said = f"Cleared, {_kilobytes(freed)} freed." if freed else "The cache is empty."
    show({"path": str(answer_cache.place()), "freed": freed}, [said], as_json)


def _kilobytes(size: int) -> str:
    return f"{size / 1000:,.0f} kB"

"""The commands of the answers that are kept: stickler cache ...

Run as: stickler cache clear
"""

import typer

from cli.options import Json
from cli.terminal import show

app = typer.Typer()
cache_app = typer.Typer(
    help="The answers that are kept, so that the same question is answered at once.",
    no_args_is_help=True,
)
app.add_typer(cache_app, name="cache")


@cache_app.command("show")
def show_cache(as_json: Json = False) -> None:
    """Say how many answers are kept, and where."""
    from qa.answer_cache import MAX_ANSWERS, contents

    path, answers, size = contents()
    row = {"path": str(path), "answers": answers, "most": MAX_ANSWERS, "bytes": size}
    show(row, [f"{answers} of at most {MAX_ANSWERS} answers, {_kilobytes(size)}, {path}"], as_json)


@cache_app.command("clear")
def clear_cache(as_json: Json = False) -> None:
    """Forget all answers; the next question is answered anew."""
    from qa import answer_cache

    freed = answer_cache.clear()
    said = f"Cleared, {_kilobytes(freed)} freed." if freed else "No answers are kept."
    show({"path": str(answer_cache.place()), "freed": freed}, [said], as_json)


def _kilobytes(size: int) -> str:
    return f"{size / 1000:,.0f} kB"

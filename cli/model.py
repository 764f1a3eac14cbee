"""The commands that download, list and remove language models: stickler model ...

Run as: stickler model get
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Json
from cli.terminal import show

if TYPE_CHECKING:
    from qa.models.catalog import InstalledModel
    from qa.models.partial import Progress

app = typer.Typer()
model_app = typer.Typer(help="Download, list and remove language models.", no_args_is_help=True)
app.add_typer(model_app, name="model")


@model_app.command("get")
def get_model(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A name from 'stickler model list', a file on the Hugging Face hub as "
            "OWNER/REPOSITORY/FILE.gguf, the address of a .gguf file, or a path. "
            "Default: the default model.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Download a model and verify it; resumes if interrupted."""
    from qa.models import DEFAULT, catalog, download

    with _byte_bar("Downloading") as progress:
        path = download.get(model or DEFAULT, progress, notice=_notice)
    found = next(each for each in catalog.installed() if each.path == path)
    lines = [f"{found.name} is ready: {path} ({_size(found.size)}, SHA-256 {found.sha256})"]
    show(_row(found.name, found), lines, as_json)


@model_app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models that can be downloaded and those already on this machine."""
    from qa.models import catalog

    here = {model.name: model for model in catalog.installed()}
    names = [*catalog.catalog(), *(name for name in here if name not in catalog.catalog())]
    rows = [_row(name, here.get(name)) for name in names]
    show(rows, (line for row in rows for line in _lines(row)), as_json)


@model_app.command("remove")
def remove_model(
    name: Annotated[str, typer.Argument(help="A name from 'stickler model list'.")],
    as_json: Json = False,
) -> None:
    """Remove a model, or the remains of an unfinished download."""
    from qa.models import catalog

    freed = catalog.remove(name)
    show({"removed": name, "bytes": freed}, [f"Removed {name} ({_size(freed)})."], as_json)


def _row(name: str, here: "InstalledModel | None") -> dict[str, Any]:
    """All that is known of a model: from the catalogue, and of the file if it is here."""
    from qa.models import DEFAULT, catalog

    known = catalog.known(name)
    any_of = known or here
    assert any_of  # a name comes from one of the two
    return {
        "name": name,
        "default": name == DEFAULT,
        "description": known.description if known else None,
        "licence": known.licence if known else None,
        "size": any_of.size,
        "sha256": any_of.sha256,
        "context": known.context if known else None,
        "path": str(here.path) if here else None,
        "source": here.source if here else None,
    }


def _lines(row: dict[str, Any]) -> Iterator[str]:
    default = ", the default" if row["default"] else ""
    licence = row["licence"] or "licence not known"
    yield f"{typer.style(row['name'], bold=True)}  {_size(row['size'])}, {licence}{default}"
    if row["description"]:
        yield f"  {row['description']}"
    yield f"  {row['path']} ({row['source']})" if row["path"] else "  not downloaded"


def _size(size: int) -> str:
    """A number of bytes for people: 1.1 GB."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.1f} {unit}"
    return f"{size} bytes"


def _notice(sentence: str) -> None:
    from tqdm import tqdm

    tqdm.write(sentence, file=sys.stderr)  # above the bar


@contextlib.contextmanager
def _byte_bar(label: str) -> "Iterator[Progress]":
    """A function of (done, total) in bytes that draws a bar on standard error, in a terminal."""
    bars: list[Any] = []

    def step(done: int, total: int) -> None:
        if not bars:  # what an earlier download left does not count for the speed
            from tqdm import tqdm

            shape: Any = {"unit": "B", "unit_scale": True, "miniters": 1, "leave": False}
            bars.append(tqdm(desc=label, initial=done, file=sys.stderr, disable=None, **shape))
        bars[0].total = total or None
        bars[0].update(done - bars[0].n)

    try:
        yield step
    finally:
        for bar in bars:
            bar.close()

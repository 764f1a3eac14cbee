"""The commands of the search index: stickler index ...

Run as: stickler index build
"""

from typing import Annotated, Any

import typer

from cli.options import EmbedderName, Json
from cli.remedies import phrase
from cli.terminal import progress_bar, show
from index.embedder import DEFAULT as EMBEDDER
from index.errors import Action, Remedy, SticklerError

app = typer.Typer()
index_app = typer.Typer(help="Build and inspect the search index.", no_args_is_help=True)
app.add_typer(index_app, name="index")
_BUILD = Remedy(Action.BUILD_INDEX)


@index_app.command("build")
def build_index(
    embedder: EmbedderName = EMBEDDER,
    force: Annotated[
        bool, typer.Option("--force", help="Rebuild even if the index is up to date.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Build or update the index; only new or changed passages are embedded."""
    from index import library, store
    from index.embedder import Embedder

    manifest = store.build(library.load(), Embedder(embedder), progress_bar("Embedding"), force)
    show(manifest, _manifest_lines(manifest), as_json)


@index_app.command("info")
def index_info(as_json: Json = False) -> None:
    """Show what the index contains and whether it is up to date."""
    from index import store

    manifest = store.read_manifest()
    if manifest is None:
        raise SticklerError("There is no index yet", _BUILD)
    fresh = not store.stale(manifest)
    state = "fresh" if fresh else f"out of date: {phrase(_BUILD)}"
    show({**manifest, "fresh": fresh}, [*_manifest_lines(manifest), f"State: {state}"], as_json)


def _manifest_lines(manifest: dict[str, Any]) -> list[str]:
    model = manifest["model"]
    views = [f"  {name}: {count} passages" for name, count in manifest["views"].items()]
    return [
        f"Index in {manifest['folder']}, built {manifest['built']}",
        f"Model: {model['name']} ({model['hash']}), {len(manifest['documents'])} documents",
        *views,
    ]

"""The command that serves the web page: stickler serve."""

from typing import Annotated

import typer

from cli.assistant import make_settings
from cli.options import EditionName, EmbedderName, ModelName, ShowGenerated
from index.embedder import DEFAULT as EMBEDDER
from qa.models import DEFAULT as MODEL

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Use 0.0.0.0 to open the page to your network.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="Default: the first free port from 7860 up.")
    ] = None,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    show_generated: ShowGenerated = True,
    auth: Annotated[
        str | None,
        typer.Option(envvar="STICKLER_AUTH", help="NAME:PASSWORD that visitors have to enter."),
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Also offer MCP tools to other programs.")
    ] = False,
) -> None:
    """Serve the web page, on this machine only unless --host says otherwise."""
    import app as web

    settings = make_settings(model, embedder, edition, show_generated)
    web.serve(settings, host, port, auth, open_browser, mcp)

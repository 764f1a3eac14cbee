"""The command `stickler`: the packages' commands under one name, and how errors are told.

Run as: stickler rules show 702.19b
"""

import io
import os
import sys
from typing import Annotated

import typer

import cli.eval
import cli.tune
import cli.rules
import cli.batch
import cli.ask
from index.editions import CURRENT
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.rerank import DEFAULT as RERANKER
from cli.terminal import EditionName, EmbedderName, RerankerName, fail
from cli.ask import ModelName, Words
from qa.models import DEFAULT as MODEL

app = typer.Typer(
    help="Answers questions about a numbered rulebook, on your own machine, citing every rule.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(cli.ask.app)
app.add_typer(cli.batch.app)
app.add_typer(cli.rules.app)
app.add_typer(cli.eval.app)
app.add_typer(cli.tune.app)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.")] = False,
) -> None:
    """Options of every command."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="0.0.0.0 opens it to your network.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Default: the first free from 7860.")] = None,
    model: ModelName = MODEL,
    edition: EditionName = None,
    embedder: EmbedderName = EMBEDDER,
    reranker: RerankerName = RERANKER,
    words: Words = None,
    auth: Annotated[
        str | None, typer.Option(envvar="STICKLER_AUTH", help="USER:PASSWORD to ask for.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Serve the web page, on this machine only unless --host says otherwise."""
    import app as web
    from qa.settings import Settings

    settings = Settings(model, embedder, reranker, edition or CURRENT, show_generated=words)
    web.serve(settings, host, port, auth, open_browser)


def main() -> None:
    """Run a command; an error is one sentence and exit code 1, a traceback only with --debug."""
    debug = "--debug" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a narrow terminal shows ? for what it lacks
    try:
        app(standalone_mode=True)
    except SticklerError as error:
        if debug:
            raise
        fail(f"Error: {error}")
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        fail("Stopped.")
        raise SystemExit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as error:
        if debug:
            raise
        what = f"{type(error).__name__}: {error}"
        fail(f"Error: Stickler failed ({what}): run it again with --debug.")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()

"""The command `stickler`: all commands under one name, and how errors are printed.

Run as: stickler rules show 702.19b
"""

import io
import os
import sys
from typing import Annotated

import typer

import cli.ask
import cli.batch
import cli.doctor
import cli.eval
import cli.index
import cli.model
import cli.rules
import cli.search
import cli.serve
import cli.tune
from cli.remedies import phrase
from cli.terminal import fail
from index.errors import SticklerError

app = typer.Typer(
    help="Answers questions about a numbered rulebook, on your own machine, citing every rule.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(cli.ask.app)
app.add_typer(cli.batch.app)
app.add_typer(cli.serve.app)
app.add_typer(cli.search.app)
app.add_typer(cli.rules.app)
app.add_typer(cli.index.app)
app.add_typer(cli.model.app)
app.add_typer(cli.doctor.app)
app.add_typer(cli.eval.app)
app.add_typer(cli.tune.app)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.")] = False,
) -> None:
    """Options of every command."""


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
        fail(f"Error: {error.sentence(phrase)}")
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

"""The command `stickler`: all commands under one name, and how errors are printed.

Run as: stickler rules show 702.19b
"""

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cli.terminal import fail
from index.errors import SticklerError

COMMANDS = {  # in the order of the help page, each with its module
    "ask": "cli.ask",
    "chat": "cli.ask",
    "batch": "cli.batch",
    "serve": "cli.serve",
    "search": "cli.search",
    "rules": "cli.rules",
    "index": "cli.index",
    "model": "cli.model",
    "cache": "cli.cache",
    "schema": "cli.schema",
    "doctor": "cli.doctor",
    "eval": "cli.eval",
    "tune": "cli.tune",
}


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """The command `stickler` for these arguments.

    It contains only the subcommand they call, so that a light one starts fast, or all subcommands
    if they call none.
    """
    app = typer.Typer(
        help="Answer questions about a numbered rulebook on your own machine, citing every rule.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    called = next((argument for argument in arguments if argument != "--debug"), "")
    modules = [COMMANDS[called]] if called in COMMANDS else dict.fromkeys(COMMANDS.values())
    for module in modules:
        app.add_typer(importlib.import_module(module).app)
    return app


def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run a command; an error is one sentence and exit code 1, a traceback only with --debug."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # show ? for what the encoding lacks
    try:
        make_app(arguments)()
    except SticklerError as error:
        if debug:
            raise
        from cli.remedies import phrase

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

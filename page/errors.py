"""Errors as a visitor meets them: one sentence in the words of the page, nothing of its insides."""

import contextlib
from collections.abc import Iterator

from index.errors import SticklerError

# What sentences say of commands and their options, as the page says it.
_SAID = {
    "with 'stickler rules add FILE'": "in the tab Rules, under Rules texts",
    "see 'stickler rules list'": "see its sections",
    "'stickler rules list' for the headings": "the tab Rules for the headings",
    "choose another with '--model'": "choose another in the settings",
    "choose another --model": "choose another in the settings",
    "use '--model none'": "choose 'none'",
    "name the one that holds the questions with --column": "choose the one with the questions",
    ", or say what it is with --format": "",
    ", or say which with --format": "",
}


def here(words: str) -> str:
    """A sentence of the command as the page says it."""
    for command, page in _SAID.items():
        words = words.replace(command, page)
    return words


@contextlib.contextmanager
def told() -> Iterator[None]:
    """A SticklerError becomes the page's own kind, which is shown; any other stays in the log."""
    import gradio as gr

    try:
        yield
    except SticklerError as error:
        raise gr.Error(here(str(error)), print_exception=False) from None

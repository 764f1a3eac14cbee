"""Errors as a visitor meets them: the one sentence, and nothing of the server's insides."""

import contextlib
from collections.abc import Iterator

from index.errors import SticklerError


@contextlib.contextmanager
def told() -> Iterator[None]:
    """A SticklerError becomes the page's own kind, which is shown; any other stays in the log."""
    import gradio as gr

    try:
        yield
    except SticklerError as error:
        raise gr.Error(str(error), print_exception=False) from None

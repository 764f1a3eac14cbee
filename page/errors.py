"""Errors as a visitor meets them: one sentence in the words of the page, no internals."""

import contextlib
from collections.abc import Iterator

from index.errors import SticklerError
from page.remedies import phrase


@contextlib.contextmanager
def gradio_errors() -> Iterator[None]:
    """Turn a SticklerError into Gradio's own error, which is shown; any other stays in the log."""
    import gradio as gr

    try:
        yield
    except SticklerError as error:
        raise gr.Error(error.sentence(phrase), print_exception=False) from None


def as_stickler_error(error: BaseException) -> SticklerError:
    """The error itself if it is meant for people; of any other only the kind is shown."""
    if isinstance(error, SticklerError):
        return error
    return SticklerError(f"Stickler failed ({type(error).__name__}): see its terminal.")

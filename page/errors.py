"""Errors as visitors see them: one sentence in the page's wording, without internals."""

import contextlib
from collections.abc import Iterator
from html import escape

from index.errors import SticklerError
from page.remedies import phrase


def render_failure(text: str) -> str:
    """A failure where its result would be; a screen reader announces it."""
    return f'<p class="failure" role="alert">{escape(text)}</p>'


def render_error(error: SticklerError) -> str:
    """The same for an error, in the page's words."""
    return render_failure(error.sentence(phrase))


@contextlib.contextmanager
def gradio_errors() -> Iterator[None]:
    """Turn a SticklerError into Gradio's own error, which is shown; any other stays in the log."""
    import gradio as gr

    try:
        yield
    except SticklerError as error:
        raise gr.Error(error.sentence(phrase), print_exception=False) from None


def as_stickler_error(error: BaseException) -> SticklerError:
    """The error itself if it is meant for people; for any other, only its type is shown."""
    if isinstance(error, SticklerError):
        return error
    return SticklerError(f"Stickler failed ({type(error).__name__}): see the server's terminal.")

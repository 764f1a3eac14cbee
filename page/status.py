"""The state of model and rules: one line in plain English, which screen readers read out.

"Model: downloading, 340 of 1,117 MB. Rules: excerpts of 2024-03-08 only."
"""

from concurrent.futures import Future
from dataclasses import dataclass
from html import escape

from index.errors import SticklerError
from index.searcher import Searcher
from page.errors import as_stickler_error
from page.remedies import phrase
from qa.models import NONE, Model, catalog

_LINE = '<div class="status" role="status" aria-live="polite">{}</div>'
EMPTY = _LINE.format("")  # in the page from the start: readers announce only changes
Done = tuple[int, int]  # so many, of so many


@dataclass(frozen=True, slots=True)
class State:
    """How far the model is, or the rules are."""

    words: str
    ready: bool = False
    failed: bool = False
    figures: str = ""  # '340 of 1,117 MB'
    percent: int = 0

    @property
    def message(self) -> str:
        return f"{self.words}, {self.figures}" if self.figures else self.words


def model_state(name: str, model: "Future[Model | None] | None", fetched: Done) -> State:
    """How far a model is, of which so many bytes are fetched; None is one nobody asked for yet."""
    if name == NONE:
        return State("none, only rules are quoted", ready=True)
    if model is None:
        absent = name in catalog.catalog() and catalog.find(name) is None
        missing = "downloaded" if absent else "loaded"
        return State(f"not {missing} yet; your next question will start it")
    if not model.done():
        done, total = (each // 1_000_000 for each in fetched)
        return _progress("downloading", done, total, "MB")
    if error := model.exception():
        return _failure(error)
    return State("ready", ready=True)


def rules_state(search: "Future[Searcher]", indexed: Done, edition: str, offered: str) -> State:
    """How far search is, then which rules it finds; `offered` is the publisher's newest edition.

    That is known only if a person asked for it.
    """
    if not search.done():
        return _progress("building the index", *indexed, "passages")
    if error := search.exception():
        return _failure(error)
    editions = search.result().rulebook.editions
    newest = next(iter(editions.values()))
    book = editions.get(edition, newest)
    words = f"full release of {book.name}" if book.is_whole else f"excerpts of {book.name} only"
    if offered > newest.name:
        words += f". Newer rules ({offered}) are available: get them in the Rules tab"
    return State(words, ready=True)


def _progress(words: str, done: int, total: int, unit: str) -> State:
    """A state with its figures; before there are any, and once all is done, it is loading."""
    if done >= total:
        return State("loading")
    return State(words, figures=f"{done:,} of {total:,} {unit}", percent=100 * done // total)


def _failure(error: BaseException) -> State:
    """What is wrong and what to do about it; a line has room for one remedy."""
    known = as_stickler_error(error)
    sentence = SticklerError(known.message, *known.remedies[:1]).sentence(phrase)
    return State(f"failed. {sentence.removesuffix('.')}", failed=True)


def render_status(model: State, rules: State) -> str:
    """The line, with a lamp before it."""
    lamp = "lamp"
    if model.failed or rules.failed:
        lamp += " failed"
    elif not (model.ready and rules.ready):
        lamp += " loading"
    return _LINE.format(
        f'<span><i class="{lamp}"></i>Model: {_render_words(model)}</span> '
        f"<span>Rules: {_render_words(rules)}</span>"
    )


def _render_words(state: State) -> str:
    """Progress figures are shown continuously but announced only at every tenth."""
    words = escape(state.words)
    if not state.figures:
        return f"{words}."
    tenth = state.percent // 10 * 10
    return (
        f'{words}, <span aria-hidden="true">{escape(state.figures)}.</span>'
        f'<span class="unseen">{tenth} percent.</span>'
    )

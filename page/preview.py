"""Long jobs as HTML: how far one is, how a batch ended, and its first answers."""

from collections.abc import Sequence
from html import escape

from index.rulebook import Edition
from page.cards import badge, link
from page.errors import render_failure
from qa.batch.engines import Outcome
from qa.batch.run import Counts

_MAX_QUESTION = 300  # characters
WELCOME = (
    '<div class="preview"><h2>Answer a file of questions</h2><p class="quiet">Text with one '
    "question a line, or a table with a column of questions (CSV, TSV, JSON, Parquet, Excel); "
    "other columns are copied to the output. Every answer cites its rules. The first answers "
    "appear here while the others are being worked on.</p></div>"
)


def render_progress(done: int, total: int, message: str) -> str:
    """How far a job is, for eyes and screen readers."""
    if not total:
        return f'<p class="waiting"><span class="dot"></span>{escape(message)}</p>'
    return (
        f'<p class="progress-count">{done} of {total}</p>'
        f'<progress value="{done}" max="{total}" aria-label="Done so far"></progress>'
    )


def render_status(text: str) -> str:
    """A sentence on how a job ended."""
    return f'<p role="status">{escape(text)}</p>'


def render_counts(counts: Counts) -> str:
    """How a batch ended, in a sentence."""
    parts = [f"{counts.answered} answered", f"{counts.abstained} not settled by the rules"]
    parts += [f"{counts.failed} failed"] if counts.failed else []
    parts += [f"{counts.reused} asked more than once"] if counts.reused else []
    parts += [f"{counts.empty} empty lines skipped"] if counts.empty else []
    text = f"Done: {', '.join(parts)}."
    if counts.silent:
        text += f" {counts.silent} only quote rules because the language model failed."
    if counts.cut:
        cells = "1 cell is" if counts.cut == 1 else f"{counts.cut} cells are"
        text += f" {cells} too long for a spreadsheet and marked as cut off: CSV keeps everything."
    return render_status(text)


def render_preview(outcomes: Sequence[Outcome], total: int, edition: Edition) -> str:
    """The first answers, to see whether they are what is wanted."""
    if not outcomes:
        return WELCOME
    shown = "".join(_render_outcome(each, edition) for each in outcomes)
    name = f"The first {len(outcomes)} of {total}" if total > len(outcomes) else "Answers"
    return f'<div class="preview"><h2>{name}</h2>{shown}</div>'


def _render_outcome(outcome: Outcome, edition: Edition) -> str:
    question = f'<h3 class="question">{escape(outcome.question[:_MAX_QUESTION])}</h3>'
    return f'<article class="turn">{question}{_render_answer(outcome, edition)}</article>'


def _render_answer(outcome: Outcome, edition: Edition) -> str:
    answer = outcome.answer
    if answer is None:
        return render_failure(outcome.error or "")
    cited = [each for each in answer["citations"] if each["quote"]]
    if answer["abstained"] or not cited:
        return f'<div class="abstained"><p>{escape(answer["reason"] or answer["text"])}</p></div>'
    rows = "".join(
        f"<li><p>{link(each['number'], edition)} "
        f'<span class="heading">{escape(each["heading"])}</span> {badge(each["edition"])}</p>'
        f"<blockquote>{escape(each['quote'])}</blockquote></li>"
        for each in cited
    )
    return f'<ul class="cited">{rows}</ul>'

"""Long work as HTML: how far it is, how it ended, and the first answers of a batch."""

from collections.abc import Sequence
from html import escape

from index.rulebook import Edition
from page.cards import badge, link
from qa.batch.run import Counts
from qa.journal import Outcome

_LONGEST = 300  # characters of a question
WELCOME = (
    '<div class="preview"><h2>Answer a file of questions</h2><p class="quiet">Text with one '
    "question a line, or a table with a column of questions (CSV, TSV, JSON, Parquet, Excel): its "
    "other columns are carried along. Every answer names its rules. The first answers appear here "
    "while the others are being found.</p></div>"
)


def bar(done: int, total: int, words: str) -> str:
    """How far it is, for eyes and screen parsers."""
    if not total:
        return f'<p class="waiting"><span class="dot"></span>{escape(words)}</p>'
    return (
        f'<p class="far">{done} of {total}</p>'
        f'<progress value="{done}" max="{total}" aria-label="Done so far"></progress>'
    )


def ended(counts: Counts) -> str:
    """How a batch ended, in a sentence."""
    parts = [f"{counts.answered} answered", f"{counts.abstained} not settled by the rules"]
    parts += [f"{counts.failed} failed"] if counts.failed else []
    parts += [f"{counts.reused} asked more than once"] if counts.reused else []
    parts += [f"{counts.empty} empty lines skipped"] if counts.empty else []
    said = f"Done: {', '.join(parts)}."
    if counts.silent:
        said += f" {counts.silent} are the rules alone: the language model failed."
    if counts.cut:
        cells = "1 cell is" if counts.cut == 1 else f"{counts.cut} cells are"
        said += f" {cells} longer than a spreadsheet holds, cut off and marked so: CSV has it all."
    return f'<p role="status">{said}</p>'


def failure(words: str) -> str:
    return f'<p class="failure" role="alert">{escape(words)}</p>'


def preview(outcomes: Sequence[Outcome], total: int, book: Edition) -> str:
    """The first answers, to see whether they are what is wanted."""
    if not outcomes:
        return WELCOME
    shown = "".join(_shown(each, book) for each in outcomes)
    name = f"The first {len(outcomes)} of {total}" if total > len(outcomes) else "Answers"
    return f'<div class="preview"><h2>{name}</h2>{shown}</div>'


def _shown(outcome: Outcome, book: Edition) -> str:
    asked = f'<h3 class="asked">{escape(outcome.question[:_LONGEST])}</h3>'
    return f'<article class="turn">{asked}{_answered(outcome, book)}</article>'


def _answered(outcome: Outcome, book: Edition) -> str:
    answer = outcome.answer
    if answer is None:
        return failure(outcome.error or "")
    cited = [each for each in answer["citations"] if each["quote"]]
    if answer["abstained"] or not cited:
        return f'<div class="abstained"><p>{escape(answer["reason"] or answer["text"])}</p></div>'
    rows = "".join(
        f"<li><p>{link(each['number'], book)} "
        f'<span class="heading">{escape(each["heading"])}</span> {badge(each["edition"])}</p>'
        f"<blockquote>{escape(each['quote'])}</blockquote></li>"
        for each in cited
    )
    return f'<ul class="cited">{rows}</ul>'

"""The loaded rules documents, whether they are only excerpts, and the result of adding more."""

from collections.abc import Sequence
from html import escape

from index.diff import Diff
from index.editions import Rulebook
from index.latest import Latest
from index.library import Document
from page.cards import badge


def only_excerpts(rulebook: Rulebook) -> bool:
    """True where the newest edition is not there as a whole."""
    return not next(iter(rulebook.editions.values())).is_whole


def render_latest(found: Latest) -> str:
    """What came of asking for the newest rules."""
    more = f" {_whats_new(found.diff)}" if found.diff else ""
    return f'<p role="status">{escape(found.sentence + more)}</p>'


def _whats_new(diff: Diff) -> str:
    notes = "".join(f" {note}" for note in diff.notes)
    return f"Since {diff.old}: {diff.summary}.{notes} See Compare two editions in the Rules tab."


def render_documents(those: Sequence[Document]) -> str:
    """The loaded documents; a local file is shown by its name only, without its folder."""
    rows = "".join(
        f"<li>{badge(each.edition)} {escape(_source_name(each))}"
        f"{f' <span class=quiet>added {escape(each.added)}</span>' if each.added else ''}</li>"
        for each in those
    )
    return f'<ul class="documents" aria-label="Loaded rules documents">{rows}</ul>'


def _source_name(document: Document) -> str:
    if document.added is None or "://" in document.source:
        return document.source
    return document.source.replace("\\", "/").rsplit("/", 1)[-1]

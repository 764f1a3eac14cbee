"""The tab Rules: the tree, search as you type, a rule's page, and texts that are added."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from index import library
from index.editions import CURRENT, Rulebook
from index.errors import SticklerError
from index.library import Document
from page import rule_page
from page.cards import badge
from page.components import EVENT, QUICK, Shared, html, live_html
from page.errors import gradio_errors
from page.remedies import phrase
from page.rule_tree import render_branch, render_results, render_tree
from page.service import Service

_MAX_QUERY = 200  # characters


def server_functions(service: Service) -> list[Callable[[list[str]], str]]:
    """What the page's script fetches: a peek at a rule, a branch of the tree, a rule's history."""

    def book() -> Rulebook:
        return service.resources.book

    def peek(data: list[str]) -> str:
        number, edition = data
        return _or_failure(lambda: rule_page.render_peek(number, book().edition(edition)))

    def branch(data: list[str]) -> str:
        section, edition = data
        return _or_failure(lambda: render_branch(book().edition(edition), section))

    def history(data: list[str]) -> str:
        number, edition = data
        return _or_failure(lambda: rule_page.render_history(number, edition, book()))

    return [peek, branch, history]


def build(shared: Shared) -> tuple[Callable[..., Any], list[Any]]:
    """Lay the tab out; returns what fills it when the page is opened, and which components."""
    import gradio as gr

    service, resources = shared.service, shared.service.resources
    with gr.Tab("Rules", id="rules"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=4, min_width=300):
            query = gr.Textbox(
                label="Find a rule",
                placeholder="702.19, trample, or in your own words",
                max_length=_MAX_QUERY,
            )
            edition = gr.Dropdown([CURRENT], value=CURRENT, label="Edition to read")
            found = live_html("found")
            with gr.Accordion("Rules texts", open=False):
                texts = html()
                upload = gr.UploadButton(
                    "Add a rules text",
                    file_types=[".txt", ".md"],
                    type="filepath",
                    size="sm",
                    visible=service.uploads,
                )
                if not service.uploads:
                    html('<p class="quiet">Texts are added on the machine itself.</p>')
                added = html()
        with gr.Column(scale=8, min_width=320):
            page = live_html("page", rule_page.WELCOME)

    def find(text: str, name: str) -> str:
        with gradio_errors():
            book = resources.book.edition(name)
            if not text.strip():
                return render_tree(book)
            return render_results(text, book, service.find_rules(text[:_MAX_QUERY], name))

    def open_rule(name: str, text: str, event: gr.EventData) -> Any:
        wanted = str(event.edition or name)
        with gradio_errors():
            book = resources.book.edition(wanted)
            number = str(event.rule)
            if event.was:  # the same rule there, which may have another number
                number = rule_page.same_rule(number, resources.book.edition(event.was), book)
            rule = rule_page.render_page(number, book)
            listed = gr.skip() if wanted == name else find(text, wanted)
            return gr.Tabs(selected="rules"), wanted, listed, rule

    def editions() -> list[str]:
        return [CURRENT, *resources.book.editions]

    progressing = gr.Progress()

    def add(path: str, name: str, progress: gr.Progress = progressing) -> Any:
        def step(done: int, total: int) -> None:
            progress((done, total), desc="Embedding", unit="passages")

        with gradio_errors():
            parsed = service.add_text(Path(path), step)
            added_text = f"Added the edition {parsed.edition}: {len(parsed.rules)} rules."
            note = f'<p role="status">{escape(added_text)}</p>'
            choices = gr.Dropdown(choices=editions())
            tree = render_tree(resources.book.edition(name))
            return note, render_documents(library.documents()), choices, choices, tree

    def fill(request: gr.Request) -> Any:
        query = dict(request.query_params)
        with gradio_errors():
            name = query.get("edition", "")
            name = name if name in editions() else CURRENT
            book = resources.book.edition(name)
            rule = query.get("rule", "")
            return (
                gr.Tabs(selected="rules")
                if rule
                else gr.skip(),  # who is in another tab stays there
                gr.Dropdown(choices=editions(), value=name),
                gr.Dropdown(choices=editions()),
                render_tree(book),
                rule_page.render_page(rule, book) if rule else rule_page.WELCOME,
                render_documents(library.documents()),
            )

    query.change(find, [query, edition], found, **QUICK)  # 'input' misses what is pasted
    edition.input(find, [query, edition], found, **QUICK)
    edition.input(None, edition, js="(edition) => { stickler.reopen(edition); }")
    shared.hub.open(open_rule, [edition, query], [shared.tabs, edition, found, page], **QUICK)
    upload.upload(
        add, [upload, edition], [added, texts, edition, shared.edition, found],
        **{**EVENT, "show_progress": "full", "show_progress_on": added},
    )  # fmt: skip
    return fill, [shared.tabs, edition, shared.edition, found, page, texts]


def _or_failure(render: Callable[[], str]) -> str:
    """What is fetched into a page that is open; an error becomes a sentence there."""
    try:
        return render()
    except SticklerError as error:
        return f'<p class="failure">{escape(error.sentence(phrase))}</p>'


def render_documents(those: Sequence[Document]) -> str:
    """What is loaded; of a file's place only its name, the rest is the server's business."""
    rows = "".join(
        f"<li>{badge(each.edition)} {escape(_source_name(each))}"
        f"{f' <span class=quiet>added {escape(each.added)}</span>' if each.added else ''}</li>"
        for each in those
    )
    return f'<ul class="documents" aria-label="Rules texts loaded">{rows}</ul>'


def _source_name(document: Document) -> str:
    if document.added is None or "://" in document.source:
        return document.source
    return document.source.replace("\\", "/").rsplit("/", 1)[-1]

"""The tab Rules: the tree, search as you type, a rule's page, and texts that are added."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from index import library
from index.editions import CURRENT
from index.errors import SticklerError
from page import browse
from page.errors import here, told
from page.components import EVENT, QUICK, Shared, html, live_html
from page.service import Service

_LONGEST_QUERY = 200


def fetched(service: Service) -> list[Callable[[list[str]], str]]:
    """What the page's script fetches: a rule to glance at, a branch of the tree, a history."""

    def peek(data: list[str]) -> str:
        return _safely(lambda: browse.peek(data[0], service.book.edition(data[1])))

    def branch(data: list[str]) -> str:
        return _safely(lambda: browse.branch(service.book.edition(data[1]), data[0]))

    def past(data: list[str]) -> str:
        return _safely(lambda: browse.past(data[0], data[1], service.book))

    return [peek, branch, past]


def build(shared: Shared) -> tuple[Callable[..., Any], list[Any]]:
    """Lay the tab out; returns what fills the page when it is opened, and which parts."""
    import gradio as gr

    service = shared.service
    with gr.Tab("Rules", id="rules"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=4, min_width=300):
            query = gr.Textbox(
                label="Find a rule",
                placeholder="702.19, trample, or in your own words",
                max_length=_LONGEST_QUERY,
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
            page = live_html("page", browse.WELCOME)

    def find(words: str, name: str) -> str:
        with told():
            book = service.book.edition(name)
            if not words.strip():
                return browse.tree(book)
            return browse.results(words, book, service.found(words[:_LONGEST_QUERY], name))

    def turn_to(name: str, words: str, event: gr.EventData) -> Any:
        wanted = str(event.edition or name)
        with told():
            book = service.book.edition(wanted)
            number = str(event.rule)
            if event.was:  # the same rule there, which may have another number
                number = browse.same_rule(number, service.book.edition(event.was), book)
            rule = browse.page(number, book)
            listed = gr.skip() if wanted == name else find(words, wanted)
            return gr.Tabs(selected="rules"), wanted, listed, rule

    def editions() -> list[str]:
        return [CURRENT, *service.book.editions]

    progressing = gr.Progress()

    def add(path: str, name: str, progress: gr.Progress = progressing) -> Any:
        def step(done: int, total: int) -> None:
            progress((done, total), desc="Embedding", unit="passages")

        with told():
            parsed = service.add(Path(path), step)
            said = f"Added the edition {parsed.edition}: {len(parsed.rules)} rules."
            note = f'<p role="status">{escape(said)}</p>'
            choices = gr.Dropdown(choices=editions())
            tree = browse.tree(service.book.edition(name))
            return note, browse.documents(library.documents()), choices, choices, tree

    def arrive(request: gr.Request) -> Any:
        asked = dict(request.query_params)
        with told():
            name = asked.get("edition", "")
            name = name if name in editions() else CURRENT
            book = service.book.edition(name)
            rule = asked.get("rule", "")
            return (
                gr.Tabs(selected="rules") if rule else gr.skip(),  # no one is called back
                gr.Dropdown(choices=editions(), value=name),
                gr.Dropdown(choices=editions()),
                browse.tree(book),
                browse.page(rule, book) if rule else browse.WELCOME,
                browse.documents(library.documents()),
            )

    query.change(find, [query, edition], found, **QUICK)  # 'input' misses what is pasted
    edition.input(find, [query, edition], found, **QUICK)
    edition.input(None, edition, js="(edition) => { stickler.reopen(edition); }")
    shared.hub.open(turn_to, [edition, query], [shared.tabs, edition, found, page], **QUICK)
    upload.upload(
        add, [upload, edition], [added, texts, edition, shared.edition, found],
        **{**EVENT, "show_progress": "full", "show_progress_on": added},
    )  # fmt: skip
    return arrive, [shared.tabs, edition, shared.edition, found, page, texts]


def _safely(made: Callable[[], str]) -> str:
    """What is fetched into a page that is open: an error is a sentence there."""
    try:
        return made()
    except SticklerError as error:
        return f'<p class="failure">{escape(here(str(error)))}</p>'

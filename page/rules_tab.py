"""The tab Rules: the tree, search as you type, a rule's page, texts to add, editions to compare."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import library
from index.editions import CURRENT, Rulebook
from index.embedder import Progress
from index.errors import SticklerError
from page import comparison, rule_page, rules_texts
from page.ask_tab import Offer
from page.components import EVENT, QUICK, Shared, html, live_html
from page.errors import gradio_errors, render_error
from page.rule_tree import render_branch, render_results, render_tree
from page.service import Service

if TYPE_CHECKING:
    import gradio as gr

_MAX_QUERY = 200  # characters


def server_functions(service: Service) -> list[Callable[[list[str]], str]]:
    """What the page's script fetches: a peek at a rule, a branch of the tree, a rule's history."""

    def book() -> Rulebook:
        return service.resources.rulebook

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


def build(shared: Shared, offer: Offer) -> "tuple[Callable[..., Any], list[Any], list[gr.HTML]]":
    """Lay out the tab; returns the function that fills it when the page opens, and its outputs.

    The third element is the components that report the result of adding rules.
    """
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
            newest = gr.Button("Get the latest rules", size="sm", visible=service.uploads)
            got = html(elem_id="latest")
            with gr.Accordion("Compare two editions", open=False):
                old = gr.Dropdown([], label="From")
                new = gr.Dropdown([], label="To")
                compare = gr.Button("Compare", size="sm")
            found = live_html("found")
            with gr.Accordion("Rules documents", open=False):
                texts = html()
                upload = gr.UploadButton(
                    "Add a rules document",
                    file_types=[".txt", ".md"],
                    type="filepath",
                    size="sm",
                    visible=service.uploads,
                )
                if not service.uploads:
                    html('<p class="quiet">Documents can only be added on the server itself.</p>')
                added = html()
        with gr.Column(scale=8, min_width=320):
            page = live_html("page", rule_page.WELCOME)

    def find(text: str, name: str) -> str:
        with gradio_errors():
            book = resources.rulebook.edition(name)
            if not text.strip():
                return render_tree(book)
            return render_results(text, book, service.find_rules(text[:_MAX_QUERY], name))

    def open_rule(name: str, text: str, event: gr.EventData) -> Any:
        wanted = str(event.edition or name)
        with gradio_errors():
            book = resources.rulebook.edition(wanted)
            number = str(event.rule)
            if event.was:  # the same rule there, which may have another number
                number = rule_page.same_rule(number, resources.rulebook.edition(event.was), book)
            rule = rule_page.render_page(number, book)
            listed = gr.skip() if wanted == name else find(text, wanted)
            return gr.Tabs(selected="rules"), wanted, listed, rule

    def editions() -> list[str]:
        return [CURRENT, *resources.rulebook.editions]

    def show_loaded(name: str) -> dict[Any, Any]:
        """Everything that tells which rules are loaded, with an edition chosen to be read."""
        book = resources.rulebook
        first, second = comparison.editions_to_compare(book)
        return {
            texts: rules_texts.render_documents(library.documents()),
            edition: gr.Dropdown(choices=editions(), value=name),
            shared.edition: gr.Dropdown(choices=editions()),
            old: gr.Dropdown(choices=list(book.editions), value=first),
            new: gr.Dropdown(choices=list(book.editions), value=second),
            found: render_tree(book.edition(name)),
        }

    def show_offer() -> dict[Any, Any]:
        wanted = service.uploads and rules_texts.only_excerpts(resources.rulebook)
        return {offer.note: "", offer.button: gr.Button(visible=wanted)}

    progressing = gr.Progress()

    def add(path: str, name: str, progress: gr.Progress = progressing) -> dict[Any, Any]:
        with gradio_errors():
            parsed = service.add_text(Path(path), _embedding(progress))
            added_text = f"Added the edition {parsed.edition}: {len(parsed.rules)} rules."
            note = f'<p role="status">{escape(added_text)}</p>'
            return {added: note, **show_offer(), **show_loaded(name)}

    def get_latest(name: str, progress: gr.Progress) -> tuple[str, dict[Any, Any]]:
        """The result in words, and what it changed on the page."""
        progress(0, desc="Waiting for search to be loaded")
        try:
            result = service.get_latest(lambda step: progress(0, desc=step), _embedding(progress))
        except SticklerError as error:
            return render_error(error), {}
        return rules_texts.render_latest(result), show_loaded(name)

    def get_here(name: str, progress: gr.Progress = progressing) -> dict[Any, Any]:
        note, changes = get_latest(name, progress)
        return {got: note, **(show_offer() if changes else {}), **changes}

    def get_from_offer(name: str, progress: gr.Progress = progressing) -> dict[Any, Any]:
        note, changes = get_latest(name, progress)
        return {offer.note: note, offer.button: gr.Button(visible=not changes), **changes}

    def show_comparison(first: str, second: str) -> str:
        return comparison.render_comparison(resources.rulebook, first, second)

    def fill(request: gr.Request) -> dict[Any, Any]:
        query = dict(request.query_params)
        with gradio_errors():
            name = query.get("edition", "")
            name = name if name in editions() else CURRENT
            rule = query.get("rule", "")
            changes = {page: rule_page.WELCOME, **show_offer(), **show_loaded(name)}
            if rule:  # otherwise visitors stay in the tab they are in
                changes[shared.tabs] = gr.Tabs(selected="rules")
                changes[page] = rule_page.render_page(rule, resources.rulebook.edition(name))
            return changes

    query.change(find, [query, edition], found, **QUICK)  # 'input' misses what is pasted
    edition.input(find, [query, edition], found, **QUICK)
    edition.input(None, edition, js="(edition) => { stickler.reopen(edition); }")
    shared.hub.open(open_rule, [edition, query], [shared.tabs, edition, found, page], **QUICK)
    changing = [texts, edition, shared.edition, old, new, found, *offer]
    upload.upload(add, [upload, edition], [added, *changing], **_shown_on(added))
    newest.click(get_here, edition, [got, *changing], **_shown_on(got))
    offer.button.click(get_from_offer, edition, changing, **_shown_on(offer.note))
    compare.click(show_comparison, [old, new], page, **_shown_on(page))
    return fill, [*changing, shared.tabs, page], [added, got, offer.note]


def _shown_on(component: Any) -> Any:
    """The options of an event that takes long: its progress is shown on a component."""
    return {**EVENT, "show_progress": "full", "show_progress_on": component}


def _embedding(progress: "gr.Progress") -> Progress:
    """What hears how many passages are embedded."""

    def step(done: int, total: int) -> None:
        progress((done, total), desc="Embedding", unit="passages")

    return step


def _or_failure(render: Callable[[], str]) -> str:
    """What is fetched into a page that is open; an error becomes a sentence there."""
    try:
        return render()
    except SticklerError as error:
        return render_error(error)

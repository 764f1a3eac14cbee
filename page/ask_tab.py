"""The tab Ask: a conversation, and beside it the evidence of each answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from index.editions import CURRENT
from index.errors import SticklerError
from index.searcher import LONGEST_QUESTION
from page import answer_link, cards, transcript
from page.answer_link import LinkedRule
from page.ask_stream import ask_stream
from page.cards import render_evidence
from page.components import EVENT, QUICK, Shared, html, live_html
from page.conversation import HISTORY, render_conversation
from page.errors import gradio_errors
from page.remedies import phrase
from page.transcript import Turn

if TYPE_CHECKING:
    import gradio as gr

AT_ONCE = 60  # questions accepted at once; the service decides whose turn it is


class Offer(NamedTuple):
    """The button that gets the full rules if only excerpts are loaded, and its status message."""

    note: "gr.HTML"
    button: "gr.Button"


class AskTab(NamedTuple):
    """What the rest of the page needs of the tab."""

    offer: Offer  # of the whole rules, which the tab Rules fills
    open_link: Callable[..., Any]  # opens a link to an answer
    given: list[Any]  # its inputs
    shown: list[Any]  # its outputs


def build(shared: Shared) -> AskTab:
    """Lay the tab out."""
    import gradio as gr

    service = shared.service
    with gr.Tab("Ask", id="ask"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=6, min_width=320):
            turns = gr.State([])
            with gr.Row(elem_classes="offering"):
                offer = Offer(
                    html(elem_id="offer"),
                    gr.Button("Get the full rules", size="sm", min_width=160, visible=False),
                )
            events = ("starter", "cite", "vote", "resume")
            conversation = live_html("conversation", render_conversation([]), events)
            with gr.Row(elem_classes="asking"):
                question = gr.Textbox(
                    label="Question",
                    placeholder="Ask a question or name a rule",
                    lines=1,
                    max_lines=6,
                    max_length=LONGEST_QUESTION,
                    scale=8,
                )
                send = gr.Button("Ask", variant="primary", scale=1, min_width=88)
                stop = gr.Button("Stop", variant="stop", scale=1, min_width=88, visible=False)
            with gr.Row(elem_classes="keeping"):
                fresh = gr.Button("New conversation", size="sm", min_width=100)
                markdown = gr.Button("Save as Markdown", size="sm", min_width=100)
                as_json = gr.Button("Save as JSON", size="sm", min_width=100)
            live_html("past", HISTORY)
            saved = gr.Textbox(visible="hidden", label="Saved conversation")
        with gr.Column(scale=7, min_width=320):
            evidence = live_html("evidence", cards.EMPTY)

    def answer(
        asked: str, so_far: list[Turn], chosen: tuple[Any, ...], session: str,
        cites: Sequence[LinkedRule] = (),
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        if not asked.strip():
            yield {question: gr.skip()}
            return
        yield {question: "", send: gr.Button(visible=False), stop: gr.Button(visible=True)}
        shown: object = None
        try:
            settings = service.settings_for(*chosen)
            book = service.resources.rulebook.edition(settings.edition)
            changed = answer_link.changed(cites, book)
            for now in ask_stream(service, asked, so_far, settings, session, changed):
                changes: dict[Any, Any] = {turns: now, conversation: render_conversation(now)}
                found = now[-1].answer
                if found is not None and found is not shown:
                    shown = found
                    changes[evidence] = render_evidence(found, book, len(now) - 1)
                yield changes
        except SticklerError as error:
            now = [*so_far, Turn(asked, failure=error.sentence(phrase))]
            yield {turns: now, conversation: render_conversation(now)}
        yield {send: gr.Button(visible=True), stop: gr.Button(visible=False)}

    def choose_edition(name: str) -> Iterator[dict[Any, Any]]:
        """Select the edition for the following questions too."""
        editions = [CURRENT, *service.resources.rulebook.editions]
        if name in editions:
            yield {shared.edition: gr.Dropdown(choices=editions, value=name)}

    def ask(
        asked: str, so_far: list[Turn], model: str, edition: str, max_citations: int,
        show_generated: bool, request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        chosen = (model, edition, max_citations, show_generated)
        yield from answer(asked, so_far, chosen, str(request.session_hash))

    def ask_starter(
        so_far: list[Turn], model: str, edition: str, max_citations: int, show_generated: bool,
        request: gr.Request, event: gr.EventData,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        chosen = (model, edition, max_citations, show_generated)
        yield from answer(str(event.question), so_far, chosen, str(request.session_hash))

    def resume(
        model: str, edition: str, max_citations: int, show_generated: bool,
        request: gr.Request, event: gr.EventData,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        now: list[Turn] = []
        with gradio_errors():
            kept = transcript.questions_to_resume(event.asked)
        for asked, own in kept:
            yield from choose_edition(own)
            chosen = (model, own or edition, max_citations, show_generated)
            for changes in answer(asked, now, chosen, str(request.session_hash)):
                now = changes.get(turns, now)
                yield changes
            if now and now[-1].stopped:
                return

    def open_link(
        so_far: list[Turn], model: str, edition: str, max_citations: int, show_generated: bool,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        given = dict(request.query_params)
        link = answer_link.read(
            given.get("ask", ""), given.get("edition") or edition, given.get("cites", "")
        )
        if link.question.strip():
            yield from choose_edition(link.edition)
        chosen = (model, link.edition, max_citations, show_generated)
        yield from answer(link.question, so_far, chosen, str(request.session_hash), link.cites)

    def show_evidence(now: list[Turn], event: gr.EventData) -> str:
        place = int(event.turn)
        with gradio_errors():
            found = transcript.answer_at(now, place)
            return render_evidence(found, service.resources.rulebook.edition(found.edition), place)

    def vote(now: list[Turn], event: gr.EventData) -> tuple[list[Turn], str]:
        with gradio_errors():
            now = transcript.vote(now, int(event.turn), str(event.vote), str(event.comment))
            return now, render_conversation(now)

    def halt(request: gr.Request) -> None:
        service.stop(str(request.session_hash))

    inputs = [turns, *shared.settings]
    outputs = [question, turns, conversation, evidence, send, stop]
    options: Any = {**EVENT, "concurrency_limit": AT_ONCE}
    gr.on([question.submit, send.click], ask, [question, *inputs], outputs, **options)
    conversation.starter(ask_starter, inputs, outputs, **options)
    with_edition = [*outputs, shared.edition]
    conversation.resume(resume, shared.settings, with_edition, **options)
    conversation.cite(show_evidence, turns, evidence, **QUICK)
    conversation.vote(vote, turns, [turns, conversation], **QUICK)
    stop.click(halt, **QUICK)
    fresh.click(
        lambda: ([], render_conversation([]), cards.EMPTY),
        outputs=[turns, conversation, evidence],
        **QUICK,
    )
    for button, export, name in (
        (markdown, transcript.as_markdown, "stickler.md"),
        (as_json, transcript.as_json, "stickler.json"),
    ):
        button.click(export, turns, saved, **QUICK).then(
            None, saved, js=f"(text) => {{ stickler.save('{name}', text); }}"
        )
    return AskTab(offer, open_link, inputs, with_edition)

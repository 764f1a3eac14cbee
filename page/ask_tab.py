"""The tab Ask: a conversation, and beside it the evidence of each answer."""

from collections.abc import Iterator
from typing import Any

from index.errors import SticklerError
from index.searcher import LONGEST_QUESTION
from page import asking, cards, transcript, conversation
from page.errors import here, told
from page.components import EVENT, QUICK, Shared, live_html
from page.transcript import Turn

_AT_ONCE = 60  # questions that are taken in; whose turn it is, the service decides


def build(shared: Shared) -> None:
    import gradio as gr

    service = shared.service
    with gr.Tab("Ask", id="ask"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=6, min_width=320):
            turns = gr.State([])
            events = ("starter", "cite", "vote")
            conversation = live_html("talk", conversation.conversation([]), events)
            with gr.Row(elem_classes="asking"):
                question = gr.Textbox(
                    label="Question",
                    placeholder="Ask, or name a rule",
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
            saved = gr.Textbox(visible="hidden", label="Saved conversation")
        with gr.Column(scale=7, min_width=320):
            evidence = live_html("evidence", cards.EMPTY)

    def answer(
        asked: str, so_far: list[Turn], chosen: tuple[Any, ...], session: str
    ) -> Iterator[dict[Any, Any]]:
        if not asked.strip():
            yield {question: gr.skip()}
            return
        yield {question: "", send: gr.Button(visible=False), stop: gr.Button(visible=True)}
        shown: object = None
        try:
            settings = service.settings(*chosen)
            book = service.book.edition(settings.edition)
            for now in asking.ask(service, asked, so_far, settings, session):
                changes: dict[Any, Any] = {turns: now, conversation: conversation.conversation(now)}
                found = now[-1].answer
                if found is not None and found is not shown:
                    shown = found
                    changes[evidence] = cards.evidence(found, book, len(now) - 1)
                yield changes
        except SticklerError as error:
            now = [*so_far, Turn(asked, failure=here(str(error)))]
            yield {turns: now, conversation: conversation.conversation(now)}
        yield {send: gr.Button(visible=True), stop: gr.Button(visible=False)}

    def ask(
        asked: str, so_far: list[Turn], model: str, edition: str, cited: int, words: bool,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        chosen = (model, edition, cited, words)
        yield from answer(asked, so_far, chosen, str(request.session_hash))

    def start(
        so_far: list[Turn], model: str, edition: str, cited: int, words: bool,
        request: gr.Request, event: gr.EventData,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        chosen = (model, edition, cited, words)
        yield from answer(str(event.question), so_far, chosen, str(request.session_hash))

    def show(now: list[Turn], event: gr.EventData) -> str:
        place = int(event.turn)
        with told():
            found = transcript.answer_at(now, place)
            return cards.evidence(found, service.book.edition(found.edition), place)

    def vote(now: list[Turn], event: gr.EventData) -> tuple[list[Turn], str]:
        with told():
            now = transcript.voted(now, int(event.turn), str(event.vote), str(event.comment))
            return now, conversation.conversation(now)

    def halt(request: gr.Request) -> None:
        service.stop(str(request.session_hash))

    chosen = [turns, *shared.chosen]
    changed = [question, turns, conversation, evidence, send, stop]
    asked: Any = {**EVENT, "concurrency_limit": _AT_ONCE}
    gr.on([question.submit, send.click], ask, [question, *chosen], changed, **asked)
    conversation.starter(start, chosen, changed, **asked)
    conversation.cite(show, turns, evidence, **QUICK)
    conversation.vote(vote, turns, [turns, conversation], **QUICK)
    stop.click(halt, **QUICK)
    fresh.click(
        lambda: ([], conversation.conversation([]), cards.EMPTY),
        outputs=[turns, conversation, evidence],
        **QUICK,
    )
    for button, written, name in (
        (markdown, record.as_markdown, "stickler.md"),
        (as_json, record.as_json, "stickler.json"),
    ):
        button.click(written, turns, saved, **QUICK).then(
            None, saved, js=f"(text) => {{ stickler.save('{name}', text); }}"
        )

"""The tab Evaluate: a set of questions with known answers asked, and what came of it."""

from collections.abc import Callable, Iterator
from typing import Any

from eval.run import Run
from index.errors import SticklerError
from page import evaluating, preview, run_report
from page.errors import told
from page.components import EVENT, QUICK, Shared, html, live_html
from page.background_jobs import Stopped

NAME = "evaluate"  # what is stopped here, apart from questions
_USUAL = "dev"


def key(session: str) -> str:
    """Under which name a visitor's evaluation can be stopped."""
    return f"{session}/{NAME}"


def build(shared: Shared) -> tuple[Callable[[], Any], list[Any]]:
    """Lay the tab out; returns what fills its lists when the page is opened, and which parts."""
    import gradio as gr

    service = shared.service
    evaluations = evaluating.Evaluations(service)
    with gr.Tab("Evaluate", id="evaluate"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=5, min_width=300):
            with gr.Column(visible=service.uploads):
                chosen = gr.Dropdown(evaluating.sets(), value=_USUAL, label="Set of questions")
                count = gr.Slider(
                    evaluating.LEAST,
                    evaluating.MOST,
                    value=evaluating.USUAL,
                    step=5,
                    label="Items to ask",
                )
                with gr.Row(elem_classes="asking"):
                    go = gr.Button("Run", variant="primary")
                    stop = gr.Button("Cancel", variant="stop", visible=False)
                far = html(elem_id="evaluate-far")
            if not service.uploads:
                html('<p class="quiet">Runs are started on the machine itself.</p>')
            runs = gr.Dropdown([], label="Earlier runs", value=None)
        with gr.Column(scale=8, min_width=320):
            report = live_html("evaluate", run_report.WELCOME)

    def run(
        name: str, items: int, model: str, edition: str, cited: int, words: bool,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        yield {
            go: gr.Button(visible=False),
            stop: gr.Button(visible=True, interactive=True),
            far: preview.bar(0, 0, "Starting …"),
        }
        changes: dict[Any, Any] = {}
        ran: Run | None = None
        try:
            settings = service.settings(model, edition, cited, words)
            with service.stoppable(key(str(request.session_hash))) as event:
                for now in evaluations.evaluate(name, int(items), settings, event):
                    yield {far: preview.bar(now.done, now.total, now.words)}
                    ran = now.result
            assert ran is not None
            changes = {
                far: f'<p role="status">Done: {len(ran.lines)} items.</p>',
                report: run_report.shown(ran, service.book),
                runs: gr.Dropdown(choices=evaluating.listed(), value=ran.folder.name),
            }
        except Stopped as end:
            kept = f"Stopped: {end.done} of {end.total} items are asked, and kept in Earlier runs."
            said = kept if end.done else "Stopped before the first item."
            changes = {
                far: f'<p role="status">{said}</p>',
                runs: gr.Dropdown(choices=evaluating.listed()),
            }
        except SticklerError as error:
            changes = {far: preview.failure(str(error))}
        yield changes | {go: gr.Button(visible=True), stop: gr.Button(visible=False)}

    def open_again(name: str | None) -> Any:
        with told():
            if name is None:
                return run_report.WELCOME
            return run_report.shown(evaluating.opened(name), service.book)

    def halt(request: gr.Request) -> Any:
        service.stop(key(str(request.session_hash)))
        return gr.Button(interactive=False)

    def arrive() -> Any:
        return gr.Dropdown(choices=evaluating.sets()), gr.Dropdown(choices=evaluating.listed())

    go.click(
        run, [chosen, count, *shared.chosen], [go, stop, far, report, runs],
        **{**EVENT, "concurrency_limit": 4},
    )  # fmt: skip
    stop.click(halt, outputs=stop, **QUICK)
    runs.input(open_again, runs, report, **QUICK)
    return arrive, [chosen, runs]

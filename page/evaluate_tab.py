"""The Evaluate tab: runs a set of questions with known answers and shows the results."""

from collections.abc import Callable, Iterator
from typing import Any

from eval.run import Run
from index.errors import SticklerError
from page import evaluation_jobs, preview
from page.background_jobs import Stopped
from page.components import EVENT, QUICK, Shared, html, live_html
from page.errors import gradio_errors, render_error
from page.run_report import render_published, render_run

_DEFAULT_SET = "dev"


def stop_key(session: str) -> str:
    """Under which name a visitor's evaluation is stopped, apart from questions."""
    return f"{session}/evaluate"


def build(shared: Shared) -> tuple[Callable[[], Any], list[Any]]:
    """Lay the tab out; returns what fills it when the page opens, and which parts that are."""
    import gradio as gr

    service = shared.service
    evaluations = evaluation_jobs.Evaluations(service)
    with gr.Tab("Evaluate", id="evaluate"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=5, min_width=300):
            with gr.Column(visible=service.uploads):
                chosen = gr.Dropdown(
                    evaluation_jobs.list_sets(), value=_DEFAULT_SET, label="Set of questions"
                )
                count = gr.Slider(
                    evaluation_jobs.MIN_ITEMS,
                    evaluation_jobs.MAX_ITEMS,
                    value=evaluation_jobs.DEFAULT_ITEMS,
                    step=5,
                    label="Items to ask",
                )
                with gr.Row(elem_classes="asking"):
                    go = gr.Button("Run", variant="primary")
                    stop = gr.Button("Cancel", variant="stop", visible=False)
                progress = html(elem_id="evaluate-progress")
            if not service.uploads:
                html('<p class="quiet">Runs can only be started on the server itself.</p>')
            runs = gr.Dropdown([], label="Earlier runs", value=None)
        with gr.Column(scale=8, min_width=320):
            report = live_html("evaluate")

    def run(
        name: str, items: int, model: str, edition: str, max_citations: int, show_generated: bool,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        yield {
            go: gr.Button(visible=False),
            stop: gr.Button(visible=True, interactive=True),
            progress: preview.render_progress(0, 0, "Starting …"),
        }
        changes: dict[Any, Any] = {}
        result: Run | None = None
        try:
            settings = service.settings_for(model, edition, max_citations, show_generated)
            with service.stop_event(stop_key(str(request.session_hash))) as event:
                for now in evaluations.run(name, int(items), settings, event):
                    yield {progress: preview.render_progress(now.done, now.total, now.message)}
                    result = now.result
            assert result is not None
            changes = {
                progress: preview.render_status(f"Done: {len(result.records)} items."),
                report: render_run(result, service.resources.rulebook),
                runs: gr.Dropdown(choices=evaluation_jobs.list_runs(), value=result.folder.name),
            }
        except Stopped as end:
            kept = f"Stopped after {end.done} of {end.total} items; see Earlier runs."
            text = kept if end.done else "Stopped before the first item."
            changes = {
                progress: preview.render_status(text),
                runs: gr.Dropdown(choices=evaluation_jobs.list_runs()),
            }
        except SticklerError as error:
            changes = {progress: render_error(error)}
        yield changes | {go: gr.Button(visible=True), stop: gr.Button(visible=False)}

    def open_again(name: str | None) -> Any:
        with gradio_errors():
            if name is None:
                return render_published(service.resources.rulebook)
            run = evaluation_jobs.open_listed_run(name)
            return render_run(run, service.resources.rulebook)

    def halt(request: gr.Request) -> Any:
        service.stop(stop_key(str(request.session_hash)))
        return gr.Button(interactive=False)

    def fill() -> Any:
        return (
            gr.Dropdown(choices=evaluation_jobs.list_sets()),
            gr.Dropdown(choices=evaluation_jobs.list_runs()),
            render_published(service.resources.rulebook),
        )

    go.click(
        run,
        [chosen, count, *shared.settings],
        [go, stop, progress, report, runs],
        **{**EVENT, "concurrency_limit": 4},
    )
    stop.click(halt, outputs=stop, **QUICK)
    runs.input(open_again, runs, report, **QUICK)
    return fill, [chosen, runs, report]

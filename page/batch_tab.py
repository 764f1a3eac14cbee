"""The tab Batch: a file of questions in, a file of answers out; it can be stopped and resumed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from index.errors import SticklerError
from page import batch_jobs, preview
from page.background_jobs import Stopped
from page.components import EVENT, QUICK, Shared, html, live_html
from page.errors import render_error
from page.folders import Folders
from qa.batch.tables import INPUTS

_AT_ONCE = 6  # files of all visitors together
_GO = "Answer the questions"


def stop_key(session: str) -> str:
    """Under which name a visitor's batch is stopped, apart from questions."""
    return f"{session}/batch"


def build(shared: Shared, folders: Folders) -> None:
    """Lay the tab out."""
    import gradio as gr

    service = shared.service
    with gr.Tab("Batch", id="batch"), gr.Row(elem_classes="sides"):
        with gr.Column(scale=5, min_width=300):
            found_column = gr.State(None)
            file = gr.File(
                label="Question file, up to 5 MB",
                file_types=list(INPUTS),
                type="filepath",
                height=150,
                elem_id="batch-file",
            )
            summary = html(elem_id="batch-summary")
            column = gr.Dropdown([], label="Column with the questions", visible=False)
            kind = gr.Radio(list(batch_jobs.FORMATS), value="CSV", label="Write the answers as")
            with gr.Row(elem_classes="asking"):
                go = gr.Button(_GO, variant="primary", interactive=False)
                stop = gr.Button("Cancel", variant="stop", visible=False)
            progress = html(elem_id="batch-progress")
            save = gr.DownloadButton("Download the answers", variant="primary", visible=False)
        with gr.Column(scale=8, min_width=320):
            first_answers = live_html("batch", preview.WELCOME)

    def inspect(path: str | None) -> dict[Any, Any]:
        cleared: dict[Any, Any] = {
            summary: "",
            progress: "",
            first_answers: preview.WELCOME,
            save: gr.DownloadButton(visible=False),
            found_column: None,
            column: gr.Dropdown(choices=[], value=None, visible=False),
            go: gr.Button(_GO, interactive=False),
        }
        if path is None:
            return cleared
        try:
            found = batch_jobs.inspect_file(Path(path))
        except SticklerError as error:
            return cleared | {summary: render_error(error)}
        text = "1 question." if found.rows == 1 else f"{found.rows} questions."
        if found.column is None:
            text += " Choose the column that holds them."
        several = len(found.columns) > 1
        return cleared | {
            summary: preview.render_status(text),
            found_column: found.column,
            column: gr.Dropdown(choices=found.columns, value=found.column, visible=several),
            go: gr.Button(interactive=found.column is not None),
        }

    def answer(
        path: str | None, chosen: str | None, found: str | None, format: str, model: str,
        edition: str, max_citations: int, show_generated: bool, request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        session = str(request.session_hash)
        yield {
            go: gr.Button(visible=False),
            stop: gr.Button(visible=True, interactive=True),
            save: gr.DownloadButton(visible=False),
            progress: preview.render_progress(0, 0, "Starting …"),
        }
        changes: dict[Any, Any] = {}
        name = _GO
        try:
            if path is None:
                raise SticklerError("No file has been chosen: choose one.")
            settings = service.settings_for(model, edition, max_citations, show_generated)
            book = service.resources.rulebook.edition(settings.edition)
            ending = batch_jobs.FORMATS[format]
            named = None if chosen == found else chosen  # what was found is found again
            shown = 0
            result: batch_jobs.BatchResult | None = None
            with service.stop_event(stop_key(session)) as event, folders.used(session) as folder:
                engine = batch_jobs.QueuedEngine(service, settings, event)
                for now in batch_jobs.answer_file(engine, Path(path), named, ending, folder):
                    changes = {progress: preview.render_progress(now.done, now.total, now.message)}
                    if shown < min(batch_jobs.PREVIEWED, now.total):
                        outcomes = batch_jobs.read_first_answers(engine.journal)
                        if len(outcomes) > shown:
                            shown = len(outcomes)
                            changes[first_answers] = preview.render_preview(
                                outcomes, now.total, book
                            )
                    yield changes
                    result = now.result
            assert result is not None
            out = result.out
            changes = {
                progress: preview.render_counts(result.counts),
                save: gr.DownloadButton(f"Download {out.name}", str(out), visible=True),
            }
        except Stopped as end:
            name = "Resume"
            text = f"Stopped: {end.done} of {end.total} answered; the answers are kept."
            changes = {progress: preview.render_status(text)}
        except SticklerError as error:
            changes = {progress: render_error(error)}
        yield changes | {go: gr.Button(name, visible=True), stop: gr.Button(visible=False)}

    def halt(request: gr.Request) -> Any:
        service.stop(stop_key(str(request.session_hash)))
        return gr.Button(interactive=False)

    changed = [summary, progress, first_answers, save, found_column, column, go]
    file.change(inspect, file, changed, **QUICK)
    column.input(lambda name: gr.Button(interactive=name is not None), column, go, **QUICK)
    kind.input(lambda: gr.DownloadButton(visible=False), outputs=save, **QUICK)
    go.click(
        answer,
        [file, column, found_column, kind, *shared.settings],
        [go, stop, save, progress, first_answers],
        **{**EVENT, "concurrency_limit": _AT_ONCE},
    )
    stop.click(halt, outputs=stop, **QUICK)

"""The tab Batch: a file of questions in, a file of answers out, stopped and gone on with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from index.errors import SticklerError
from page import batching, preview
from page.folders import Folders
from page.components import EVENT, QUICK, Shared, html, live_html
from page.background_jobs import Stopped
from qa.batch.tables import INPUTS

_AT_ONCE = 6  # files of all visitors together
NAME = "batch"  # what is stopped here, apart from questions


def key(session: str) -> str:
    """Under which name a visitor's batch can be stopped."""
    return f"{session}/{NAME}"


def build(shared: Shared, folders: Folders) -> None:
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
            told = html(elem_id="batch-told")
            column = gr.Dropdown([], label="Column with the questions", visible=False)
            kind = gr.Radio(list(batching.FORMATS), value="CSV", label="Write the answers as")
            with gr.Row(elem_classes="asking"):
                go = gr.Button("Answer the questions", variant="primary", interactive=False)
                stop = gr.Button("Cancel", variant="stop", visible=False)
            far = html(elem_id="batch-far")
            save = gr.DownloadButton("Download the answers", variant="primary", visible=False)
        with gr.Column(scale=8, min_width=320):
            first = live_html("batch", preview.WELCOME)

    def look(path: str | None) -> dict[Any, Any]:
        fresh: dict[Any, Any] = {
            told: "",
            far: "",
            first: preview.WELCOME,
            save: gr.DownloadButton(visible=False),
            found_column: None,
            column: gr.Dropdown(choices=[], value=None, visible=False),
            go: gr.Button("Answer the questions", interactive=False),
        }
        if path is None:
            return fresh
        try:
            found = batching.look(Path(path))
        except SticklerError as error:
            return fresh | {told: preview.failure(str(error))}
        rows = "1 question" if found.rows == 1 else f"{found.rows} questions"
        words = f'<p role="status">{rows}.'
        if found.column is None:
            words += " Choose the column that holds them."
        several = len(found.columns) > 1
        return fresh | {
            told: f"{words}</p>",
            found_column: found.column,
            column: gr.Dropdown(choices=found.columns, value=found.column, visible=several),
            go: gr.Button(interactive=found.column is not None),
        }

    def answer(
        path: str | None, chosen: str | None, own: str | None, written: str,
        model: str, edition: str, cited: int, words: bool, request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        session = str(request.session_hash)
        yield {
            go: gr.Button(visible=False),
            stop: gr.Button(visible=True, interactive=True),
            save: gr.DownloadButton(visible=False),
            far: preview.bar(0, 0, "Starting …"),
        }
        changes: dict[Any, Any] = {}
        name = "Answer the questions"
        try:
            if path is None:
                raise SticklerError("There is no file yet: choose one.")
            settings = service.settings(model, edition, cited, words)
            book = service.book.edition(settings.edition)
            ending = batching.FORMATS[written]
            named = None if chosen == own else chosen  # what was found is found again
            shown = 0
            result: batching.Written | None = None
            with service.stoppable(key(session)) as event, folders.used(session) as folder:
                engine = batching.QueuedEngine(service, settings, event)
                for now in batching.answer(engine, Path(path), named, ending, folder):
                    changes = {far: preview.bar(now.done, now.total, now.words)}
                    if shown < min(batching.SHOWN, now.total):
                        firsts = batching.first_answers(engine.journal)
                        if len(firsts) > shown:
                            shown = len(firsts)
                            changes[first] = preview.preview(firsts, now.total, book)
                    yield changes
                    result = now.result
            assert result is not None
            out = result.out
            changes = {
                far: preview.ended(result.counts),
                save: gr.DownloadButton(f"Download {out.name}", str(out), visible=True),
            }
        except Stopped as end:
            name = "Go on"
            said = f"Stopped: {end.done} of {end.total} are answered, and kept."
            changes = {far: f'<p role="status">{said}</p>'}
        except SticklerError as error:
            changes = {far: preview.failure(str(error))}
        yield changes | {go: gr.Button(name, visible=True), stop: gr.Button(visible=False)}

    def halt(request: gr.Request) -> Any:
        service.stop(key(str(request.session_hash)))
        return gr.Button(interactive=False)

    file.change(look, file, [told, far, first, save, found_column, column, go], **QUICK)
    column.input(lambda name: gr.Button(interactive=name is not None), column, go, **QUICK)
    kind.input(lambda: gr.DownloadButton(visible=False), outputs=save, **QUICK)
    go.click(
        answer, [file, column, found_column, kind, *shared.chosen], [go, stop, save, far, first],
        **{**EVENT, "concurrency_limit": _AT_ONCE},
    )  # fmt: skip
    stop.click(halt, outputs=stop, **QUICK)

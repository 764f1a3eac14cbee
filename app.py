"""The web page: its frame, its settings, and how it is served. The tabs are in `page/`.

Run as: python app.py (or: stickler serve --port 8000)
"""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index.editions import CURRENT
from index.errors import SticklerError
from page import ask_tab, batch_tab, endpoints, evaluate_tab, rules_tab, conversation
from page.folders import Folders
from page.middleware import LARGEST_UPLOAD, RequestFilter, is_loopback, password_check
from page.components import EVENT, FILES, QUICK, Shared, live_html, text_of
from page.service import LEAST_CITED, MOST_CITED, Service
from qa.models import DEFAULT, NONE
from qa.settings import Settings

if TYPE_CHECKING:
    import gradio as gr

LOOPBACK = "127.0.0.1"
_SYSTEM = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Consolas", "monospace"]
_MOST_WAITING = 120  # events in the queue; the service turns questions away long before
_MOST_SESSIONS = 300  # whose conversations are remembered


def build(service: Service | None = None) -> "gr.Blocks":
    """The page around a service; nothing is loaded yet."""
    _keep_quiet()
    import gradio as gr

    service = service or Service()
    folders = Folders()
    demo: gr.Blocks
    with gr.Blocks(title="Stickler", analytics_enabled=False, delete_cache=(3600, 3600)) as demo:
        endpoints.declare(service)  # first, so that no event of the page takes their names
        timer = gr.Timer(0.7)
        with gr.Row(elem_classes="top"):
            fetched = rules_tab.fetched(service)
            hub = live_html("hub", conversation.BRAND, ("open",), server_functions=fetched)
            with gr.Accordion("Settings", open=False, elem_classes="settings"):
                settings = _settings(service)
        with gr.Tabs() as tabs:
            shared = Shared(service, hub, tabs, *settings)
            ask_tab.build(shared)
            arrive, parts = rules_tab.build(shared)
            batch_tab.build(shared, folders)
            runs, lists = evaluate_tab.build(shared)
        _watch(shared, timer)
        demo.load(arrive, outputs=parts, **EVENT)
        demo.load(runs, outputs=lists, **EVENT)
        _free_on_leaving(demo, service, folders)
    return demo


def _settings(service: Service) -> "tuple[gr.Dropdown, gr.Checkbox, gr.Dropdown, gr.Slider]":
    import gradio as gr

    own = service.defaults
    model = gr.Dropdown(
        service.model_names,
        value=own.model,
        label="Language model",
        allow_custom_value=service.any_model,
        info="Also a folder, a .gguf or .safetensors file, a hub's id or NAME@http://HOST/v1."
        if service.any_model
        else None,
    )
    words = gr.Checkbox(
        own.speaks,
        label="Show the model's own sentences",
        info="Those that a rule supports. The embedded model is too small to be trusted.",
    )
    edition = gr.Dropdown([own.edition], value=own.edition, label="Edition to answer from")
    cited = gr.Slider(
        LEAST_CITED, MOST_CITED, value=own.max_citations, step=1, label="Rules to cite, about"
    )
    model.input(lambda name: name not in (DEFAULT, NONE), model, words, **QUICK)
    return model, words, edition, cited


def _watch(shared: Shared, timer: "gr.Timer") -> None:
    """Say what is loading until it is there, and which model and edition answer."""
    import gradio as gr

    service = shared.service

    def look(model: str, edition: str, words: bool) -> "tuple[str, gr.Timer]":
        state = service.state
        newest = next(iter(service.book.editions))
        shown = conversation.status(state, model, edition or CURRENT, words, newest)
        return shown, gr.Timer(active=not (state.ready or state.failed))

    chosen = [shared.model, shared.edition, shared.words]
    timer.tick(look, chosen, [shared.hub, timer], **QUICK)
    changes = [shared.model.change, shared.edition.change, shared.words.change]
    gr.on(changes, look, chosen, [shared.hub, timer], **QUICK)


def _free_on_leaving(demo: "gr.Blocks", service: Service, folders: Folders) -> None:
    import gradio as gr

    def leave(request: gr.Request) -> None:
        session = str(request.session_hash)
        for work in (session, batch_tab.key(session), evaluate_tab.key(session)):
            service.stop(work)
        folders.leave(session)

    demo.unload(leave)


def _keep_quiet() -> None:
    """No calls home, and a folder for uploads that is nobody else's; Gradio reads these early."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = "1000000000"  # a summary that nobody reads
    os.environ["GRADIO_ANALYTICS_MAX_EVENTS"] = "100"
    own = _uploads()
    os.environ["GRADIO_TEMP_DIR"] = str(own)
    os.environ["GRADIO_EXAMPLES_CACHE"] = str(own / "examples")


@cache
def _uploads() -> Path:
    """One folder for all pages of this process: Gradio looks where it is each time anew."""
    own = Path(tempfile.mkdtemp(prefix="stickler-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def launch(
    service: Service, host: str = LOOPBACK, port: int | None = None, auth: str | None = None,
    open_browser: bool = False, wait: bool = True,
) -> "gr.Blocks":  # fmt: skip
    """Serve the page; `wait` holds until it is ended."""
    check = password_check(auth)
    demo = build(service)
    import gradio as gr
    from starlette.middleware import Middleware

    service.start()
    theme = gr.themes.Base(
        primary_hue=gr.themes.colors.teal, neutral_hue=gr.themes.colors.stone,
        font=_SYSTEM, font_mono=_MONO, radius_size=gr.themes.sizes.radius_md,
    )  # fmt: skip
    demo.queue(max_size=_MOST_WAITING, default_concurrency_limit=8)
    options: dict[str, Any] = {
        "app_kwargs": {"middleware": [Middleware(RequestFilter, endpoints.NAMES, is_loopback(host))]},
        "auth": check,
        "max_file_size": LARGEST_UPLOAD,
        "allowed_paths": [],
        "state_session_capacity": _MOST_SESSIONS,
        "max_threads": 80,
        "css": text_of("style.css"),
        "theme": theme,
        "favicon_path": FILES / "icon.svg",
        "footer_links": [],
        **dict.fromkeys(("share", "ssr_mode", "run_history", "enable_monitoring", "pwa"), False),
        **dict.fromkeys(("mcp_server", "show_error"), False),
    }
    try:
        _, address, _ = demo.launch(
            server_name=host, server_port=port, inbrowser=open_browser, quiet=True,
            prevent_thread_lock=True, **options,
        )  # fmt: skip
    except OSError:
        place = f"port {port} of {host}" if port else f"address {host}"
        raise SticklerError(f"The {place} cannot be used: name another.") from None
    if wait:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # tidy up then too
        print(f"Stickler is at {address} (Ctrl+C ends it).", flush=True)  # noqa: T201
        demo.block_thread()
    return demo


def serve(
    settings: Settings | None = None, host: str = LOOPBACK, port: int | None = None,
    auth: str | None = None, open_browser: bool = False,
) -> None:  # fmt: skip
    """Serve for this machine's user, or where `host` says so for a network.

    On a network nobody may name models, since a name may be a folder or an address, and only who
    has a password may add texts.
    """
    auth = auth or os.environ.get("STICKLER_AUTH")
    own = is_loopback(host)
    service = Service(settings or Settings(), any_model=own, uploads=own or bool(auth))
    service.settings()  # an edition that is not there is said at once
    launch(service, host, port, auth, open_browser)


def main() -> None:
    import cli

    sys.argv.insert(1, "serve")
    cli.main()


if __name__ == "__main__":
    main()

"""The web page: its layout, its settings, and how it is served. The tabs are in `page/`.

Run as: python app.py
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
from page import ask_tab, batch_tab, endpoints, evaluate_tab, rules_tab
from page.components import EVENT, FILES, QUICK, Shared, live_html, read_text
from page.conversation import BRAND
from page.folders import Folders
from page.middleware import (
    MAX_UPLOAD,
    MCP,
    PasswordCheck,
    RequestFilter,
    is_loopback,
    login_of,
    password_check,
)
from page.remedies import phrase
from page.service import MAX_CITATIONS, MIN_CITATIONS, Service
from page.status import EMPTY, render_status
from qa.models import NONE
from qa.settings import Settings

if TYPE_CHECKING:
    import gradio as gr

LOOPBACK = "127.0.0.1"
_SYSTEM = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Consolas", "monospace"]
_MAX_WAITING = 120  # events in the queue; the service turns questions away long before that
_MAX_SESSIONS = 300  # whose conversations are remembered


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
            functions = rules_tab.server_functions(service)
            hub = live_html("hub", BRAND + EMPTY, ("open",), server_functions=functions)
            with gr.Accordion("Settings", open=False, elem_classes="settings"):
                settings = _build_settings(service)
        with gr.Tabs() as tabs:
            shared = Shared(service, hub, tabs, *settings)
            ask = ask_tab.build(shared)
            fill_rules, rules, told = rules_tab.build(shared, ask.offer)
            batch_tab.build(shared, folders)
            fill_lists, lists = evaluate_tab.build(shared)
        _show_state(shared, timer, told)
        demo.load(fill_rules, outputs=rules, **EVENT)
        demo.load(fill_lists, outputs=lists, **EVENT)
        at_once = ask_tab.AT_ONCE
        demo.load(ask.open_link, ask.given, ask.shown, concurrency_limit=at_once, **EVENT)
        _free_on_leaving(demo, service, folders)
    return demo


def _build_settings(
    service: Service,
) -> "tuple[gr.Dropdown, gr.Checkbox, gr.Dropdown, gr.Slider]":
    """Model, whether its sentences are shown, edition and number of citations."""
    import gradio as gr

    own = service.defaults
    model = gr.Dropdown(
        service.model_names,
        value=own.model,
        label="Language model",
        allow_custom_value=service.any_model,
        info="Or a folder, a .gguf file, a Hugging Face id, or NAME@http://HOST/v1."
        if service.any_model
        else None,
    )
    show_generated = gr.Checkbox(
        own.uses_model,
        label="Show the model's reading of the rules",
        info="Its yes or no, and the sentences that a rule supports.",
    )
    edition = gr.Dropdown([own.edition], value=own.edition, label="Edition to answer from")
    max_citations = gr.Slider(
        MIN_CITATIONS,
        MAX_CITATIONS,
        value=own.max_citations,
        step=1,
        label="Rules to cite, roughly",
    )
    return model, show_generated, edition, max_citations


def _show_state(shared: Shared, timer: "gr.Timer", told: "list[gr.HTML]") -> None:
    """Show the state of model and rules until both are ready, and whenever one may have changed.

    `told` are the components that report the result of adding rules.
    """
    import gradio as gr

    service = shared.service

    def refresh(model: str, edition: str, show_generated: bool) -> "tuple[str, gr.Timer]":
        spoken = service.model_state(model if show_generated else NONE)
        rules = service.rules_state(edition or CURRENT)
        settled = spoken.ready and rules.ready
        return BRAND + render_status(spoken, rules), gr.Timer(active=not settled)

    inputs: list[Any] = [shared.model, shared.edition, shared.show_generated]
    # One event for all: a tick that was under way must not overwrite what a change brought.
    causes = [timer.tick, *(each.change for each in (*inputs, *told))]
    gr.on(causes, refresh, inputs, [shared.hub, timer], **QUICK)


def _free_on_leaving(demo: "gr.Blocks", service: Service, folders: Folders) -> None:
    """Stop answering a visitor who has left, and delete the visitor's files."""
    import gradio as gr

    def leave(request: gr.Request) -> None:
        session = str(request.session_hash)
        for key in (session, batch_tab.stop_key(session), evaluate_tab.stop_key(session)):
            service.stop(key)
        folders.leave(session)

    demo.unload(leave)


def _keep_quiet() -> None:
    """Turn off analytics and use a private upload folder; Gradio reads these settings early."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = "1000000000"  # never send the usage summary
    os.environ["GRADIO_ANALYTICS_MAX_EVENTS"] = "100"
    own = _uploads()
    os.environ["GRADIO_TEMP_DIR"] = str(own)
    os.environ["GRADIO_EXAMPLES_CACHE"] = str(own / "examples")


@cache
def _uploads() -> Path:
    """One folder for all pages of this process; Gradio looks up its location every time."""
    own = Path(tempfile.mkdtemp(prefix="stickler-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _add_middleware(check: PasswordCheck | None, host: str) -> dict[str, Any]:
    """The web server option that puts our middleware in front of Gradio."""
    from starlette.middleware import Middleware

    own = is_loopback(host)
    return {"middleware": [Middleware(RequestFilter, endpoints.NAMES, own, check)]}


def _add_mcp(demo: "gr.Blocks", auth: str | None) -> dict[str, Any]:
    """Attach an MCP server to the page, which Gradio mounts; returns the option that starts it."""
    from page.mcp_server import McpServer

    demo.mcp_server_obj = McpServer(demo, login_of(auth) if auth else None)
    return {"lifespan": demo.mcp_server_obj.lifespan}


def launch(
    service: Service, host: str = LOOPBACK, port: int | None = None, auth: str | None = None,
    open_browser: bool = False, wait: bool = True, mcp: bool = False,
) -> "gr.Blocks":  # fmt: skip
    """Serve the page, and with `mcp` also MCP tools; `wait` blocks until the server is stopped."""
    check = password_check(auth)
    demo = build(service)
    import gradio as gr

    theme = gr.themes.Base(
        primary_hue=gr.themes.colors.teal, neutral_hue=gr.themes.colors.stone,
        font=_SYSTEM, font_mono=_MONO, radius_size=gr.themes.sizes.radius_md,
    )  # fmt: skip
    demo.queue(max_size=_MAX_WAITING, default_concurrency_limit=8)
    options: dict[str, Any] = {
        "app_kwargs": _add_middleware(check, host) | (_add_mcp(demo, auth) if mcp else {}),
        "auth": check,
        "max_file_size": MAX_UPLOAD,
        "allowed_paths": [],
        "state_session_capacity": _MAX_SESSIONS,
        "max_threads": 80,
        "css": read_text("style.css"),
        "theme": theme,
        "favicon_path": FILES / "icon.svg",
        "footer_links": [],
        **dict.fromkeys(("share", "ssr_mode", "run_history", "enable_monitoring", "pwa"), False),
        **dict.fromkeys(("mcp_server", "show_error"), False),  # we run our own MCP server
    }
    service.start()
    try:
        _, address, _ = demo.launch(
            server_name=host, server_port=port, inbrowser=open_browser, quiet=True,
            prevent_thread_lock=True, **options,
        )  # fmt: skip
    except OSError:
        place = f"port {port} of {host}" if port else f"address {host}"
        raise SticklerError(f"The {place} cannot be used: choose another.") from None
    if wait:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up on SIGTERM too
        print(f"Stickler is at {address} (press Ctrl+C to stop it).", flush=True)  # noqa: T201
        if mcp:
            print(f"MCP tools are at {address.rstrip('/')}{MCP}/", flush=True)  # noqa: T201
        demo.block_thread()
    return demo


def serve(
    settings: Settings | None = None, host: str = LOOPBACK, port: int | None = None,
    auth: str | None = None, open_browser: bool = False, mcp: bool = False,
) -> None:  # fmt: skip
    """Serve the page until it is stopped, on this machine or, depending on `host`, on a network.

    On a network, visitors cannot name models, since a name may be a folder or an address, and only
    those with a password can add documents. `auth` is NAME:PASSWORD and defaults to the
    environment variable STICKLER_AUTH. `mcp` also offers the endpoints as MCP tools.
    """
    auth = auth or os.environ.get("STICKLER_AUTH")
    own = is_loopback(host)
    service = Service(settings or Settings(), any_model=own, uploads=own or bool(auth))
    service.settings_for()  # an unknown edition is an error at once
    launch(service, host, port, auth, open_browser, mcp=mcp)


def main() -> None:
    """Serve with the default settings; an error is one sentence."""
    try:
        serve()
    except SticklerError as error:
        sys.exit(f"Error: {error.sentence(phrase)}")


if __name__ == "__main__":
    main()

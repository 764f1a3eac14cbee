"""What the tabs are made of: HTML components with their script, event options, shared settings."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from page.service import Service

if TYPE_CHECKING:
    import gradio as gr

FILES = Path(__file__).parent
# Events of the page are no endpoints; quick ones do not wait in the queue.
EVENT: Any = {"api_visibility": "private", "show_progress": "hidden"}
QUICK: Any = {**EVENT, "queue": False, "trigger_mode": "always_last"}


@dataclass(frozen=True)
class Shared:
    """What the tabs have in common."""

    service: Service
    hub: "gr.HTML"  # always on the page: what the script asks the server goes through it
    tabs: "gr.Tabs"
    model: "gr.Dropdown"
    show_generated: "gr.Checkbox"
    edition: "gr.Dropdown"
    max_citations: "gr.Slider"

    @property
    def settings(self) -> "list[Any]":
        """The settings of a question, in the order of `Service.settings_for`."""
        return [self.model, self.edition, self.max_citations, self.show_generated]


@cache
def read_text(name: str) -> str:
    """A text file of this package."""
    return (FILES / name).read_text(encoding="utf-8")


def html(value: str = "", **more: Any) -> "gr.HTML":
    """HTML in the page's own style."""
    import gradio as gr

    return gr.HTML(value, apply_default_css=False, elem_classes="stickler", **more)


def live_html(name: str, value: str = "", events: tuple[str, ...] = (), **more: Any) -> "gr.HTML":
    """HTML that page.js listens to; Gradio finds the events it can send by their quoted names."""
    script = f"<script>{read_text('history.js')}{read_text('page.js')}</script>"
    named = ", ".join(f"'{event}'" for event in events)
    attach = f"stickler.attach('{name}', element, trigger, server, watch, [{named}]);"
    return html(value, head=script, js_on_load=attach, elem_id=f"stickler-{name}", **more)

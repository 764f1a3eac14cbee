"""The endpoints as MCP tools, by Gradio's own MCP server: stickler serve --mcp.

It calls the page's endpoints as any program does, so their limits apply to the tools too. The
middleware decides who may call it. Imported only if needed, because it imports Gradio.
"""

import importlib.util
import json
from typing import TYPE_CHECKING, Any

from gradio.mcp import GradioMCPServer
from gradio_client import Client

from index.errors import SticklerError

if TYPE_CHECKING:
    import gradio as gr
    from mcp.types import ImageContent, TextContent

TOOLS = ("ask", "search", "rule", "history")


class McpServer(GradioMCPServer):
    """Offers four endpoints of a page, nothing else, and gives their results as JSON.

    `login` is the name and password that the page asks for, if it does.
    """

    def __init__(self, page: "gr.Blocks", login: tuple[str, str] | None) -> None:
        if importlib.util.find_spec("mcp") is None:
            raise SticklerError(
                "The package 'mcp', which --mcp needs, is not installed: "
                "run \"pip install 'stickler[mcp]'\"."
            )
        super().__init__(page)
        self._login = login

    def get_tool_to_endpoint(self) -> dict[str, str]:
        return {name: f"/{name}" for name in TOOLS}

    def postprocess_output_data(
        self, data: Any, root_url: str
    ) -> list["TextContent | ImageContent"]:
        """JSON; Gradio would write it as Python does."""
        from mcp.types import TextContent

        return [
            TextContent(type="text", text=json.dumps(each, ensure_ascii=False)) for each in data
        ]

    def _get_or_create_client(self) -> Client:
        """What calls the endpoints; Gradio's own knows no password."""
        if self._client_instance is None and self._login:
            self._client_instance = Client(
                str(self.local_url),
                auth=self._login,
                download_files=False,
                verbose=False,
                analytics_enabled=False,
                _skip_components=False,
            )
        return super()._get_or_create_client()

"""The page as MCP tools, called by a real MCP client over loopback."""

import asyncio
import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import app
from index.errors import SticklerError
from page import mcp_server
from page.middleware import MCP
from page.service import Service
from qa.answer import VERSION
from qa.resources import Resources
from qa.settings import Settings

pytest.importorskip("mcp")
from mcp import ClientSession
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

pytest_plugins = ["serving"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("in_shared_home")]
REACH = "Can a creature with reach block my flyer?"
LOGIN = {"Authorization": f"Basic {base64.b64encode(b'ana:secret').decode()}"}


def serving(searcher, **more: Any) -> Iterator[str]:
    service = Service(Settings(model="none"), resources=Resources(searcher=searcher))
    demo = app.launch(service, wait=False, mcp=True, **more)
    yield f"{str(demo.local_url).rstrip('/')}{MCP}/"
    demo.close(verbose=False)


@pytest.fixture(scope="module")
def url(searcher) -> Iterator[str]:
    yield from serving(searcher)


@pytest.fixture(scope="module")
def locked_url(searcher) -> Iterator[str]:
    yield from serving(searcher, auth="ana:secret")


def in_session(url: str, use: Any, headers: dict[str, str] | None = None) -> Any:
    """What `use` makes of a session with the server."""

    async def run() -> Any:
        async with (
            create_mcp_http_client(headers=headers) as client,
            streamable_http_client(url, http_client=client) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await use(session)

    return asyncio.run(run())


def call(url: str, tool: str, headers: dict[str, str] | None = None, **arguments: Any) -> Any:
    return in_session(url, lambda session: session.call_tool(tool, arguments), headers)


def value(result: Any) -> Any:
    """What a tool gave, as JSON."""
    assert not result.isError, result.content
    [content] = result.content
    return json.loads(content.text)


def test_only_the_four_tools_are_offered_and_each_is_described(url):
    tools = in_session(url, lambda session: session.list_tools()).tools
    assert tuple(tool.name for tool in tools) == mcp_server.TOOLS
    ask = tools[0]
    assert "checked citations" in ask.description
    assert ask.inputSchema["required"] == ["question"]
    assert "2009-10-01" in ask.inputSchema["properties"]["edition"]["description"]


@pytest.mark.parametrize("tool", ["batch", "halt", "predict", "add", "/ask", "", "leave"])
def test_nothing_else_of_the_page_can_be_called(url, tool):
    result = call(url, tool, questions=[REACH])
    assert result.isError
    assert "Unknown tool" in result.content[0].text


def test_a_client_asks_searches_looks_up_and_reads_history(url):
    answer = value(call(url, "ask", question=REACH))
    assert answer["citations"][0]["number"] == "702.17b"
    assert answer["version"] == VERSION
    hits = value(call(url, "search", query=REACH, limit=3))
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    [rule] = value(call(url, "rule", number="702.19b", edition="2009-10-01"))
    assert rule["heading"] == "Banding"
    [versions] = value(call(url, "history", number="702.19b"))
    assert [version["edition"] for version in versions] == sorted(
        version["edition"] for version in versions
    )
    assert versions[-1]["changes"]


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("ask", {"question": ""}, "empty"),
        ("ask", {"question": "x" * 4001}, "at most 4000"),
        ("ask", {"question": "x", "edition": "1999-01-01"}, "There is no edition"),
        ("search", {"query": "x", "limit": 1000}, "choose 1 to 100"),
        ("rule", {"number": "999.9"}, "There is no rule 999.9"),
        ("history", {"number": "702"}, "name at most 40"),
    ],
)
def test_a_wrong_call_is_one_sentence(url, tool, arguments, why):
    result = call(url, tool, **arguments)
    assert result.isError
    assert why in result.content[0].text


def status(url: str, **headers: str) -> int:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, data=body, headers={**kinds, **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_limits_of_the_page_hold(url):
    assert status(url) == 200
    assert status(url, Origin="http://evil.example") == 403
    assert status(url, Origin="null") == 403
    assert status(url, Host="evil.example") == 403
    assert status(url, **{"Content-Length": "2000000"}) == 413


def test_the_password_of_the_page_is_asked_for(locked_url):
    wrong = base64.b64encode(b"ana:wrong").decode()
    for headers in ({}, {"Authorization": f"Basic {wrong}"}, {"Authorization": "Basic %"}):
        assert status(locked_url, **headers) == 401
        assert status(f"{locked_url}schema", **headers) == 401
    assert status(locked_url, **LOGIN) == 200
    answer = value(call(locked_url, "ask", LOGIN, question=REACH))
    assert answer["citations"][0]["number"] == "702.17b"


def test_without_the_package_one_sentence_says_what_to_install(searcher, monkeypatch):
    monkeypatch.setattr(mcp_server.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SticklerError, match=r"pip install 'stickler\[mcp\]'"):
        next(serving(searcher))

"""The tool with which agents report what is missing, on the wire and in the records."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import mcpeye_package
import pytest

from callboard.demand import request_capability
from callboard.demand.request_capability import ACK, TOOL_NAME
from e2e.serving import Program, environment
from serving import Served, served, text_of
from stateless_client import Stateless

PROJECT = Path(__file__).resolve().parents[2]
#: A program that serves. Its tool ``modules`` returns the modules that the process has imported.
WITH_MODULES = """
import sys
from callboard.headless import serve
from callboard.calls.tools import ToolRegistry
from callboard.app import Callboard

start = Callboard.start

def start_with_modules(app):
    app.tools.register("modules", lambda: sorted(sys.modules), "Lists what is imported.")
    return start(app)

Callboard.start = start_with_modules
from callboard_programs.cli import main
sys.exit(main(["serve", "--auth", "none"]))
"""


def listed(client: Any) -> list[dict[str, Any]]:
    """Return the tools of every page of ``tools/list``."""
    tools: list[dict[str, Any]] = []
    cursor = None
    while True:
        params = {} if cursor is None else {"cursor": cursor}
        result = client.request("tools/list", params)["result"]
        tools += result["tools"]
        cursor = result.get("nextCursor")
        if cursor is None:
            return tools


def both(running: Served) -> list[Any]:
    session = running.client()
    session.initialize()
    session.notify("notifications/initialized")
    return [session, Stateless(running.client())]


def test_it_is_listed_last_and_to_the_byte() -> None:
    try:
        importlib.metadata.distribution("mcpeye")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("mcpeye isn't installed: pip install mcpeye")
    published = mcpeye_package.load("request_capability").request_capability_descriptor()
    with served(skills=True, capture_missing_capabilities=True) as running:
        running.tool("zzz_last_by_name", lambda: None)
        for client in both(running):
            tools = listed(client)
            assert json.dumps(tools[-1]) == json.dumps(published)
            assert [tool["name"] for tool in tools].count(TOOL_NAME) == 1


def test_it_is_acknowledged_and_recorded_and_never_dispatched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    asked: list[dict[str, Any]] = [
        {"capability": "export a PDF"},
        {},
        {"capability": 3},
        {"capability": " "},
    ]
    with served(records=True, capture_missing_capabilities=True) as running:
        ended: list[object] = []
        running.app.dispatcher.ended.watch(lambda *call: ended.append(call))
        for client in both(running):
            for arguments in asked:
                result = client.call(TOOL_NAME, arguments)
                if arguments == asked[0]:
                    assert (text_of(result), result["isError"]) == (ACK, False)
                else:
                    assert result["isError"]
                    assert "say in 'capability'" in text_of(result)
        assert ended == []
        assert running.app.records is not None
        assert running.app.records.flush()
        calls = running.app.records.reader().recent().calls
    assert [call.tool for call in calls] == [TOOL_NAME] * 8
    assert sorted(json.dumps(call.arguments) for call in calls) == sorted(
        json.dumps(arguments) for arguments in asked * 2
    )


def test_a_tool_of_the_hosts_wins() -> None:
    with served(capture_missing_capabilities=True) as running:
        running.tool(TOOL_NAME, lambda: "mine")
        for client in both(running):
            assert [tool["description"] for tool in listed(client)].count(f"Does {TOOL_NAME}.") == 1
            assert text_of(client.call(TOOL_NAME)) == "mine"


def test_it_can_be_switched_off() -> None:
    with served(capture_missing_capabilities=False) as running:
        for client in both(running):
            assert TOOL_NAME not in [tool["name"] for tool in listed(client)]
            response = client.request("tools/call", {"name": TOOL_NAME, "arguments": {}})
            assert response["error"]["code"] == -32602


@pytest.mark.slow
def test_a_server_has_imported_neither_httpx_nor_pydantic(tmp_path: Path) -> None:
    from callboard_testing.fake_client import FakeClient

    command = [sys.executable, "-c", WITH_MODULES]
    with Program(command, environment(tmp_path)) as host, FakeClient(host.url) as client:
        tools = client.request("tools/list")["result"]["tools"]
        assert tools[-1] == request_capability.descriptor()
        client.call(TOOL_NAME, {"capability": "export a PDF"})
        client.call("scene__scene_info")
        modules = client.call("modules")["structuredContent"]["result"]
    heavy = {"httpx", "pydantic", "pydantic_core", "mcpeye", "anyio"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in modules)
    assert "callboard.demand.request_capability" in modules

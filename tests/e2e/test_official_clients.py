"""The official clients use all of their features with ``callboard serve``. Each client runs in its
own process and environment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.client_environments import INSTALL_TIMEOUT, node_with, python_with
from e2e.serving import Program, callboard, environment

pytestmark = pytest.mark.timeout(INSTALL_TIMEOUT + 60)

CLIENTS = Path(__file__).resolve().parent / "clients"
MCP_2 = "mcp>=2.3,<3"
FASTMCP = "fastmcp>=4.1,<5"
TYPESCRIPT_1 = "@modelcontextprotocol/sdk@1"
TYPESCRIPT_2 = "@modelcontextprotocol/client@2"

SESSIONS, STATELESS = "2025-11-25", "2026-07-28"

#: The observations that each client must have made.
EVERYTHING: dict[str, Any] = {
    "sum": 3,
    "counted": 3,
    "steps": [1, 2, 3],
    "logs": ["step 1", "step 2", "step 3"],
    "picture": "image/png",
    "failed": True,
    "invalid": True,
    "introduced": {"action": "accept", "name": "Ada", "roots": [str(Path("/projects/ada"))]},
    "thought": "Paris",
    "routed": "Übersee ",
    "resources": [
        "host://capabilities",
        "host://roots",
        "host://waiting",
        "log://recent",
        "scene://current",
    ],
    "templates": [
        "files://{id}",
        "job://{job_id}/result",
        "report://{since}",
        "scene://object/{+name}",
        "skill://{name}/SKILL.md",
        "skill://{name}/{+path}",
    ],
    "updated": "scene://current",
    "prompts": ["probe.greeting"],
    "prompt": "Greet Ada warmly.",
    "completed": ["probe"],
}


def seen_by(command: list[str], home: Path) -> dict[str, Any]:
    done = subprocess.run(
        command, env=environment(home), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def assert_everything(seen: dict[str, Any], revision: str, not_found: int) -> None:
    assert seen.pop("revision") == revision
    assert {"probe__add", "scene__create_primitive"} <= set(seen.pop("tools"))
    assert "watched" in seen.pop("scene")
    assert seen.pop("cancelled") >= 1
    assert seen.pop("not_found") == not_found
    assert seen == {key: EVERYTHING[key] for key in seen.keys() | EVERYTHING.keys()}


def assert_changes(seen: dict[str, Any]) -> None:
    """Check the features that only the TypeScript client uses: changed roots, and a list whose
    tools disappear and return."""
    assert seen.pop("moved") == str(Path("/projects/eve"))
    assert seen.pop("relisted") == [False, True]


def test_mcp_1(host: Program, home: Path) -> None:
    command = [sys.executable, str(CLIENTS / "mcp_1.py"), host.url, str(host.token)]
    assert_everything(seen_by(command, home), SESSIONS, -32002)


@pytest.mark.parametrize(
    ("mode", "revision", "not_found"),
    [
        ("legacy", SESSIONS, -32002),
        ("auto", STATELESS, -32602),
        (STATELESS, STATELESS, -32602),
    ],
)
def test_mcp_2(host: Program, home: Path, mode: str, revision: str, not_found: int) -> None:
    command = [python_with(MCP_2), str(CLIENTS / "mcp_2.py"), host.url, str(host.token), mode]
    assert_everything(seen_by(command, home), revision, not_found)


@pytest.mark.parametrize(
    ("mode", "revision", "not_found"),
    [("legacy", SESSIONS, -32002), ("auto", STATELESS, -32602)],
)
def test_mcp_2_over_stdio(
    host: Program, home: Path, mode: str, revision: str, not_found: int
) -> None:
    command = [python_with(MCP_2), str(CLIENTS / "mcp_2.py"), "stdio", str(home), mode]
    assert_everything(seen_by([*command, *callboard("stdio")], home), revision, not_found)


@pytest.mark.parametrize(
    ("mode", "revision", "not_found"),
    [("legacy", SESSIONS, -32002), ("auto", STATELESS, -32602)],
)
def test_fastmcp(host: Program, home: Path, mode: str, revision: str, not_found: int) -> None:
    script = str(CLIENTS / "fastmcp_client.py")
    seen = seen_by([python_with(FASTMCP), script, host.url, str(host.token), mode], home)
    # This client has no way to watch a resource.
    assert_everything({"updated": "scene://current", **seen}, revision, not_found)


@pytest.mark.parametrize(
    ("package", "mode", "revision", "not_found"),
    [
        (TYPESCRIPT_1, "v1", SESSIONS, -32002),
        # Version 2 shows one code for both eras.
        (TYPESCRIPT_2, "legacy", SESSIONS, -32602),
        (TYPESCRIPT_2, "auto", STATELESS, -32602),
    ],
)
def test_typescript(
    host: Program, home: Path, package: str, mode: str, revision: str, not_found: int
) -> None:
    command = node_with(CLIENTS / "typescript.mjs", package)
    seen = seen_by([*command, host.url, str(host.token), mode], home)
    assert_changes(seen)
    assert_everything(seen, revision, not_found)


def test_the_old_2025_03_26_batches(host: Program) -> None:
    with FakeClient(host.url, host.token, revision="2025-03-26") as client:
        batch = [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            {
                "jsonrpc": "2.0",
                "id": "two",
                "method": "tools/call",
                "params": {"name": "probe__add", "arguments": {"a": 1, "b": 2}},
            },
            {"jsonrpc": "2.0", "id": 3, "method": "prompts/list"},
            {"jsonrpc": "2.0", "id": 4, "method": "no/such"},
        ]
        responses = client.post(batch).messages
    by_id = {response["id"]: response for response in responses}
    assert len(responses) == len(by_id) == 4
    assert by_id[1]["result"] == {}
    # This revision has no structured content, so the text holds all of it.
    assert by_id["two"]["result"]["content"] == [{"type": "text", "text": '{"sum":3}'}]
    assert "structuredContent" not in by_id["two"]["result"]
    assert by_id[3]["result"]["prompts"][0]["name"] == "probe.greeting"
    assert by_id[4]["error"]["code"] == -32601

"""The Python code of the guide "Capabilities & Workspace Roots" works with the import renamed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import callboard
from callboard import (
    McpHttpConfig,
    McpHttpServer,
    ToolRegistry,
    WorkspaceResolveError,
    WorkspaceRoots,
)
from callboard_testing.fake_client import FakeClient

SKILLS = """
from callboard import SkillMetadata, scan_and_load

skills, _ = scan_and_load(dcc_name="maya")
for md in skills:
    print(md.name, md.required_capabilities)  # sorted deduplicated union
"""

# The guide's server uses port 8765, which may be taken.
SERVER = """
from callboard import create_skill_server, McpHttpConfig

cfg = McpHttpConfig(port=8765)
cfg.declared_capabilities = [
    "usd",
    "scene.read",
    "scene.mutate",
    "filesystem.read",
    # filesystem.write deliberately omitted for a read-only session
]
server = create_skill_server("maya", cfg)
handle = server.start()
""".replace("8765", "0")

TOOL = """
from callboard import error_result, success_result

def import_usd(path: str, _workspace_roots=None):
    if _workspace_roots is None:
        return error_result("import_usd", "no workspace roots advertised")
    try:
        resolved = _workspace_roots.resolve(path)
    except ValueError as e:
        return error_result("import_usd", str(e))
    # ...continue with `resolved` as an absolute PathBuf-equivalent
    return success_result("imported", path=resolved)
"""

ROOTS = """
from callboard import WorkspaceRoots

roots = WorkspaceRoots(["/projects/hero"])
assert roots.resolve("workspace://char/bob.usd") == "/projects/hero/char/bob.usd"
assert roots.resolve("/tmp/abs").endswith("abs")
"""

TOOLS_YAML = """
tools:
  - name: import_usd
    description: Import a USD stage into the scene
    required_capabilities: [usd, scene.mutate, filesystem.read]

  - name: read_stage_metadata
    description: Read metadata from a USD stage without mutating the scene
    required_capabilities: [usd, scene.read, filesystem.read]

  - name: export_usd
    description: Write the scene to a USD file
    required_capabilities: [usd, scene.mutate, filesystem.write]

  - name: ping
    description: No capabilities required
"""

SKILL_MD = """---
name: maya-pipeline
description: The tools of the guide.
metadata:
  dcc-mcp:
    dcc: maya
    tools: tools.yaml
---
"""


def run(snippet: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(snippet, "<guide>", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def pipeline_skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the guide's skill on Maya's skill path, in an empty home, and return its folder."""
    folder = tmp_path / "skills" / "maya-pipeline"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL_MD)
    (folder / "tools.yaml").write_text(TOOLS_YAML)
    (folder / "scripts" / "import_usd.py").write_text(TOOL)
    (folder / "scripts" / "ping.py").write_text("def ping():\n    return 'pong'\n")
    for name in ("read_stage_metadata", "export_usd"):
        (folder / "scripts" / f"{name}.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.setenv("DCC_MCP_MAYA_SKILL_PATHS", str(tmp_path / "skills"))
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def guides_server() -> Iterator[Any]:
    handle = run(SERVER)["handle"]
    yield handle
    handle.shutdown()


def test_skills_show_the_union_of_their_tools_capabilities(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(SKILLS)
    line = "maya-pipeline ['filesystem.read', 'filesystem.write', 'scene.mutate', 'scene.read', "
    assert line + "'usd']" in capsys.readouterr().out.splitlines()


def test_the_guides_server_hints_and_refuses_as_the_guide_says(guides_server: Any) -> None:
    with FakeClient(guides_server.url, guides_server.token) as client:
        tools = {t["name"]: t for t in client.request("tools/list")["result"]["tools"]}
        export = "maya_pipeline__export_usd"
        assert tools[export]["_meta"] == {
            "dcc": {
                "required_capabilities": ["usd", "scene.mutate", "filesystem.write"],
                "missing_capabilities": ["filesystem.write"],
            }
        }
        assert tools["maya_pipeline__import_usd"]["_meta"] == {
            "dcc": {"required_capabilities": ["usd", "scene.mutate", "filesystem.read"]}
        }
        assert "_meta" not in tools["maya_pipeline__ping"]
        assert client.request("tools/call", {"name": export}, id=1) == {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {
                "code": -32001,
                "message": f"capability_missing: tool '{export}' requires filesystem.write",
                "data": {
                    "tool": export,
                    "required": ["usd", "scene.mutate", "filesystem.write"],
                    "missing": ["filesystem.write"],
                    "declared": ["usd", "scene.read", "scene.mutate", "filesystem.read"],
                },
            },
        }
        assert client.call("maya_pipeline__ping")["structuredContent"] == {"result": "pong"}


def test_the_guides_tool_gets_the_clients_roots(guides_server: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    roots = {"roots": [{"uri": project.as_uri(), "name": "Project"}]}
    with FakeClient(
        guides_server.url,
        guides_server.token,
        capabilities={"roots": {"listChanged": True}},
        answers={"roots/list": lambda params: roots},
    ) as client:
        answer = client.call("maya_pipeline__import_usd", {"path": "workspace://assets/hero.usd"})
        assert answer["structuredContent"] == {
            "success": True,
            "message": "imported",
            "error": None,
            "prompt": None,
            "context": {"path": str(project / "assets" / "hero.usd")},
        }
        outside = client.call("maya_pipeline__import_usd", {"path": "../../etc/passwd"})
        assert outside["isError"] is True
        assert "leaves the workspace" in outside["structuredContent"]["error"]


def test_the_guides_tool_says_so_where_no_client_advertises_roots(guides_server: Any) -> None:
    with FakeClient(guides_server.url, guides_server.token) as client:
        result = client.call("maya_pipeline__import_usd", {"path": "workspace://assets/hero.usd"})
    assert result["isError"] is True
    assert result["structuredContent"]["message"] == "import_usd"
    assert result["structuredContent"]["error"] == "no workspace roots advertised"


@pytest.mark.skipif(os.name == "nt", reason="the guide uses POSIX paths")
def test_roots_made_by_hand() -> None:
    run(ROOTS)


def test_no_roots_raise_a_value_error_with_the_guides_words() -> None:
    with pytest.raises(ValueError, match="no workspace roots") as raised:
        WorkspaceRoots([]).resolve("workspace://assets/hero.usd")
    assert isinstance(raised.value, WorkspaceResolveError)
    assert raised.value.code == -32602


# -- the public face ------------------------------------------------------------------------------


def test_every_public_name_is_there_and_listed() -> None:
    for name in callboard.__all__:
        assert getattr(callboard, name) is not None
        assert name in dir(callboard)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = callboard.no_such_name  # type: ignore[attr-defined]


def test_importing_the_package_loads_none_of_it() -> None:
    code = (
        "import sys, callboard; callboard.McpHttpConfig;"
        "assert 'callboard.app' not in sys.modules;"
        "assert 'tornado' not in sys.modules"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": paths}
    )


def test_a_registry_is_served_and_may_change_while_it_is() -> None:
    registry = ToolRegistry()
    registry.register("double", lambda x: 2 * x, "Doubles x.", {"type": "object"})
    config = McpHttpConfig(skills=False, announce=False, records=False, auth="none")
    with McpHttpServer(registry, config).start() as handle:
        assert handle.token is None
        assert handle.mcp_url() == f"http://127.0.0.1:{handle.port}/mcp"
        with FakeClient(handle.url) as client:
            assert client.call("double", {"x": 21})["structuredContent"] == {"result": 42}
            registry.register("half", lambda x: x / 2, "Halves x.", {"type": "object"})
            assert client.call("half", {"x": 3})["structuredContent"] == {"result": 1.5}


def test_a_running_server_withdraws_and_restores_a_capability() -> None:
    registry = ToolRegistry()
    registry.register("look_at", lambda: {}, "Needs usd.", required_capabilities=("usd",))
    config = McpHttpConfig(declared_capabilities=["usd"], skills=False, announce=False)
    config.rules = config.records = False
    with McpHttpServer(registry, config).start() as handle, client_of(handle) as client:
        asked = {"name": "look_at", "arguments": {}}
        handle.withdraw("usd")
        assert client.request("tools/call", asked)["error"]["code"] == -32001
        handle.restore("usd")
        assert client.request("tools/call", asked)["result"]["isError"] is False


def test_a_server_starts_again_and_a_taken_port_leaves_nothing_running() -> None:
    registry = ToolRegistry()
    config = McpHttpConfig(skills=False, announce=False, records=False)
    first = McpHttpServer(registry, config).start()
    taken = McpHttpServer(ToolRegistry(), McpHttpConfig(port=first.port, skills=False))
    before = {thread.name for thread in threading.enumerate()}
    with pytest.raises(OSError):
        taken.start()
    first.shutdown()
    first.stop()
    assert "callboard-watcher" not in {thread.name for thread in threading.enumerate()}
    assert "callboard-main" in before
    registry.register("later", lambda: 1, "Is added between two runs.")
    with McpHttpServer(registry, config).start() as again, client_of(again) as client:
        assert client.call("later")["structuredContent"] == {"result": 1}


def test_a_server_without_a_scene_lists_no_tools_that_need_one() -> None:
    config = McpHttpConfig(declared_capabilities=["scene.read", "scene.mutate"], announce=False)
    with callboard.create_skill_server("maya", config).start() as handle, client_of(handle) as one:
        tools = [tool["name"] for tool in one.request("tools/list")["result"]["tools"]]
        assert "scene__" not in one.initialize()["result"]["instructions"]
    assert "skills__search" in tools
    assert not [name for name in tools if name.startswith("scene__")]


def client_of(handle: Any) -> FakeClient:
    return FakeClient(handle.url, handle.token)

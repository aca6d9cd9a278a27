"""Prompts over the wire, in both eras."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard import content
from callboard.errors import INVALID_PARAMS, METHOD_NOT_FOUND
from serving import Served, served

META = "io.modelcontextprotocol/"
SKILL = """---
name: bevels
description: Geometry.
metadata:
  dcc-mcp:
    prompts: prompts.yaml
---
"""
PROMPTS = """
prompts:
  - name: bevel
    description: Bevel edges.
    arguments:
      - {name: width, description: Scene units., required: true}
      - {name: segments, required: false}
    template: "width={{ width }} segments={{segments}}"
"""


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "bevels"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "prompts.yaml").write_text(PROMPTS)
    return tmp_path / "skills"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


@pytest.fixture
def server(skills: Path, home: None) -> Iterator[Served]:
    with served(skills=True, skill_paths=[skills]) as running:
        yield running


def ask(server: Served, era: str, method: str, params: dict[str, Any] | None = None) -> Any:
    """Return the whole response to a request by a client of that era."""
    if era == "session":
        with server.client() as client:
            return client.request(method, params or {})
    meta = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**(params or {}), "_meta": meta},
    }
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if params is not None:
        headers["Mcp-Name"] = params["name"]
    return server.client().post(message, headers).message


ERAS = pytest.mark.parametrize("era", ["session", "stateless"])


@ERAS
def test_a_list_entry_says_where_the_prompt_is_from(server: Served, era: str) -> None:
    result = ask(server, era, "prompts/list")["result"]
    assert result["prompts"] == [
        {
            "name": "bevels.bevel",
            "description": "Bevel edges.",
            "arguments": [
                {"name": "width", "description": "Scene units.", "required": True},
                {"name": "segments", "description": "", "required": False},
            ],
            "_meta": {"dcc.prompt_source": {"skill": "bevels", "source": "explicit"}},
        }
    ]


@ERAS
@pytest.mark.parametrize("name", ["bevels.bevel", "bevel"])
def test_a_prompt_is_rendered_by_its_served_and_its_bare_name(
    server: Served, era: str, name: str
) -> None:
    params = {"name": name, "arguments": {"width": "2", "more": "ignored"}}
    result = ask(server, era, "prompts/get", params)["result"]
    assert result["description"] == "Bevel edges."
    assert result["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "width=2 segments="}}
    ]


@ERAS
def test_what_a_function_shows_becomes_blocks(server: Served, era: str) -> None:
    server.app.prompts.register_function("see", lambda: ["Look:", content.Image(b"P")], "See.", [])
    messages = ask(server, era, "prompts/get", {"name": "see"})["result"]["messages"]
    assert [message["content"]["type"] for message in messages] == ["text", "image"]
    assert messages[0]["content"]["text"] == "Look:"


@ERAS
def test_a_missing_required_argument_is_named(server: Served, era: str) -> None:
    error = ask(server, era, "prompts/get", {"name": "bevel", "arguments": {}})["error"]
    assert error["code"] == INVALID_PARAMS
    assert error["message"] == "missing required argument: width"


@ERAS
def test_one_bad_entry_shows_in_the_diagnostics_and_its_neighbour_is_served(
    server: Served, skills: Path, era: str
) -> None:
    text = PROMPTS + "  - {name: broken, description: No template.}\n"
    (skills / "bevels" / "prompts.yaml").write_text(text)
    result = ask(server, era, "prompts/list")["result"]
    assert [prompt["name"] for prompt in result["prompts"]] == ["bevels.bevel"]
    diagnostics = result["_meta"]["dcc.prompt_diagnostics"]
    assert diagnostics["prompt_count"] == 1
    assert [failure["skill"] for failure in diagnostics["failures"]] == ["bevels"]
    assert str(skills) not in json.dumps(diagnostics)


@ERAS
def test_an_empty_list_says_why(home: None, era: str) -> None:
    with served() as server:
        result = ask(server, era, "prompts/list")["result"]
    assert result["prompts"] == []
    diagnostics = result["_meta"]["dcc.prompt_diagnostics"]
    assert diagnostics["enabled"] is True
    assert diagnostics["loaded_skill_count"] == 0
    assert diagnostics["notes"]


@ERAS
@pytest.mark.parametrize("method", ["prompts/list", "prompts/get"])
def test_without_prompts_the_methods_do_not_exist(home: None, era: str, method: str) -> None:
    with served(enable_prompts=False) as server:
        error = ask(server, era, method, {"name": "x"} if method.endswith("get") else None)["error"]
        assert error["code"] == METHOD_NOT_FOUND
        assert "Method not found" in error["message"]
        assert "prompts" not in introduced(server)


def introduced(server: Served) -> dict[str, Any]:
    client = server.client()
    capabilities: dict[str, Any] = client.initialize()["result"]["capabilities"]
    client.close()
    return capabilities


def test_initialize_says_that_the_list_may_change(server: Served) -> None:
    assert introduced(server)["prompts"] == {"listChanged": True}


@ERAS
def test_a_registered_prompt_is_served_replaced_and_taken_away(server: Served, era: str) -> None:
    prompts = server.app.prompts
    prompts.register_prompt("bake", "Bakes.", [{"name": "start", "required": True}], "{{start}}")
    params = {"name": "bake", "arguments": {"start": "7"}}
    assert ask(server, era, "prompts/get", params)["result"]["messages"][0]["content"] == {
        "type": "text",
        "text": "7",
    }
    prompts.register_prompt("bake", "Bakes.", template="again")
    assert ask(server, era, "prompts/get", params)["result"]["messages"][0]["content"] == {
        "type": "text",
        "text": "again",
    }
    prompts.unregister_prompt("bake")
    assert ask(server, era, "prompts/get", params)["error"]["code"] == INVALID_PARAMS
    prompts.unregister_prompt("bake")
    prompts.clear()


def test_a_session_hears_that_a_prompt_was_registered(server: Served) -> None:
    with server.client() as client:
        client.listen()
        server.app.prompts.register_prompt("bake", "Bakes.", template="x")
        assert client.wait_for("notifications/prompts/list_changed")


def test_rest_lists_and_renders_prompts(server: Served) -> None:
    base = server.app.url.removesuffix("/mcp") + "/v1/prompts"

    def get(path: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {server.app.token}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers)) as r:
                return r.status, json.load(r)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    status, listed = get("")
    assert (status, listed["total"]) == (200, 1)
    assert listed["diagnostics"]["prompt_count"] == 1
    arguments = urllib.parse.quote(json.dumps({"width": 3}))
    status, rendered = get(f"/bevels.bevel?args={arguments}")
    assert status == 200
    assert rendered["messages"][0]["content"]["text"] == "width=3 segments="
    assert get("/bevels.bevel")[0] == 400
    assert get("/bevels.bevel?args=[]")[0] == 400
    assert get("/nobody")[0] == 404

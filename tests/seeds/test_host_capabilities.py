"""The snippets of the guide "Host Capabilities" work with the import renamed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from callboard.bundles.files.host_resources import CAPABILITY, advertisement
from callboard.bundles.installed.manifest import (
    CapabilityUnavailable,
    check_capabilities,
    read_manifest,
)
from serving import Served, served, text_of

DECLARATION = """
{ "_meta": { "ai.nimblebrain/host": { "host_version": "1.1", "name": "Research",
  "icon": "microscope", "host_capabilities": {
    "ai.nimblebrain/host-resources": { "required": true } } } } }
"""

TOOL = """
from fastmcp import Context
from callboard.extensions import host

@mcp.tool
async def start_research(
    seed_uri: str | None = None,
    seed_data: str | None = None,
    ctx: Context = None,
):
    h = host(ctx)
    if seed_uri and h.available:
        # Host advertised the extension - read the file directly.
        result = await h.read(seed_uri)
        content = result.contents[0].text
    elif seed_data:
        # Inline fallback - common for hosts that don't advertise it.
        content = seed_data
    elif seed_uri and not h.available:
        # The Level-C fallback: tell the agent to retry with inline content.
        raise ValueError(
            "This host doesn't support ai.nimblebrain/host-resources. "
            "Pass file contents inline via `seed_data` instead."
        )
    else:
        raise ValueError("Provide `seed_data` or `seed_uri`.")

    ...  # do work with `content`
    return {"content": content}
"""


def manifest(folder: Path) -> Path:
    base = {
        "manifest_version": "0.3",
        "name": "research",
        "version": "1.0.0",
        "description": "Researches",
        "author": {"name": "A studio"},
    }
    (folder / "manifest.json").write_text(json.dumps({**base, **json.loads(DECLARATION)}))
    return folder


def test_the_declaration_passes_the_gate_of_a_host_that_provides_it(tmp_path: Path) -> None:
    declared = read_manifest(manifest(tmp_path))
    assert declared.capabilities == {CAPABILITY: True}
    assert (declared.host_version, declared.icon) == ("1.1", "microscope")
    assert check_capabilities(declared, [CAPABILITY]) == ()


def test_the_declaration_is_refused_where_nobody_provides_it(tmp_path: Path) -> None:
    declared = read_manifest(manifest(tmp_path))
    with pytest.raises(CapabilityUnavailable, match="nimblebrain/host-resources"):
        check_capabilities(declared, [])


def read(params: dict[str, Any]) -> dict[str, Any]:
    assert params == {"uri": "files://fl_1"}
    return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "seed"}]}


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    # The snippet uses the module only for its annotation.
    fastmcp = ModuleType("fastmcp")
    fastmcp.__dict__["Context"] = object
    monkeypatch.setitem(sys.modules, "fastmcp", fastmcp)
    with served() as running:

        def tool(function: Any) -> Any:
            running.tool(function.__name__, function)
            return function

        exec(TOOL, {"mcp": SimpleNamespace(tool=tool)})
        yield running


def test_the_tool_reads_where_the_host_offers_it(running: Served) -> None:
    offer = {"extensions": {CAPABILITY: advertisement()}}
    with running.client(offer, {"ai.nimblebrain/resources/read": read}) as client:
        result = client.call("start_research", {"seed_uri": "files://fl_1"})
        assert result["structuredContent"] == {"content": "seed"}


def test_the_tool_falls_back_where_it_does_not(running: Served) -> None:
    with running.client() as client:
        inline = client.call("start_research", {"seed_data": "inline"})
        assert inline["structuredContent"] == {"content": "inline"}
        told = client.call("start_research", {"seed_uri": "files://fl_1"})
        assert told["isError"] is True
        assert "Pass file contents inline via `seed_data` instead." in text_of(told)
        neither = client.call("start_research")
        assert "Provide `seed_data` or `seed_uri`." in text_of(neither)

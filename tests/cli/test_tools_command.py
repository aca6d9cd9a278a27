"""``callboard tools``: the tools of a running host."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import time
from typing import Any

import pytest

from callboard.transport.instances import Instance, announce
from callboard_programs.cli import main
from serving import served

SCHEMA = {
    "type": "object",
    "properties": {
        "shot": {"type": "string", "description": "Its \x1b[31mname"},
        "takes": {"type": ["integer", "null"], "default": 1},
        "keys": {
            "type": "array",
            "items": {"type": "object", "properties": {"frame": {}, "value": {}}},
            "description": "What to key.",
            "default": [],
        },
        "colour": {"enum": ["red", "blue"]},
        "rest": True,
    },
    "required": ["shot"],
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))


def test_every_tool_that_serve_counted_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with served(announce=True) as server:
        server.tool("publish", lambda: None, SCHEMA, title="Publish a shot")
        server.tool("barred", lambda: None, required_capabilities=["teleport"])
        count = server.app.service.count_tools()
        assert main(["tools"]) == 0
        lines = [line.split("  ", 1) for line in capsys.readouterr().out.splitlines()]
        assert len(lines) == count
        told = {name.strip(): what.strip() for name, what in lines}
        assert told["publish"] == "Publish a shot"
        assert told["barred"].endswith("(unavailable: teleport missing)")
        assert main(["tools", "--json"]) == 0
        assert {each["name"] for each in json.loads(capsys.readouterr().out)} == set(told)


def test_one_tells_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with served(announce=True) as server:
        server.tool("publish", lambda: None, SCHEMA)
        assert main(["tools", "publish"]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert shown[:2] == ["publish", "Does publish."]
        assert "  shot: string, required. Its \ufffd[31mname" in shown
        assert "  takes: integer or null. Default: `1`" in shown
        keys = "array of object of `frame`, `value`. What to key. Default: `[]`"
        assert f"  keys: {keys}" in shown
        assert "  colour: `red` or `blue`" in shown
        assert "  rest: anything" in shown
        assert main(["tools", "publish", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["inputSchema"]["required"] == ["shot"]
        assert main(["tools", "publihs"]) == 1
        assert "unknown tool 'publihs'; nearest: publish" in capsys.readouterr().err


@pytest.mark.parametrize("running", [0, 2])
def test_which_host_is_meant_must_be_clear(
    running: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def started(left: int) -> Any:
        if not left:
            return main(["tools"])
        with served(announce=True):
            return started(left - 1)

    assert started(running) == 1
    told = capsys.readouterr().err
    assert "choose one with --instance" in told if running else "`callboard serve`" in told


def test_instances_of_one_kind_are_told_apart_by_their_scenes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, now = "http://127.0.0.1:1/mcp", time()
    for later, name in enumerate(("shot.usda", "set\x1b.usda")):
        who = (name[:3], "openusd", "OpenUSD", url, None, os.getpid(), now + later)
        announce(Instance(*who, scene=f"/{name}"))
    assert main(["tools"]) == 1
    told = capsys.readouterr().err
    assert "sho (openusd, shot.usda), set (openusd, set\ufffd.usda)" in told
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("  ")[2] for line in lines] == ["shot.usda", "set\ufffd.usda"]


def test_each_tool_has_one_line_whatever_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    with served(announce=True) as server:
        server.tool("publish", lambda: None, SCHEMA, title="Publish\nscene__open  Is harmless")
        server.tool("long", lambda: None, SCHEMA, title="x" * 40_000)
        assert main(["tools"]) == 0
        told = capsys.readouterr().out.splitlines()
        assert len(told) == server.app.service.count_tools()
        assert max(map(len, told)) < 300

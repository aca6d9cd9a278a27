"""Bundles of published servers, packed by the official packer, installed and used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from callboard.bundles.installed.install_folders import user_bundles
from callboard.bundles.installed.manifest import HOST_KEY
from callboard_programs.cli import main
from e2e.client_environments import npm_with, python_with
from serving import Served, served, text_of
from waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MCPB = "@anthropic-ai/mcpb@2"
FILESYSTEM = "@modelcontextprotocol/server-filesystem"
#: A platform other than this one.
ELSEWHERE = "darwin" if sys.platform == "win32" else "win32"
EVERYTHING = "@modelcontextprotocol/server-everything"


class Packed(NamedTuple):
    """A bundle to be packed: its command, its settings, and the rest of its manifest."""

    command: list[str]
    settings: Mapping[str, Any]
    more: Mapping[str, Any]


def packed(folder: Path, name: str, bundle: Packed, *, ending: str, signed: bool = False) -> Path:
    """Pack the bundle with the official packer, and also sign it if ``signed``. Return the
    archive."""
    source = folder / f"{name}-source"
    source.mkdir()
    (source / "entry.js").write_text("")
    program, *args = bundle.command
    settings = {
        key: {"title": key, "description": key, **value} for key, value in bundle.settings.items()
    }
    fields = {
        "manifest_version": "0.3",
        "name": name,
        "version": "1.0.0",
        "description": f"Is {name}",
        "author": {"name": "A studio"},
        "server": {
            "type": "node",
            "entry_point": "entry.js",
            "mcp_config": {"command": program, "args": args},
        },
        "user_config": settings,
        **bundle.more,
    }
    (source / "manifest.json").write_text(json.dumps(fields))
    archive = folder / f"{name}.{ending}"
    mcpb = npm_with(MCPB) / "node_modules" / ".bin" / "mcpb"
    run(mcpb, "pack", source, archive)
    if signed:
        run(mcpb, "sign", "--self-signed", archive)
    return archive


def run(*command: object) -> None:
    done = subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def node_server(package: str) -> str:
    return str(npm_with(package) / "node_modules" / package / "dist" / "index.js")


def bundles(folder: Path) -> dict[str, tuple[Packed, str, bool]]:
    """Return the bundles by name, each with its archive's file extension and whether the archive is
    signed."""
    python = python_with("mcp-server-time", "mcp-server-git")
    every = {
        "label": {"type": "string", "default": "a label"},
        "count": {"type": "number", "default": 3, "min": 1, "max": 9},
        "loud": {"type": "boolean", "default": False},
        "model": {"type": "file"},
    }
    given = [f"--{key}=${{user_config.{key}}}" for key in ("label", "count", "loud")]
    dirs = {"dirs": {"type": "directory", "required": True, "multiple": True}}
    zone = {"zone": {"type": "string", "default": "Europe/Vienna"}}
    tell = ["-m", "mcp_server_time", "--local-timezone=${user_config.zone}"]
    files = ["node", node_server(FILESYSTEM), "${user_config.dirs}"]
    everything = ["node", node_server(EVERYTHING), "stdio", *given, "${user_config.model}"]
    lacking = {"host_version": "1.1", "host_capabilities": {"com.example/x": {"required": True}}}
    return {
        "folders": (Packed(files, dirs, {}), "mcpb", False),
        "everything": (Packed(everything, every, {}), "dxt", False),
        "clock": (Packed([python, *tell], zone, {}), "mcpb", True),
        "git": (Packed([python, "-m", "mcp_server_git"], {}, {}), "dxt", True),
        "unanswered": (Packed(files, dirs, {}), "mcpb", True),
        "astray": (Packed(["no-such-program"], {}, {}), "mcpb", False),
        "wishful": (Packed(["node", "x"], {}, {"_meta": {HOST_KEY: lacking}}), "mcpb", False),
        "elsewhere": (
            Packed(["node", "x"], {}, {"compatibility": {"platforms": [ELSEWHERE]}}),
            "dxt",
            False,
        ),
    }


def works(running: Served, folder: Path) -> None:
    for tool in ("folders__list_directory", "everything__echo", "clock__get_current_time"):
        until(lambda tool=tool: tool in running.app.tools, tool)
    until(lambda: "git__git_status" in running.app.tools, "git")
    with running.client() as client:
        listed = client.call("folders__list_directory", {"path": str(folder / "given")})
        assert "notes.md" in text_of(listed)
        assert "hello" in text_of(client.call("everything__echo", {"message": "hello"}))
        now = client.call("clock__get_current_time", {"timezone": "Europe/Vienna"})
        assert "Europe/Vienna" in text_of(now)
        # The manifest names no repository.
        assert client.call("git__git_status", {"repo_path": str(folder)})["isError"]
    keeper = running.app.bundles.keeper
    until(
        lambda: [why for one, why in keeper.in_use() if one.name == "astray" and why],
        "why it isn't loaded",
    )
    (why,) = [why for one, why in keeper.in_use() if one.name == "astray"]
    assert "no-such-program" in str(why)


def test_eight_bundles_work_or_are_refused_with_the_reason(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "notes.md").write_text("# notes")
    archives = {
        name: packed(tmp_path, name, bundle, ending=ending, signed=signed)
        for name, (bundle, ending, signed) in bundles(tmp_path).items()
    }
    answers = {"folders": ["--set", f"dirs={given}", "--set", f"dirs={tmp_path}"]}
    refused: dict[str, str] = {}
    for name, archive in archives.items():
        status = main(["install-skill", str(archive), *answers.get(name, [])])
        printed = capsys.readouterr()
        if status:
            refused[name] = printed.err
    assert sorted(refused) == ["elsewhere", "unanswered", "wishful"]
    assert "--set dirs=" in refused["unanswered"]
    assert "com.example/x" in refused["wishful"]
    assert ELSEWHERE in refused["elsewhere"]
    for hosts in (1, 2):
        with ExitStack() as stack:
            for running in [stack.enter_context(served(skills=True)) for _ in range(hosts)]:
                works(running, tmp_path)
    names = [bundle.name for bundle in user_bundles().installed()]
    assert names == ["astray", "clock", "everything", "folders", "git"]

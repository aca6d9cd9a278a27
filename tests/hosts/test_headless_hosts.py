"""``callboard serve`` as a separate process: under mayapy, hython or 3dsmaxbatch, or on their
doubles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from callboard_programs.client import Client
from needed import need

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]
#: The one file that 3dsmaxbatch runs.
BATCH = PROJECT / "hosts/callboard_max/bundle/Contents/batch/callboard_batch.py"


def missing_capabilities(tools: list[dict[str, Any]]) -> dict[str, list[str]]:
    hints = {tool["name"]: tool.get("_meta", {}).get("dcc", {}) for tool in tools}
    return {
        name: dcc["missing_capabilities"]
        for name, dcc in hints.items()
        if dcc.get("missing_capabilities")
    }


@pytest.mark.parametrize(
    ("rig", "command", "path"),
    [
        ("maya", ["-m", "callboard", "serve", "--host", "maya"], "|Ring"),
        ("houdini", ["-m", "callboard", "serve", "--host", "houdini"], "/obj/Ring"),
        ("max", ["-m", "callboard", "serve", "--host", "3dsmax"], "/Ring"),
        ("max", [str(BATCH)], "/Ring"),
    ],
    ids=["maya", "houdini", "3dsmax", "3dsmaxbatch"],
)
def test_it_serves_a_scene_and_ends(
    rig: str, command: list[str], path: str, tmp_path: Path
) -> None:
    if rig != "maya":
        need("pxr")
    module = import_module(f"{rig}_rig")
    double = getattr(module, "DOUBLE", None) or module.DOUBLES
    # Houdini's double shares modules with Maya's, which are in the folder next to it.
    doubles = [] if module.REAL else [double, double.parent]
    paths = [PROJECT / "core", PROJECT / "hosts", *doubles]
    environment = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "CALLBOARD_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        assert ready, process.communicate(timeout=20)[1]
        with Client(ready["url"], ready["token"]) as client:
            arguments = {"kind": "torus", "name": "Ring"}
            call = {"name": "scene__create_primitive", "arguments": arguments}
            made = client.request("tools/call", call)["structuredContent"]
            assert made["created"] == [path]
            loading = {"name": "skills__load", "arguments": {"name": "usd"}}
            client.request("tools/call", loading)
            tools = client.request("tools/list", {})["tools"]
        missing = missing_capabilities(tools)
        assert missing["viewport__capture"] == ["viewport"]
        assert missing["script__execute"] == ["script.execute"]
        assert "scene__transform" not in missing
        # In Maya, this port needs a plug-in, which isn't loaded.
        assert ("usd__import_usd" in missing) == (rig == "maya")
        process.terminate()
        _, errors = process.communicate(timeout=30)
        # Windows has no signal that a process could handle.
        assert process.returncode == 0 or os.name == "nt", errors
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

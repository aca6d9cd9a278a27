"""``callboard serve --host 3dsmax``: a process of its own, under 3dsmaxbatch or on the double."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pxr", reason="this Python has no OpenUSD")

from max_rig import BUNDLE, DOUBLE, REAL

from callboard.transport.client import Client

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]


BATCH = BUNDLE / "Contents/batch/callboard_batch.py"


@pytest.mark.parametrize(
    "command",
    [["-m", "callboard", "serve", "--host", "3dsmax"], [str(BATCH)]],
    ids=["cli", "batch"],
)
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to end it with")
def test_it_serves_a_scene_and_ends(command: list[str], tmp_path: Path) -> None:
    paths = [str(PROJECT / "core"), str(PROJECT / "hosts"), *([] if REAL else [str(DOUBLE)])]
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CALLBOARD_HOME": str(tmp_path)},
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        assert ready, process.communicate(timeout=20)[1]
        with Client(ready["url"], ready["token"]) as client:
            arguments = {"kind": "torus", "name": "Ring"}
            call = {"name": "scene__create_primitive", "arguments": arguments}
            made = client.request("tools/call", call)["structuredContent"]
            assert made["created"] == ["/Ring"]
            tools = client.request("tools/list", {})["tools"]
        missing = {
            tool["name"]: tool["_meta"]["dcc"]["missing_capabilities"]
            for tool in tools
            if tool.get("_meta", {}).get("dcc", {}).get("missing_capabilities")
        }
        assert missing["viewport__capture"] == ["viewport"]
        assert missing["script__execute"] == ["script.execute"]
        assert "usd__import_usd" not in missing
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

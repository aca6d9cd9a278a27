"""A headless Blender with the add-on serves until Ctrl+C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from blender_program import blender_environment
from needed import needs

pytestmark = [
    pytest.mark.slow,
    needs("blender"),
    pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C can't be sent to one process"),
]


def test_one_ctrl_c_ends_it_in_order(blender_archive: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(blender_archive).extractall(tmp_path / "scripts" / "addons")
    data = tmp_path / "callboard"
    environment = {
        **os.environ,
        **blender_environment(),
        "BLENDER_USER_CONFIG": str(tmp_path / "config"),
        "BLENDER_USER_SCRIPTS": str(tmp_path / "scripts"),
        "CALLBOARD_HOME": str(data),
        "PYTHONUNBUFFERED": "1",
    }
    serve = "import bpy; bpy.ops.callboard.serve()"
    command = ["blender", "-b", "--addons", "callboard_addon", "--python-expr", serve]
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "callboard is running at" in line:
                    break
            assert "callboard is running at" in lines[-1], lines
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "callboard ends" in rest
    assert process.returncode == 0
    assert not list(data.rglob("instances/*.json"))

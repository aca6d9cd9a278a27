from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from needed import need

need("qt")

need("pxr")

from callboard_testing.fake_client import FakeClient

pytestmark = pytest.mark.slow

PATIENCE = 60


def serve(home: Path, platform: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "callboard", "serve", "--ui"],
        env={**os.environ, "CALLBOARD_HOME": str(home), "QT_QPA_PLATFORM": platform},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to end it with")
def test_a_headless_host_with_the_panel_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    process = serve(tmp_path, "offscreen")
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        with FakeClient(ready["url"], ready["token"]) as client:
            client.call("scene__create_primitive", {"kind": "cube", "name": "box"})
            assert "box" in json.dumps(client.call("scene__list_objects"))
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert "Traceback" not in output


def test_where_qt_finds_no_screen_it_says_what_to_install(tmp_path: Path) -> None:
    process = serve(tmp_path, "no-such-platform")
    _, output = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Qt can't open a window" in output

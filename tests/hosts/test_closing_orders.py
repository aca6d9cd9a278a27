from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from needed import need
from python_path import python_path

pytestmark = pytest.mark.slow

need("qt")


HERE = Path(__file__).parent


def test_window_panel_and_plug_in_close_in_every_order(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", HERE / "closing_orders.py"],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "CALLBOARD_HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([python_path(), str(HERE / "doubles")]),
        },
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "closed in every order\n"
    assert "Traceback" not in done.stderr

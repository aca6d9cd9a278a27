"""The index of an OpenUSD stage's objects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from needed import need


def test_a_look_up_that_was_interrupted_anywhere_leaves_the_index_right() -> None:
    need("pxr")
    program = Path(__file__).with_name("interrupted_look_ups.py")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr

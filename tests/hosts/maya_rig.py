"""Maya for tests: the real one under ``mayapy``, else the double. Import this before ``maya``."""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import maya.standalone

    maya.standalone.initialize(name="python")
    REAL = True
except ImportError:
    sys.path.insert(0, str(Path(__file__).parent / "doubles"))
    REAL = False

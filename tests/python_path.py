"""Where a Python that a test starts finds what this one finds."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def python_path() -> str:
    """For ``PYTHONPATH``. Without what Blender put in front when a test loaded it here: the
    ``bpy`` among that is half of one, which another Python mustn't find first."""
    try:
        inside = Path(str(distribution("bpy").locate_file("bpy")))
    except PackageNotFoundError:
        return os.pathsep.join(filter(None, sys.path))
    return os.pathsep.join(path for path in sys.path if path and inside not in Path(path).parents)

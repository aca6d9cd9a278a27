"""The import path for a Python that a test starts."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def python_path() -> str:
    """Return a value for ``PYTHONPATH``. It leaves out the folders that Blender put in front when a
    test loaded it in this process. Their ``bpy`` is incomplete, and a different Python must not
    find it first."""
    try:
        inside = Path(str(distribution("bpy").locate_file("bpy")))
    except PackageNotFoundError:
        return os.pathsep.join(filter(None, sys.path))
    return os.pathsep.join(path for path in sys.path if path and inside not in Path(path).parents)

"""The environment for a Blender that was installed as a program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def blender_environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """``variables`` without what belongs to the Python of these tests.

    A Blender that uses the system's Python looks for its standard library beside the first
    ``python3`` on the path, so its own folder goes first.
    """
    kept = {name: v for name, v in variables.items() if not name.startswith("PYTHON")}
    if (program := shutil.which("blender")) is not None:
        folder = str(Path(program).resolve().parent)
        kept["PATH"] = os.pathsep.join([folder, variables.get("PATH", os.defpath)])
    return kept

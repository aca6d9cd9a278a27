"""Blender as an installed program, as opposed to the module bpy."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import platformdirs

#: Where Mesa keeps compiled shaders. In the folder of a test they would be compiled for each window
#: again, which takes eight seconds of a processor.
SHADERS = str(platformdirs.user_cache_path("callboard-tests", appauthor=False) / "mesa")


def blender_environment(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return ``variables`` without those that configure the Python that runs these tests, and with
    the place for shaders.

    A Blender that uses the system's Python looks for its standard library next to the first
    ``python3`` on the path, so Blender's own folder is put first.
    """
    kept = {name: v for name, v in variables.items() if not name.startswith("PYTHON")}
    if (program := shutil.which("blender")) is not None:
        folder = str(Path(program).resolve().parent)
        kept["PATH"] = os.pathsep.join([folder, variables.get("PATH", os.defpath)])
    kept["MESA_SHADER_CACHE_DIR"] = SHADERS
    return kept


@contextmanager
def blender_in_a_window(
    variables: Mapping[str, str], display: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start Blender as a user does, without a file, and kill it after the block."""
    process = subprocess.Popen(
        ["blender", "-noaudio", "--window-geometry", "0", "0", "480", "360"],
        env={**blender_environment(variables), "DISPLAY": display},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(60.0)

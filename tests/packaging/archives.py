"""The archives that ``packaging/build.py`` makes, built once for all tests, or taken from the
folder that ``CALLBOARD_ARCHIVES`` names. Tests under Wine need that folder, because the Python
there has no pip to build with."""

from __future__ import annotations

import importlib
import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from build import HOSTS
from build_requirements import BuildError

_folder = TemporaryDirectory(prefix="callboard-built-")


@cache
def built(host: str) -> list[Path]:
    """Return the archives for that host. Skips the test if the package index can't be reached."""
    if folder := os.environ.get("CALLBOARD_ARCHIVES"):
        # In the order of the build script, Blender's archive for older versions comes last.
        return sorted(Path(folder).glob(f"callboard-{host}-*.zip"), reverse=True)
    try:
        return build(host, Path(_folder.name))
    except BuildError as error:
        if "pip could not fetch" in str(error):
            pytest.skip(str(error))
        raise


def build(host: str, out: Path) -> list[Path]:
    paths: list[Path] = importlib.import_module(HOSTS[host]).build(out, False)
    return paths

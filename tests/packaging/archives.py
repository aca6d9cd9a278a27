"""What ``packaging/build.py`` makes, built once for all the tests that look at it."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from build import HOSTS
from build_requirements import BuildError

_folder = TemporaryDirectory(prefix="callboard-built-")


@cache
def built(host: str) -> list[Path]:
    """The archives for that host; the test is skipped where the index can't be reached."""
    try:
        return build(host, Path(_folder.name))
    except BuildError as error:
        if "pip could not fetch" in str(error):
            pytest.skip(str(error))
        raise


def build(host: str, out: Path) -> list[Path]:
    paths: list[Path] = importlib.import_module(HOSTS[host]).build(out, False)
    return paths

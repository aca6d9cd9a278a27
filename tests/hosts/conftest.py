"""Inside an application its own Python modules are found first; elsewhere the doubles are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "doubles"))


if room := os.environ.get("CALLBOARD_BLENDER_ROOM"):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", f"{room}/tmp")


@pytest.fixture(scope="session")
def blender_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The add-on for Blender 3.4 to 4.1, light."""
    from build_requirements import BuildError
    from hosts.blender_gui_rig import build_addon

    try:
        return build_addon(tmp_path_factory.mktemp("archive"))
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """A screen of our own."""
    from hosts.blender_gui_rig import screen

    with screen() as name:
        yield name

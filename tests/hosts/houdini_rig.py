"""Houdini for tests: Houdini itself under ``hython``, or else the double."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from needed import need

DOUBLE = Path(__file__).parent / "doubles" / "houdini"
if find_spec("hou") is None:
    sys.path.append(str(DOUBLE))

import hou

REAL = DOUBLE not in Path(hou.__file__ or "").parents
if not REAL:
    # Import it now, while its folder is on the path.
    import hdefereval  # noqa: F401

#: The package as installed in Houdini.
PACKAGE = Path(__file__).parents[2] / "hosts/callboard_houdini/package/packages/callboard"


def new_houdini(*, windows: bool) -> None:
    """Begin with an empty scene, in a Houdini with or without a GUI. hython never has a GUI."""
    if REAL:
        hou.hipFile.clear(suppress_save_prompt=True)
        return
    if windows:
        # Houdini has its own version.
        need("qt")
    hou._reset(windows=windows)


def houdini_host(post: Callable[[Callable[[], None]], None]) -> closing[Any]:
    from callboard_houdini.host import HoudiniHost

    return closing(HoudiniHost(post))

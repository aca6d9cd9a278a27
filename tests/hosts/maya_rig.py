"""Maya for tests: Maya itself under ``mayapy``, or else the double."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import maya
import maya.standalone

DOUBLES = Path(__file__).parent / "doubles"
REAL = DOUBLES not in Path(maya.__file__ or "").parents

#: The file that Maya's Plug-in Manager loads.
PLUGIN = (
    Path(__file__).parents[2] / "hosts/callboard_maya/module/plug-ins/callboard_plugin.py"
).as_posix()


def new_maya(*, batch: bool) -> None:
    """Begin with an empty scene, in a Maya with or without a GUI. mayapy never has a GUI."""
    if REAL:
        from maya import cmds

        if not hasattr(cmds, "about"):
            maya.standalone.initialize(name="python")
        cmds.file(new=True, force=True)
        return
    from maya._session import session

    session.reset(batch=batch)


def maya_host(post: Callable[[Callable[[], None]], None]) -> closing[Any]:
    from callboard_maya.host import MayaHost

    return closing(MayaHost(post))

"""Maya without a GUI, under ``mayapy``. Its main thread waits for posted functions and runs
them."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import TYPE_CHECKING

import maya.standalone
from maya import cmds

if TYPE_CHECKING:
    from callboard_maya.host import MayaHost


def make_host(post: Callable[[Callable[[], None]], None]) -> MayaHost:
    """Start Maya in this process if it isn't running yet, and return its host."""
    # Before Maya is initialized, it has hardly any commands.
    if not hasattr(cmds, "about"):
        maya.standalone.initialize(name="python")
        # Without this, some versions of Maya don't exit.
        atexit.register(maya.standalone.uninitialize)
    from callboard_maya.host import MayaHost

    return MayaHost(post)

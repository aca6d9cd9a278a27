"""Actions that the self-test performs as the artist would, in 3ds Max."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pymxs
from pymxs import runtime as rt

from callboard_qt import later


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them. 3ds Max doesn't list the values that a
    property accepts, so there are no menus."""
    return {"undo": pymxs.run_undo, "play": _play}


def _play(seconds: float) -> None:
    rt.playAnimation(immediateReturn=True)
    later(seconds, rt.stopAnimation)

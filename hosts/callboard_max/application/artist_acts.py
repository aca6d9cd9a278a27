"""The self-test's actions in the artist's place, in 3ds Max."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pymxs
from pymxs import runtime as rt


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them. 3ds Max doesn't list the words that a
    property accepts, so there are no menus."""
    return {"undo": pymxs.run_undo, "play": _play}


def _play(seconds: float) -> None:
    from qtpy.QtCore import QTimer  # 3dsmaxbatch may have no Qt.

    rt.playAnimation(immediateReturn=True)
    QTimer.singleShot(round(1000 * seconds), rt.stopAnimation)

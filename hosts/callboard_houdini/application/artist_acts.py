"""Actions that the self-test performs as the artist would, in Houdini."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import hou

from callboard_qt import later

#: The node types whose parameters the adapter sets.
_OBJECTS = ("cam", "envlight", "geo", "hlight")
_SHAPES = ("box", "grid", "sphere", "torus", "tube", "normal", "subdivide", "xform")
_RENDERERS = ("ifd", "opengl")


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them."""
    return {"undo": hou.undos.performUndo, "play": _play, "menus": _menus}


def _play(seconds: float) -> None:
    hou.playbar.play()
    later(seconds, hou.playbar.stop)


def _menus() -> dict[str, dict[str, list[str]]]:
    menus = {}
    for category, names in (
        (hou.objNodeTypeCategory(), _OBJECTS),
        (hou.sopNodeTypeCategory(), _SHAPES),
        (hou.ropNodeTypeCategory(), _RENDERERS),
    ):
        known = category.nodeTypes()
        for name in names:
            if name in known:
                menus[f"{category.name()}/{name}"] = {
                    each.name(): list(each.menuItems())
                    for each in known[name].parmTemplates()
                    if isinstance(each, (hou.MenuParmTemplate, hou.StringParmTemplate))
                    and each.menuItems()
                }
    return menus

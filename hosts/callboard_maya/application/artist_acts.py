"""Actions that the self-test performs as the artist would, in Maya."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from maya import cmds

from callboard_qt import later

#: The attributes that the adapter sets to one of Maya's named choices, by node type.
_MENUS = {
    "areaLight": "decayRate",
    "bump2d": "bumpInterp",
    "camera": "filmFit",
    "mesh": "displaySmoothMesh",
    "pointLight": "decayRate",
    "spotLight": "decayRate",
}
_RENDERER = "defaultRenderGlobals.currentRenderer"


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them."""
    return {
        "undo": cmds.undo,
        "play": _play,
        "renderers": _renderers,
        "use_renderer": lambda name: cmds.setAttr(_RENDERER, name, type="string"),
        "menus": _menus,
    }


def _play(seconds: float) -> None:
    cmds.play(state=True)
    later(seconds, lambda: cmds.play(state=False))


def _renderers() -> list[str]:
    arnold = ["arnold"] if cmds.pluginInfo("mtoa", query=True, loaded=True) else []
    return ["mayaSoftware", "mayaHardware2", *arnold]


def _menus() -> dict[str, dict[str, list[str]]]:
    menus: dict[str, dict[str, list[str]]] = {}
    for kind, attribute in _MENUS.items():
        words: Any = cmds.attributeQuery(attribute, type=kind, listEnum=True)
        menus[kind] = {attribute: str(words[0]).split(":") if words else []}
    return menus

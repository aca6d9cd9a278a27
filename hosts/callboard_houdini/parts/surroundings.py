"""The scene's environment, which is an environment light, for the ``lights`` port.

A new picture or color goes to callboard's own light. The artist's lights are switched off and stay
in the file. If only the strength or rotation is set, the first environment light that is on
changes, even if it is the artist's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import Json
from callboard_houdini.application.names import objects, root
from callboard_houdini.application.units import up_axis
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.parts.parms import (
    number,
    numbers,
    parm,
    parm_tuple,
    refuse_keyed,
    set_numbers,
)

#: The user data that marks the light that we made.
_OURS = "callboard_environment"
_NAMES = ("light_intensity", "light_exposure", "light_color", "env_map", "light_enable", "r")


def read(domes: Sequence[hou.ObjNode]) -> Json:
    reported: Json = dict.fromkeys(("path", "color", "sun_elevation", "strength", "rotate"))
    if not domes:
        return {"kind": "none", **reported}
    dome = domes[0]
    exposure = number(parm(dome, "light_exposure"))
    reported["strength"] = number(parm(dome, "light_intensity")) * 2**exposure
    reported["rotate"] = numbers(parm_tuple(dome, "r"))[_up()]
    reported["path"] = str(parm(dome, "env_map").evalAsString()) or None
    if reported["path"] is None:
        reported["color"] = numbers(parm_tuple(dome, "light_color"))
    if len(domes) > 1:
        reported["doubt"] = f"{len(domes)} environment lights add up; this is only '{dome.path()}'"
    return {"kind": "image" if reported["path"] else "color", **reported}


def write(domes: Sequence[hou.ObjNode], values: Mapping[str, Any]) -> None:
    if "sun_elevation" in values:
        raise HostError(
            "callboard can't add a sky to Houdini's environment light; set path to an HDRI instead"
        )
    if "path" in values or "color" in values:
        dome = _our_dome() or _new()
        for other in domes:
            if other != dome:
                # The light stays in the scene, so it can be switched on again.
                _may_set(other)
                parm(other, "light_enable").set(0)
    elif not domes:
        raise HostError("the scene has no environment yet; give path or color as well")
    else:
        dome = domes[0]
    _may_set(dome)
    if "path" in values or "color" in values:
        parm(dome, "light_enable").set(1)
        parm(dome, "env_map").set(str(values.get("path", "")))
        set_numbers(parm_tuple(dome, "light_color"), values.get("color", [1.0] * 3))
    if "strength" in values:
        parm(dome, "light_intensity").set(float(values["strength"]))
        parm(dome, "light_exposure").set(0.0)
    if "rotate" in values:
        turns = [0.0, 0.0, 0.0]
        turns[_up()] = float(values["rotate"])
        set_numbers(parm_tuple(dome, "r"), turns)


def _up() -> int:
    """Return the index of the axis that points up."""
    return "XYZ".index(up_axis())


def _may_set(dome: hou.ObjNode) -> None:
    refuse_inside_asset(dome, values_only=True)
    refuse_keyed(dome, _NAMES)


def _our_dome() -> hou.ObjNode | None:
    marked = (node for node in objects() if node.userData(_OURS) is not None)
    return next(marked, None)


def _new() -> hou.ObjNode:
    dome = root().createNode("envlight", "Environment")
    assert isinstance(dome, hou.ObjNode)
    dome.setUserData(_OURS, "1")
    return dome

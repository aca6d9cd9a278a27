"""The scene's environment for the ``lights`` port. The environment is an Arnold dome. The artist's
domes are hidden and stay in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_maya.application.names import parent_of
from callboard_maya.parts import textures, transforms
from callboard_maya.parts.arnold import DOME, make
from callboard_maya.parts.plugs import refuse_driven

#: An attribute of the dome that we made.
_OURS = "callboardEnvironment"
#: Suffixes of pictures with linear light.
_LINEAR = (".hdr", ".exr")


def read() -> Json:
    domes = _shining()
    reported: Json = dict.fromkeys(("path", "color", "sun_elevation", "strength", "rotate"))
    if not domes:
        return {"kind": "none", **reported}
    dome, path = domes[0], _object(domes[0])
    exposure = float(cmds.getAttr(f"{dome}.aiExposure"))
    reported["strength"] = float(cmds.getAttr(f"{dome}.intensity")) * 2**exposure
    reported["rotate"] = transforms.read(path)[1][_up()]
    picture = textures.read(f"{dome}.color")
    if picture is None:
        reported["color"] = [float(part) for part in cmds.getAttr(f"{dome}.color")[0]]
        kind = "color"
    else:
        reported["path"] = picture["path"]
        kind = "image" if reported["path"] else "other"
    if len(domes) > 1:
        reported["doubt"] = f"{len(domes)} domes add up; this is only '{path}'"
    return {"kind": kind, **reported}


def write(values: Mapping[str, Any]) -> None:
    if "sun_elevation" in values:
        raise HostError("callboard can't add a sky to Arnold's dome; set path to an HDRI instead")
    replaces, domes = "path" in values or "color" in values, _shining()
    if not replaces and not domes:
        raise HostError("the scene has no environment yet; give path or color as well")
    dome = _our_dome() or _new() if replaces else domes[0]
    path = _object(dome)
    refuse_driven(path, [f"{dome}.intensity", f"{dome}.aiExposure", f"{path}.visibility"])
    if replaces:
        for other in domes:
            if other != dome:
                # The dome stays in the scene, so it can be unhidden again.
                _show(other, False)
        _show(dome, True)
        _surround(dome, values)
    if "strength" in values:
        cmds.setAttr(f"{dome}.intensity", float(values["strength"]))
        cmds.setAttr(f"{dome}.aiExposure", 0.0)
    if "rotate" in values:
        transforms.write(path, None, _turned(float(values["rotate"])), None)


def _surround(dome: str, values: Mapping[str, Any]) -> None:
    """Set a picture or a color."""
    plug = f"{dome}.color"
    if "path" in values:
        file = str(values["path"])
        linear = Path(file).suffix.lower() in _LINEAR
        textures.connect(plug, "environment", Texture(file, "raw" if linear else "srgb"))
    else:
        textures.clear(plug)
        cmds.setAttr(plug, *values["color"], type="double3")


def _shining() -> list[str]:
    return list(cmds.ls(type=DOME, long=True, visible=True) or [])


def _our_dome() -> str | None:
    marked = (
        dome
        for dome in cmds.ls(type=DOME, long=True) or []
        if cmds.attributeQuery(_OURS, node=dome, exists=True)
    )
    return next(marked, None)


def _new() -> str:
    path, dome = make(DOME, "Environment")
    cmds.addAttr(dome, longName=_OURS, dataType="string")
    transforms.write(path, None, _turned(0.0), None)
    return dome


def _show(dome: str, shown: bool) -> None:
    plug = f"{_object(dome)}.visibility"
    if bool(cmds.getAttr(plug)) != shown:
        refuse_driven(_object(dome), [plug])
        cmds.setAttr(plug, shown)


def _object(dome: str) -> str:
    return parent_of(dome) or dome


def _up() -> int:
    """Return the index of the axis that points up."""
    return "xyz".index(str(cmds.upAxis(query=True, axis=True)).lower())


def _turned(about: float) -> list[float]:
    """Return the rotation of the dome. The dome is upright if Y is up, and must be tilted if Z is
    up."""
    return [0.0, about, 0.0] if _up() == 1 else [90.0, 0.0, about]

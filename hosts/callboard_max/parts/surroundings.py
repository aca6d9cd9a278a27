"""The scene's environment for the ``lights`` port. The environment is an Arnold dome.

A new picture or color goes to callboard's own dome. The artist's domes and environment map are
switched off and stay in the file. Setting only the strength or rotation changes the first dome that
is on, even if it is the artist's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard_max.application.names import Node, free_name, handle, objects, path_of
from callboard_max.parts import transforms
from callboard_max.parts.arnold import is_arnold, kind_of, make
from callboard_max.parts.driven_values import refuse_controlled
from callboard_max.parts.scene_memory import lasting_memory, memory

#: Suffixes of pictures with linear light.
_LINEAR = (".hdr", ".exr")


def read() -> Json:
    """Return the environment from the first dome that is on, in the form that the ``lights`` port
    reports."""
    domes = _shining()
    reported: Json = dict.fromkeys(("path", "color", "sun_elevation", "strength", "rotate"))
    if not domes:
        mapped = bool(rt.useEnvironmentMap) and rt.environmentMap is not None
        return {"kind": "other" if mapped else "none", **reported}
    dome = domes[0]
    reported["strength"] = float(dome.intensity) * 2 ** float(dome.exposure)
    reported["rotate"] = float(transforms.read(dome)[1][2])
    source = dome.texmap if dome.useTexmap else None
    if source is None:
        reported["color"] = [
            float(part) / 255 for part in (dome.color.r, dome.color.g, dome.color.b)
        ]
        kind = "color"
    else:
        pictured = str(rt.classOf(source)).lower() == "bitmaptexture"
        reported["path"] = (str(source.filename or "") or None) if pictured else None
        kind = "image" if reported["path"] else "other"
    if len(domes) > 1:
        reported["doubt"] = f"{len(domes)} domes add up; this is only '{path_of(dome)}'"
    return {"kind": kind, **reported}


def write(values: Mapping[str, Any]) -> None:
    """Set the given values of path, color, strength and rotate."""
    if "sun_elevation" in values:
        raise HostError("callboard can't add a sky to Arnold's dome; set path to an HDRI instead")
    replaces, domes = "path" in values or "color" in values, _shining()
    if not replaces and not domes:
        raise HostError("the scene has no environment yet; give path or color as well")
    dome = _our_dome() if replaces else domes[0]
    # All checks come before the first change.
    picture = _picture(str(values["path"])) if "path" in values else None
    if dome is None:
        dome = _new()
    else:
        refuse_controlled(dome, ("intensity", "exposure", "color"))
    if replaces:
        for other in domes:
            if handle(other) != handle(dome):
                # The dome stays in the scene, so it can be switched on again.
                other.on = False
        rt.useEnvironmentMap = False
        dome.on = True
    if picture is not None:
        dome.texmap, dome.useTexmap = picture, True
        dome.color = rt.Color(255, 255, 255)
    elif "color" in values:
        dome.useTexmap = False
        dome.color = rt.Color(*(float(part) * 255 for part in values["color"]))
    if "strength" in values:
        dome.intensity, dome.exposure = float(values["strength"]), 0.0
    if "rotate" in values:
        transforms.write(dome, None, [0.0, 0.0, float(values["rotate"])], None)


def _picture(path: str) -> Any:
    made = rt.BitmapTexture(filename=path)
    if made.bitmap is None:
        raise HostError(f"3ds Max can't read the picture '{Path(path).name}'")
    made.bitmap.gamma = 1.0 if Path(path).suffix.lower() in _LINEAR else 2.2
    return made


def _shining() -> list[Node]:
    lights = [node for node in objects() if str(rt.superClassOf(node)).lower() == "light"]
    return [node for node in lights if is_arnold(node) and kind_of(node) == "dome" and node.on]


def _our_dome() -> Node | None:
    kept = memory()
    return kept.environment if kept is not None else None


def _new() -> Node:
    dome = make("dome", free_name("Environment"))
    lasting_memory().environment = dome
    return dome

"""The ``scene.read`` port: reading the scene."""

from __future__ import annotations

from collections.abc import Iterator

from maya import cmds

from callboard.host import Json
from callboard_maya.application.names import bare, find, parent_of, paths
from callboard_maya.parts import transforms
from callboard_maya.parts.frames import frames_per_second
from callboard_maya.parts.object_color import read_color
from callboard_maya.parts.shapes import kind_of
from callboard_maya.parts.units import units_per_meter


class MayaSceneReader:
    def info(self) -> Json:
        return {
            "file": cmds.file(query=True, sceneName=True) or None,
            "modified": bool(cmds.file(query=True, modified=True)),
            "units_per_meter": units_per_meter(),
            "up_axis": str(cmds.upAxis(query=True, axis=True)).upper(),
            "frame_range": [
                cmds.playbackOptions(query=True, minTime=True),
                cmds.playbackOptions(query=True, maxTime=True),
            ],
            "fps": frames_per_second(),
            "object_count": len(paths()),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return paths()

    def get(self, name: str) -> Json:
        path = find(name)
        translate, rotate, scale = transforms.read(path)
        return {
            **_summary(path),
            "children": cmds.listRelatives(path, children=True, type="transform", fullPath=True)
            or [],
            "translate": translate,
            "rotate": rotate,
            "scale": scale,
            "visible": is_visible(path),
            "color": read_color(path),
            "bounds": _bounds(path),
        }

    def summaries(self) -> Iterator[Json]:
        for path in paths():
            yield _summary(path)

    def selection(self) -> list[str]:
        """Return the selection. The owner of a selected shape, or of a selected part of one, is
        considered selected."""
        selected = cmds.ls(selection=True, long=True, objectsOnly=True) or []
        own = set(cmds.ls(selected, type="transform", long=True) or []) if selected else set()
        # A node without a path is a material, or another node that isn't visible in the scene.
        owners = (n if n in own else parent_of(n) for n in selected if n.startswith("|"))
        return list(dict.fromkeys(owner for owner in owners if owner))


def _summary(path: str) -> Json:
    return {"name": bare(path), "path": path, "type": kind_of(path), "parent": parent_of(path)}


def is_visible(path: str) -> bool:
    """Return whether the object and everything above it are visible. Their display layers count
    too, because the layers work through drawing overrides."""
    above: str | None = path
    while above:
        if not cmds.getAttr(f"{above}.visibility"):
            return False
        overridden = cmds.getAttr(f"{above}.overrideEnabled")
        if overridden and not cmds.getAttr(f"{above}.overrideVisibility"):
            return False
        above = parent_of(above)
    return True


def _bounds(path: str) -> Json | None:
    box = [float(value) for value in cmds.exactWorldBoundingBox(path)]
    low, high = box[:3], box[3:]
    # The box of an object without a shape is inside out.
    if any(a > b for a, b in zip(low, high, strict=True)):
        return None
    return {"min": low, "max": high}

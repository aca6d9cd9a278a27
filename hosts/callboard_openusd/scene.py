"""Reading the stage: the port ``scene.read``."""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Gf, Usd, UsdGeom

from callboard.host import Json
from callboard_openusd.document import Document
from callboard_openusd.layout import children_of, objects, parent_of
from callboard_openusd.materials import read_color
from callboard_openusd.shapes import kind_of
from callboard_openusd.transforms import TIME, read

_PURPOSES = [UsdGeom.Tokens.default_, UsdGeom.Tokens.render, UsdGeom.Tokens.proxy]
#: All that a spec says which is there for the sake of those below it.
_OVER = ["specifier"]


class UsdSceneReader:
    def __init__(self, document: Document) -> None:
        self._document = document

    def info(self) -> Json:
        opened, stage = self._document.opened, self._document.stage
        authored = stage.HasAuthoredTimeCodeRange()
        return {
            "file": opened.file,
            "modified": opened.modified,
            "units_per_meter": 1 / UsdGeom.GetStageMetersPerUnit(stage),
            "up_axis": str(UsdGeom.GetStageUpAxis(stage)).upper(),
            "frame_range": [stage.GetStartTimeCode(), stage.GetEndTimeCode()] if authored else None,
            "fps": stage.GetTimeCodesPerSecond(),
            "object_count": self._document.names.count,
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return [str(prim.GetPath()) for prim in objects(self._document.stage)]

    def get(self, name: str) -> Json:
        prim = self._document.names.find(name)
        placed = read(prim)
        visibility = UsdGeom.Imageable(prim).ComputeVisibility(TIME)
        doubt = self._doubt(prim)
        return {
            **_summary(prim),
            **({"doubt": doubt} if doubt else {}),
            "children": [str(child.GetPath()) for child in children_of(prim)],
            "translate": list(placed.translate),
            "rotate": list(placed.rotate),
            "scale": list(placed.scale),
            "visible": visibility != UsdGeom.Tokens.invisible,
            "color": read_color(prim),
            "bounds": _bounds(prim),
        }

    def summaries(self) -> Iterator[Json]:
        return (_summary(prim) for prim in objects(self._document.stage))

    def selection(self) -> list[str]:
        opened = self._document.opened
        found = (opened.stage.GetPrimAtPath(path) for path in opened.selection)
        return [str(prim.GetPath()) for prim in found if prim and prim.IsActive()]

    def _doubt(self, prim: Usd.Prim) -> str | None:
        """What is seen is composed of the layer that is saved, the files it refers to, and, where
        a script wrote to it, the session layer, which nobody saves."""
        stage = self._document.stage
        if muted := stage.GetMutedLayers():
            return f"the layer '{muted[0]}' is muted here, and isn't where the file is opened"
        session = stage.GetSessionLayer()
        own = session.GetPrimAtPath(prim.GetPath())
        above = (session.GetPrimAtPath(path) for path in prim.GetPath().GetPrefixes()[:-1])
        if own or any(spec and (spec.properties or spec.ListInfoKeys() != _OVER) for spec in above):
            return "the session layer, which isn't saved, has opinions on it"
        return None


def _summary(prim: Usd.Prim) -> Json:
    parent = parent_of(prim)
    return {
        "name": prim.GetName(),
        "path": str(prim.GetPath()),
        "type": kind_of(prim),
        "parent": str(parent.GetPath()) if parent else None,
    }


def _bounds(prim: Usd.Prim) -> Json | None:
    box = UsdGeom.BBoxCache(TIME, _PURPOSES).ComputeWorldBound(prim).ComputeAlignedRange()
    return None if box.IsEmpty() else {"min": _list(box.GetMin()), "max": _list(box.GetMax())}


def _list(point: Gf.Vec3d) -> list[float]:
    return [float(value) for value in point]

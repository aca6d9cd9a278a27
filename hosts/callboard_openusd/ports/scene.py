"""The ``scene.read`` port: reading the stage."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from pxr import Gf, Sdf, Usd, UsdGeom

from callboard.host import Json
from callboard_openusd.application.document import Document, telling
from callboard_openusd.application.layout import children_of, parent_of
from callboard_openusd.parts.details import details
from callboard_openusd.parts.object_color import read_color
from callboard_openusd.parts.shapes import kind_of
from callboard_openusd.parts.transforms import TIME, read
from callboard_openusd.parts.whole_object import whole

_PURPOSES = [getattr(UsdGeom.Tokens, name) for name in ("default_", "render", "proxy", "guide")]
#: The only content of a spec whose sole purpose is to contain other specs.
_OVER = ["specifier"]
#: Number of list entries that are made together.
_TOGETHER = 50


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
            "object_count": len(self._document.names.paths),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return [str(path) for path in self._document.names.paths]

    @telling("read that")
    def get(self, name: str) -> Json:
        prim = self._document.names.find(name)
        placed = read(prim)
        visibility = UsdGeom.Imageable(prim).ComputeVisibility(TIME)
        why = doubt(self._document.stage, prim)
        return {
            **_summary(prim),
            **({"doubt": why} if why else {}),
            "children": [str(child.GetPath()) for child in children_of(prim)],
            "translate": _list(placed.translate),
            "rotate": _list(placed.rotate),
            "scale": _list(placed.scale),
            "visible": visibility != UsdGeom.Tokens.invisible,
            "color": read_color(prim),
            "bounds": _bounds(prim),
        }

    @telling("read that")
    def details(self, name: str) -> Json:
        return details(self._document.names.find(name))

    @telling("read that")
    def whole(self, name: str, users: bool = False) -> Json:
        """Return the facts that ``get`` and ``details`` leave out, such as the prim's layers, the
        prims that it uses, and why it isn't visible. OpenUSD doesn't record which prims use a prim,
        so ``users`` adds nothing. Use ``scene__find`` with ``uses`` to find them."""
        return whole(self._document.names.find(name))

    def summaries(self) -> Sequence[Json]:
        return _Summaries(self._document.stage, self._document.names.paths)

    def selection(self) -> list[str]:
        opened = self._document.opened
        selected = (opened.stage.GetPrimAtPath(path) for path in opened.selection)
        return [str(prim.GetPath()) for prim in selected if prim and prim.IsActive()]


def doubt(stage: Usd.Stage, prim: Usd.Prim) -> str | None:
    """Return why the saved file may contain a different state of the prim, or None. The visible
    state is composed of the layer that is saved, the files that it refers to, and the session
    layer. The session layer, to which a script may have written, is never saved, and neither is
    the muting of layers."""
    if muted := stage.GetMutedLayers():
        return f"the layer '{muted[0]}' is muted here, but won't be when the file is opened again"
    session = stage.GetSessionLayer()
    own = session.GetPrimAtPath(prim.GetPath())
    above = (session.GetPrimAtPath(path) for path in prim.GetPath().GetPrefixes()[:-1])
    if own or any(spec and (spec.properties or spec.ListInfoKeys() != _OVER) for spec in above):
        return "the session layer, which isn't saved, has opinions on it"
    return None


class _Summaries(Sequence[Json]):
    """The scene's list of objects. Its entries are made on access, so that the cost of a page
    depends only on its own length. If an object has been removed by then, its entry has only the
    name."""

    def __init__(self, stage: Usd.Stage, paths: Sequence[Sdf.Path]) -> None:
        self._stage = stage
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> Json: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...
    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]:
        if isinstance(index, slice):
            return _Summaries(self._stage, self._paths[index])
        return next(self._reported([self._paths[index]]))

    def __iter__(self) -> Iterator[Json]:
        for start in range(0, len(self._paths), _TOGETHER):
            yield from list(self._reported(self._paths[start : start + _TOGETHER]))

    def named(self, fits: Callable[[str], bool]) -> _Summaries:
        return _Summaries(self._stage, [path for path in self._paths if fits(path.name)])

    def _reported(self, paths: Sequence[Sdf.Path]) -> Iterator[Json]:
        """Yield the entries at these paths. They are made together, so that the parent of several
        siblings is looked up only once."""
        above: dict[Sdf.Path, str | None] = {}
        for path in paths:
            prim = self._stage.GetPrimAtPath(path)
            if not prim:
                yield {"name": path.name, "path": str(path), "type": "prim", "parent": None}
                continue
            holder = path.GetParentPath()
            if holder not in above:
                parent = parent_of(prim)
                above[holder] = str(parent.GetPath()) if parent else None
            yield _reported(path, prim, above[holder])


def _summary(prim: Usd.Prim) -> Json:
    parent = parent_of(prim)
    return _reported(prim.GetPath(), prim, str(parent.GetPath()) if parent else None)


def _reported(path: Sdf.Path, prim: Usd.Prim, parent: str | None) -> Json:
    return {"name": path.name, "path": str(path), "type": kind_of(prim), "parent": parent}


def _bounds(prim: Usd.Prim) -> Json | None:
    # An object that is hidden, or is below a hidden object, has bounds too.
    cache = UsdGeom.BBoxCache(TIME, _PURPOSES, useExtentsHint=False, ignoreVisibility=True)
    box = cache.ComputeWorldBound(prim).ComputeAlignedRange()
    if box.IsEmpty():
        return None
    low, high = _list(box.GetMin()), _list(box.GetMax())
    # Geometry with NaN or infinite coordinates has no box.
    return {"min": low, "max": high} if all(map(math.isfinite, low + high)) else None


def _list(point: Gf.Vec3d) -> list[float]:
    # Iterating would make OpenUSD look for a fourth element as well, which is the slowest part.
    return [point[0], point[1], point[2]]

"""The ``structure`` port: groups, empties and visibility. A group is a scope with a collection of
objects, which OpenUSD updates when they are renamed or moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pxr import Sdf, Usd, UsdGeom

from callboard.errors import HostError
from callboard.host import AmbiguousName, GroupNotFound, nearest_names
from callboard_openusd.application.document import Document, UsdPort, telling
from callboard_openusd.application.layout import home, parent_of
from callboard_openusd.parts.instances import owned
from callboard_openusd.parts.transforms import TIME, set_lasting
from callboard_openusd.ports.edit import identifier

#: The scope of new groups, and the collection that makes a prim a group.
_SCOPE, _COLLECTION = "Groups", "objects"
_INVISIBLE = UsdGeom.Tokens.invisible


class UsdStructure(UsdPort):
    def __init__(self, document: Document, opened: Callable[[], None]) -> None:
        super().__init__(document)
        self._opened = opened

    def new(self) -> None:
        self._document.open_new()
        self._opened()

    @telling("create that")
    def create_empty(self, name: str | None) -> str:
        path = self._document.opened.free_path(home(self._stage), identifier(name or "Empty"))
        UsdGeom.Xform.Define(self._stage, path)
        return str(path)

    @telling("show or hide that")
    def set_visible(self, name: str, visible: bool) -> str:
        prim = owned(self._document.names.find(name))
        above = parent_of(prim)
        if visible and above and _hidden(above):
            raise HostError(
                f"'{prim.GetName()}' is below '{above.GetName()}', which is hidden; show the"
                " parent first"
            )
        if _hidden(prim) is visible:
            value = UsdGeom.Tokens.inherited if visible else _INVISIBLE
            set_lasting(UsdGeom.Imageable(prim).CreateVisibilityAttr(), value)
        return str(prim.GetPath())

    def groups(self) -> Mapping[str, str]:
        return {
            str(prim.GetPath()): prim.GetName()
            for prim in self._stage.Traverse()
            if prim.HasAPI(Usd.CollectionAPI, _COLLECTION)
        }

    @telling("read that group")
    def members(self, group: str) -> list[str]:
        targets = self._find(group).GetIncludesRel().GetTargets()
        return [str(path) for path in targets if self._stage.GetPrimAtPath(path)]

    @telling("create that group")
    def create_group(self, name: str | None) -> str:
        scope = home(self._stage).AppendChild(_SCOPE)
        stem = identifier(name or "Group")
        if not self._stage.GetPrimAtPath(scope):
            UsdGeom.Scope.Define(self._stage, scope)
        path = self._document.opened.free_path(scope, stem)
        prim = UsdGeom.Scope.Define(self._stage, path).GetPrim()
        Usd.CollectionAPI.Apply(prim, _COLLECTION).CreateIncludesRel()
        return str(path)

    @telling("add that")
    def add(self, group: str, objects: Sequence[str]) -> str:
        collection = self._find(group)
        paths = [self._document.names.find(name).GetPath() for name in objects]
        includes = collection.CreateIncludesRel()
        known = set(includes.GetTargets())
        for path in paths:
            if path not in known:
                includes.AddTarget(path)
        return str(collection.GetPrim().GetPath())

    @telling("take that out")
    def remove(self, group: str, objects: Sequence[str]) -> str:
        collection = self._find(group)
        paths = [self._document.names.find(name).GetPath() for name in objects]
        known = set(collection.GetIncludesRel().GetTargets())
        for path in paths:
            if path in known:
                collection.GetIncludesRel().RemoveTarget(path)
        return str(collection.GetPrim().GetPath())

    def _find(self, group: str) -> Usd.CollectionAPI:
        groups = self.groups()
        path = group if group in groups else None
        if path is None:
            named = [each for each, name in groups.items() if name == group]
            if len(named) > 1:
                raise AmbiguousName(group, named)
            if not named:
                raise GroupNotFound(group, nearest_names(group, groups.values()))
            path = named[0]
        return Usd.CollectionAPI(self._stage.GetPrimAtPath(Sdf.Path(path)), _COLLECTION)


def _hidden(prim: Usd.Prim) -> bool:
    return bool(UsdGeom.Imageable(prim).ComputeVisibility(TIME) == _INVISIBLE)

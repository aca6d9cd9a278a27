"""An index from an object's name, path or position in the scene to its prim, which saves walking
the stage for every call."""

from __future__ import annotations

from contextlib import suppress

from pxr import Sdf, Usd, UsdGeom

from callboard.host import AmbiguousName, ObjectNotFound, nearest_names
from callboard_openusd.application.layout import WORLD, is_object, objects_in
from callboard_openusd.application.patch import ROOT

#: The distance that entries may drift from their counted positions before all are counted again.
_DRIFT = 1000
#: Setting this property turns the prim that is the scene itself into an object.
_WORLDS_PLACE = WORLD.AppendProperty(UsdGeom.Tokens.xformOpOrder)


class NameIndex:
    """The objects in scene order, and paths by bare name. The index is built at the first look-up.
    Each later look-up applies the changes since the last one, so its cost depends on their number.

    The objects below a prim are next to each other, so a subtree is one slice of the list. The
    search for a slice starts near the position that it had when the list was last counted.
    """

    def __init__(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self._counted = False
        self._order: list[Sdf.Path] = []
        #: True once a caller has been given the list, which must not change after that.
        self._given = False
        #: Every prim at the time of the count, and whether it is an object. The list is emptied
        #: once a position is needed.
        self._walked: list[tuple[Sdf.Path, bool]] = []
        #: The position of each prim at the time of the count, even if the prim isn't an object.
        self._places: dict[Sdf.Path, int] = {}
        #: Paths by bare name, or None until a bare name is looked up.
        self._named: dict[str, list[Sdf.Path]] | None = None
        self._drift = 0
        self._pending: set[Sdf.Path] = set()

    def prims_changed(self, path: Sdf.Path) -> None:
        """Record that the prim at ``path``, with everything below it, has appeared, disappeared or
        changed its type."""
        if self._counted:
            self._pending.add(path)

    def property_changed(self, path: Sdf.Path) -> None:
        """Record that the property at ``path`` has appeared, disappeared or changed its value."""
        if path == _WORLDS_PLACE:
            self.prims_changed(WORLD)

    @property
    def paths(self) -> list[Sdf.Path]:
        """Every object, parents before children, siblings in scene order. Don't change the list."""
        self._catch_up()
        self._given = True
        return self._order

    def _catch_up(self) -> None:
        if self._pending and (ROOT in self._pending or self._far()):
            self._counted = False
        if not self._counted:
            self._count_all()
        elif self._pending:
            changed = Sdf.Path.RemoveDescendentPaths(sorted(map(self._ordered, self._pending)))
            self._counted = False  # A call that is interrupted here leaves the work half done.
            self._pending.clear()
            if ROOT in changed:
                self._count_all()
            else:
                if self._given:
                    self._order, self._given = list(self._order), False
                self._place_all()
                for path in changed:
                    self._replace(path)
                self._counted = True

    def find(self, name: str) -> Usd.Prim:
        """Return the object with that bare name or full path. Raises ObjectNotFound or
        AmbiguousName."""
        if name.startswith("/"):
            prim = self._stage.GetPrimAtPath(name) if Sdf.Path.IsValidPathString(name) else None
            if prim and _is_there(prim) and is_object(prim):
                return prim
        elif namesakes := self._by_name().get(name):
            if len(namesakes) > 1:
                raise AmbiguousName(name, [str(path) for path in namesakes[:10]])
            return self._stage.GetPrimAtPath(namesakes[0])
        raise ObjectNotFound(name, nearest_names(name, self._by_name()))

    def _by_name(self) -> dict[str, list[Sdf.Path]]:
        self._catch_up()
        if self._named is None:
            named: dict[str, list[Sdf.Path]] = {}
            for path in self._order:
                named.setdefault(path.name, []).append(path)
            self._named = named
        return self._named

    def _ordered(self, path: Sdf.Path) -> Sdf.Path:
        """Return the path, or the path of the highest prim above it that orders its children.
        Adding or removing a prim below such a prim may move the prim's siblings."""
        above = self._stage.GetPrimAtPath(path.GetParentPath())
        while above and above.HasAuthoredMetadata("primOrder"):
            path = above.GetPath()
            above = above.GetParent()
        return path

    def _far(self) -> bool:
        return self._drift > _DRIFT + len(self._order) // 20

    def _count_all(self) -> None:
        prims = list(self._stage.Traverse())
        paths = list(map(Usd.Prim.GetPath, prims))
        kinds = list(map(Usd.Prim.GetTypeName, prims))
        placed = {kind: prims[kinds.index(kind)].IsA(UsdGeom.Xformable) for kind in set(kinds)}
        walked = list(zip(paths, map(placed.__getitem__, kinds), strict=True))
        self._order, self._given = [path for path, placed in walked if placed], False
        world = self._stage.GetPrimAtPath(WORLD)
        # The path is in the list at most once, and near the start, so removing it costs less than
        # checking every path.
        if world and world.IsA(UsdGeom.Xformable) and not is_object(world):
            with suppress(ValueError):
                self._order.remove(WORLD)
        self._walked, self._places, self._named = walked, {}, None
        self._pending.clear()
        self._drift = 1  # The counted positions include the prim that is the scene itself.
        self._counted = True

    def _place_all(self) -> None:
        """Compute each prim's position from the recorded walk, once."""
        walked, self._walked = self._walked, []
        place = 0
        for path, placed in walked:
            self._places[path] = place
            place += placed

    def _replace(self, path: Sdf.Path) -> None:
        """Replace the entries at and below ``path`` with the current ones."""
        start, stop = self._piece(path)
        for gone in self._order[start:stop]:
            if self._named is not None:
                same = self._named[gone.name]
                same.remove(gone)
                if not same:
                    del self._named[gone.name]
            del self._places[gone]
        del self._order[start:stop]
        self._drift += stop - start
        prim = self._stage.GetPrimAtPath(path)
        if not prim or not _is_reached(prim):
            self._places.pop(path, None)
            return
        place = self._place_of(prim)
        paths: list[Sdf.Path] = []
        for each in Usd.PrimRange(prim):
            self._places[each.GetPath()] = place + len(paths)
            if is_object(each):
                paths.append(each.GetPath())
        self._order[place:place] = paths
        self._drift += len(paths)
        if self._named is not None:
            for path in paths:
                self._named.setdefault(path.name, []).append(path)

    def _piece(self, path: Sdf.Path) -> tuple[int, int]:
        """Return the range of indices of the objects at and below ``path``."""
        place = self._places.get(path)
        if place is None:
            return 0, 0
        order = self._order
        low, high = max(0, place - self._drift), min(len(order), place + self._drift + 1)
        start = next((i for i in range(low, high) if order[i].HasPrefix(path)), high)
        stop = start
        while stop < len(order) and order[stop].HasPrefix(path):
            stop += 1
        return start, stop

    def _place_of(self, prim: Usd.Prim) -> int:
        """Return the index of the first object after the prim and everything below it."""
        above = prim
        while above and not above.IsPseudoRoot():
            after = above.GetNextSibling()
            while after:
                # Some of these objects may be new and not have a position yet.
                for first in objects_in(after):
                    start, stop = self._piece(first.GetPath())
                    if start < stop:
                        return start
                after = after.GetNextSibling()
            above = above.GetParent()
        return len(self._order)


def _is_there(prim: Usd.Prim) -> bool:
    """Return whether the prim is in the scene. Class prims aren't, nor are inactive prims, nor an
    ``over`` on a prim that nothing defines."""
    return bool(prim.IsActive() and prim.IsDefined() and not prim.IsAbstract())


def _is_reached(prim: Usd.Prim) -> bool:
    """Return whether a walk over the stage reaches the prim."""
    return _is_there(prim) and not prim.IsInPrototype() and not prim.IsInstanceProxy()

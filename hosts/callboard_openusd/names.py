"""From an object's name, or path, to its prim, without walking the stage for every call."""

from __future__ import annotations

from pxr import Sdf, Usd

from callboard.host import AmbiguousName, ObjectNotFound, nearest_names
from callboard_openusd.layout import is_object, objects, objects_in


class NameIndex:
    """Bare names to paths. Built at the first look-up, extended when prims appear, and built anew
    after anything else happened to one it knows."""

    def __init__(self, stage: Usd.Stage) -> None:
        self._stage = stage
        self._paths: dict[str, list[Sdf.Path]] | None = None
        self._known: set[Sdf.Path] = set()

    def prims_changed(self, path: Sdf.Path) -> None:
        """The prim at ``path``, and all below it, appeared, went or became something else."""
        if self._paths is None:
            return
        if path == Sdf.Path.absoluteRootPath or path in self._known or not self._extend(path):
            self._paths = None

    def _extend(self, path: Sdf.Path) -> bool:
        prim = self._stage.GetPrimAtPath(path)
        if not prim or not _is_there(prim):
            return False
        added = list(objects_in(prim))
        if any(found.GetPath() in self._known for found in added):
            return False
        for found in added:
            self._add(found)
        return True

    def _add(self, prim: Usd.Prim) -> None:
        assert self._paths is not None
        self._known.add(prim.GetPath())
        self._paths.setdefault(prim.GetName(), []).append(prim.GetPath())

    def _table(self) -> dict[str, list[Sdf.Path]]:
        if self._paths is None:
            self._paths, self._known = {}, set()
            for prim in objects(self._stage):
                self._add(prim)
        return self._paths

    @property
    def count(self) -> int:
        self._table()
        return len(self._known)

    def find(self, name: str) -> Usd.Prim:
        """The object of that bare name or full path. Raises ObjectNotFound, AmbiguousName."""
        if name.startswith("/"):
            prim = self._stage.GetPrimAtPath(name) if Sdf.Path.IsValidPathString(name) else None
            if prim and _is_there(prim) and is_object(prim):
                return prim
        else:
            paths = self._table().get(name, [])
            if len(paths) > 1:
                raise AmbiguousName(name, [str(path) for path in paths[:10]])
            if paths:
                return self._stage.GetPrimAtPath(paths[0])
        raise ObjectNotFound(name, nearest_names(name, self._table()))


def _is_there(prim: Usd.Prim) -> bool:
    """Whether the scene has it: not a class to inherit from, not an opinion on a missing prim."""
    return bool(prim.IsActive() and prim.IsDefined() and not prim.IsAbstract())

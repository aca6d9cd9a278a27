"""Making one layer hold, at some paths, exactly what another holds there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pxr import Sdf

ROOT = Sdf.Path.absoluteRootPath


@dataclass(frozen=True)
class Patch:
    """What ``layer`` has at ``paths`` is to be copied; where it has nothing, removed. ``places``
    says at which index among its siblings a prim that isn't the last one belongs."""

    layer: Sdf.Layer
    paths: tuple[Sdf.Path, ...]
    places: dict[Sdf.Path, int]

    def apply(self, target: Sdf.Layer) -> None:
        if ROOT in self.paths:
            target.TransferContent(self.layer)
            return
        for path in self.paths:
            _copy(path, self.layer, target)
        for path, place in sorted(self.places.items(), key=lambda item: item[1]):
            _place(path, place, target)


def difference(paths: Iterable[Sdf.Path], wanted: Sdf.Layer, present: Sdf.Layer) -> Patch:
    """What makes ``present`` like ``wanted`` at ``paths``; refers to ``wanted``."""
    specs = {_spec_path(path, wanted, present) for path in paths}
    least = tuple(Sdf.Path.RemoveDescendentPaths(sorted(specs)))
    places = {}
    for path in least:
        spec = wanted.GetObjectAtPath(path) if path.IsPrimPath() else None
        if spec is None or present.GetObjectAtPath(path) is not None:
            continue
        siblings = spec.nameParent.nameChildren
        if siblings[-1].name != spec.name:
            places[path] = siblings.index(spec.name)
    return Patch(wanted, least, places)


def keep(patch: Patch) -> Patch:
    """The same with a layer of its own, so that the one it was taken from may change."""
    kept = Sdf.Layer.CreateAnonymous(".usda")
    if ROOT in patch.paths:
        kept.TransferContent(patch.layer)
    else:
        for path in patch.paths:
            _copy(path, patch.layer, kept)
    return Patch(kept, patch.paths, patch.places)


def _spec_path(path: Sdf.Path, wanted: Sdf.Layer, present: Sdf.Layer) -> Sdf.Path:
    """The prim, or plain property, to copy for a change reported at ``path``."""
    if path.IsAbsoluteRootOrPrimPath():
        return path
    prim = path.GetPrimPath()
    if not path.IsPrimPropertyPath():
        return prim
    # A property that only one side has changes the prim's list, whose order is part of the scene.
    if wanted.GetObjectAtPath(path) is not None and present.GetObjectAtPath(path) is None:
        return prim
    return path


def _copy(path: Sdf.Path, source: Sdf.Layer, target: Sdf.Layer) -> None:
    if source.GetObjectAtPath(path) is not None:
        Sdf.CreatePrimInLayer(target, path.GetPrimPath())
        Sdf.CopySpec(source, path, target, path)
        return
    spec = target.GetObjectAtPath(path)
    if spec is None:
        return
    if path.IsPrimPath():
        del spec.nameParent.nameChildren[spec.name]
    else:
        spec.owner.RemoveProperty(spec)


def _place(path: Sdf.Path, place: int, target: Sdf.Layer) -> None:
    # Moving a prim to another index under its own name is refused, so it goes by way of another.
    aside = path.ReplaceName(f"{path.name}__moving")
    moves = Sdf.BatchNamespaceEdit()
    moves.Add(Sdf.NamespaceEdit(path, aside, Sdf.NamespaceEdit.atEnd))
    moves.Add(Sdf.NamespaceEdit(aside, path, place))
    target.Apply(moves)

"""Patches that make one layer's content, at some paths, exactly the same as another layer's."""

from __future__ import annotations

from dataclasses import dataclass, field

from pxr import Sdf

from callboard_openusd.application.copy_spec import copy_spec

ROOT = Sdf.Path.absoluteRootPath


@dataclass
class ChangedPaths:
    """Paths that may have changed. ``whole`` are paths with everything below them; ``fields`` are
    prims, or the root, whose own metadata alone has changed."""

    whole: set[Sdf.Path] = field(default_factory=set)
    fields: set[Sdf.Path] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.whole or self.fields)

    def clear(self) -> None:
        self.whole.clear()
        self.fields.clear()


@dataclass(frozen=True)
class Patch:
    """A copy of the content of ``layer`` at ``paths``. Where ``layer`` has no content, the target's
    content is removed. For ``fields`` only the metadata is copied. ``rebuilt`` are paths whose
    content has a different order. This content is removed before the copy, because a copy over
    existing content would keep the old order. ``places`` is each prim's index among its
    siblings."""

    layer: Sdf.Layer
    paths: tuple[Sdf.Path, ...]
    fields: tuple[Sdf.Path, ...]
    rebuilt: tuple[Sdf.Path, ...]
    places: dict[Sdf.Path, int]

    def __bool__(self) -> bool:
        return bool(self.paths or self.fields)

    def apply(self, target: Sdf.Layer) -> None:
        if ROOT in self.paths:
            target.TransferContent(self.layer)
            return
        for path in self.rebuilt:
            _remove(path, target)
        for path in self.paths:
            _copy(path, self.layer, target)
        for path in self.fields:
            _copy_fields(path, self.layer, target)
        for path, place in sorted(self.places.items(), key=lambda item: item[1]):
            _place(path, place, target)


def difference(touched: ChangedPaths, wanted: Sdf.Layer, present: Sdf.Layer) -> Patch:
    """Return the patch that makes ``present`` like ``wanted`` at the touched paths. The patch
    refers to ``wanted``."""
    specs = {_spec_path(path, wanted, present) for path in touched.whole}
    fields: set[Sdf.Path] = set()
    for path in touched.fields:
        on_both_sides = wanted.GetPrimAtPath(path) and present.GetPrimAtPath(path)
        (fields if path == ROOT or on_both_sides else specs).add(path)
    least = tuple(Sdf.Path.RemoveDescendentPaths(sorted(specs)))
    inside = set(least)
    alone = sorted(path for path in fields if inside.isdisjoint(path.GetPrefixes()))
    if ROOT in inside:
        alone = []
    rebuilt, places = [], {}
    for path in least:
        spec = wanted.GetObjectAtPath(path) if path.IsPrimPath() else None
        there = present.GetObjectAtPath(path)
        if spec is None:
            continue
        if there is not None and not _same_order(spec, there):
            rebuilt.append(path)
        siblings, last = spec.realNameParent.nameChildren, len(spec.realNameParent.nameChildren) - 1
        places[path] = last if siblings[last].name == spec.name else siblings.index(spec.name)
    return Patch(wanted, least, tuple(alone), tuple(rebuilt), places)


def keep(patch: Patch) -> Patch:
    """Return the same patch with its own layer, so that the original layer may change."""
    kept = Sdf.Layer.CreateAnonymous(".usda")
    if ROOT in patch.paths:
        kept.TransferContent(patch.layer)
    else:
        for path in patch.paths:
            _copy(path, patch.layer, kept)
        for path in patch.fields:
            _copy_fields(path, patch.layer, kept)
    return Patch(kept, patch.paths, patch.fields, patch.rebuilt, patch.places)


def _spec_path(path: Sdf.Path, wanted: Sdf.Layer, present: Sdf.Layer) -> Sdf.Path:
    """Return the path of the prim or property to copy for a change reported at ``path``."""
    if path.IsAbsoluteRootOrPrimPath():
        return path
    prim = path.GetPrimPath()
    if not path.IsPrimPropertyPath():
        return prim
    # Adding a property changes the prim's list of properties, whose order is part of the scene.
    if wanted.GetObjectAtPath(path) is not None and present.GetObjectAtPath(path) is None:
        return prim
    return path


def _copy(path: Sdf.Path, source: Sdf.Layer, target: Sdf.Layer) -> None:
    if source.GetObjectAtPath(path) is not None:
        Sdf.CreatePrimInLayer(target, path.GetPrimPath())
        copy_spec(source, path, target, path)
        return
    _remove(path, target)


def _remove(path: Sdf.Path, target: Sdf.Layer) -> None:
    spec = target.GetObjectAtPath(path)
    if spec is None:
        return
    if path.IsPrimPath():
        # Only ``realNameParent`` returns the parent of a root prim.
        del spec.realNameParent.nameChildren[spec.name]
    else:
        spec.owner.RemoveProperty(spec)


def _same_order(wanted: Sdf.PrimSpec, present: Sdf.PrimSpec) -> bool:
    """Return whether both have the same properties and prims, all the way down, in the same order.
    Variants aren't searched. If there are any variants, the answer is False."""
    children = wanted.nameChildren
    return (
        not wanted.variantSets
        and not present.variantSets
        and list(wanted.properties.keys()) == list(present.properties.keys())
        and list(children.keys()) == list(present.nameChildren.keys())
        and all(_same_order(child, present.nameChildren[child.name]) for child in children)
    )


def _copy_fields(path: Sdf.Path, source: Sdf.Layer, target: Sdf.Layer) -> None:
    if path != ROOT:
        Sdf.CreatePrimInLayer(target, path)
    Sdf.CopySpec(source, path, target, path, lambda *_: True, lambda *_: False)


def _place(path: Sdf.Path, place: int, target: Sdf.Layer) -> None:
    siblings = target.GetPrimAtPath(path).realNameParent.nameChildren
    if place < len(siblings) and siblings[place].name == path.name:
        return
    # OpenUSD refuses to move a prim to another index under its own name, so it is renamed in
    # between.
    aside = path.ReplaceName(f"{path.name}__moving")
    moves = Sdf.BatchNamespaceEdit()
    moves.Add(Sdf.NamespaceEdit(path, aside, Sdf.NamespaceEdit.atEnd))
    moves.Add(Sdf.NamespaceEdit(aside, path, place))
    target.Apply(moves)

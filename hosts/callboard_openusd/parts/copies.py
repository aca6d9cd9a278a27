"""Copies a prim as specs in one layer. A copy keeps everything that is composed at the prim,
whichever layers it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pxr import Pcp, Sdf, Usd, UsdUtils

from callboard.errors import HostError
from callboard_openusd.application.copy_spec import copy_spec
from callboard_openusd.application.document import OpenStage
from callboard_openusd.parts.assets import asset_from


def copy(prim: Usd.Prim, opened: OpenStage, target: Sdf.Path) -> None:
    """Copy the prim with everything below it to ``target`` in the root layer. Raises HostError if
    the prim can't be copied."""
    path, layer = prim.GetPath(), opened.layer
    if (above := target.GetParentPath()) != Sdf.Path.absoluteRootPath:
        # The prims above may be in another layer. Without them, the copy would not be listed.
        Sdf.CreatePrimInLayer(layer, above)
    if not _comes_with_an_ancestor(prim.GetPrimIndex().rootNode):
        copy_spec(_merged(prim, opened), path, layer, target)
        return
    stage = Usd.Stage.OpenMasked(layer, Usd.StagePopulationMask([path]))
    flat = stage.Flatten(False)
    if not flat.GetPrimAtPath(path):
        raise HostError(f"'{prim.GetName()}' can't be copied: a relocation puts it where it is")
    copy_spec(flat, path, layer, target)
    if shared := shared_in(flat, stage):
        holder = opened.free_path(target.GetParentPath(), f"{target.name}_Shared")
        Sdf.CreatePrimInLayer(layer, holder)
        moved = {each: holder.AppendChild(each.name) for each in shared}
        for each, place in moved.items():
            copy_spec(flat, each, layer, place)
        for each in (target, holder):
            retarget(layer, each, moved)


def shared_in(flat: Sdf.Layer, stage: Usd.Stage) -> list[Sdf.Path]:
    """Return the root prims that flattening the stage made for the content that its instances
    share."""
    return [spec.path for spec in flat.rootPrims if not stage.GetPrimAtPath(spec.path)]


def retarget(layer: Sdf.Layer, below: Sdf.Path, moved: Mapping[Sdf.Path, Sdf.Path]) -> None:
    """Update targets, connections and references at and below ``below`` after a move."""

    def follow(path: Sdf.Path) -> Sdf.Path:
        for old, new in moved.items():
            if path.HasPrefix(old):
                return path.ReplacePrefix(old, new)
        return path

    def refer(there: Sdf.Reference) -> Sdf.Reference:
        return there if there.assetPath else Sdf.Reference("", follow(there.primPath))

    def visit(path: Sdf.Path) -> None:
        spec = layer.GetObjectAtPath(path)
        if isinstance(spec, Sdf.RelationshipSpec):
            spec.targetPathList.ModifyItemEdits(follow)
        elif isinstance(spec, Sdf.AttributeSpec):
            spec.connectionPathList.ModifyItemEdits(follow)
        elif isinstance(spec, Sdf.PrimSpec) and spec.hasReferences:
            spec.referenceList.ModifyItemEdits(refer)

    layer.Traverse(below, visit)


def _comes_with_an_ancestor(node: Pcp.NodeRef) -> bool:
    """Return whether a reference, variant, relocation or the like of a prim above contributes to
    this one. The prim's own specs don't contain such an arc, so a copy of them would lose its
    content."""
    return any(
        (child.hasSpecs and (child.IsDueToAncestor() or child.arcType == Pcp.ArcTypeRelocate))
        or _comes_with_an_ancestor(child)
        for child in node.children
    )


def _merged(prim: Usd.Prim, opened: OpenStage) -> Sdf.Layer:
    """Return the opinions of all sublayers as one layer. References, variants and payloads stay."""
    path, stage = prim.GetPath(), opened.stage
    local = [layer for layer in stage.GetLayerStack(False) if layer.GetPrimAtPath(path)]
    if local == [opened.layer]:
        return opened.layer
    offsets = {
        spec.layer: offset
        for spec, offset in prim.GetPrimStackWithLayerOffsets()
        if spec.layer in local and spec.path == path
    }
    if any(offset.scale <= 0 for offset in offsets.values()):
        raise HostError(
            f"'{prim.GetName()}' can't be copied, because one of the layers that define it has a"
            " time scale that isn't positive; make timeCodesPerSecond and the sublayers' scales"
            " positive"
        )
    root = Sdf.Layer.CreateAnonymous(".usda")
    sources = {}
    for layer in local:
        part = Sdf.Layer.CreateAnonymous(".usda")
        Sdf.CreatePrimInLayer(part, path)
        copy_spec(layer, path, part, path)
        sources[part] = layer
        root.subLayerPaths.append(part.identifier)
        root.subLayerOffsets[len(root.subLayerPaths) - 1] = offsets.get(layer, Sdf.LayerOffset())

    def found_from(part: Sdf.Layer, asset: str) -> str:
        source = sources.get(part, opened.layer)
        if source == opened.layer or not source.realPath:
            return asset
        return asset_from(asset, Path(source.realPath).parent, opened.folder)

    return UsdUtils.FlattenLayerStack(Usd.Stage.Open(root), found_from)

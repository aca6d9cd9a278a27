"""A prim as specs that one layer can hold: a copy keeps what is composed at the prim, whichever
layers say it."""

from __future__ import annotations

from pathlib import Path

from pxr import Pcp, Sdf, Usd, UsdUtils

from callboard.errors import HostError
from callboard_openusd.assets import asset_from
from callboard_openusd.document import OpenStage


def copy(prim: Usd.Prim, opened: OpenStage, target: Sdf.Path) -> None:
    """Copies the prim with all below it to ``target`` in the root layer. Raises HostError."""
    path = prim.GetPath()
    if _comes_with_an_ancestor(prim.GetPrimIndex().rootNode):
        source = _flattened(opened.layer, path)
    else:
        source = _merged(prim, opened)
    if not Sdf.CopySpec(source, path, opened.layer, target):
        raise HostError(f"'{prim.GetName()}' could not be copied")


def _comes_with_an_ancestor(node: Pcp.NodeRef) -> bool:
    """Whether a reference, variant or the like of a prim above adds to this one: an arc that the
    prim's own specs don't have, so that copying them would lose what it brings."""
    return any(
        (child.hasSpecs and child.IsDueToAncestor()) or _comes_with_an_ancestor(child)
        for child in node.children
    )


def _flattened(layer: Sdf.Layer, path: Sdf.Path) -> Sdf.Layer:
    """What is composed at ``path`` and below, without any arc. Instances are opened first: what
    they share lies elsewhere in a flattened layer."""
    stage = Usd.Stage.OpenMasked(layer, Usd.StagePopulationMask([path]))
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        while shared := [p for p in Usd.PrimRange(stage.GetPrimAtPath(path)) if p.IsInstance()]:
            for prim in shared:
                prim.SetInstanceable(False)
    return stage.Flatten(False)


def _merged(prim: Usd.Prim, opened: OpenStage) -> Sdf.Layer:
    """The opinions of all sublayers as one layer; references, variants and payloads stay."""
    path, stage = prim.GetPath(), opened.stage
    local = [layer for layer in stage.GetLayerStack(False) if layer.GetPrimAtPath(path)]
    if local == [opened.layer]:
        return opened.layer
    offsets = {
        spec.layer: offset
        for spec, offset in prim.GetPrimStackWithLayerOffsets()
        if spec.layer in local and spec.path == path
    }
    root = Sdf.Layer.CreateAnonymous(".usda")
    sources = {}
    for layer in local:
        part = Sdf.Layer.CreateAnonymous(".usda")
        Sdf.CreatePrimInLayer(part, path)
        Sdf.CopySpec(layer, path, part, path)
        sources[part] = layer
        root.subLayerPaths.append(part.identifier)
        root.subLayerOffsets[len(root.subLayerPaths) - 1] = offsets.get(layer, Sdf.LayerOffset())

    def found_from(part: Sdf.Layer, asset: str) -> str:
        source = sources.get(part, opened.layer)
        if source == opened.layer or not source.realPath:
            return asset
        return asset_from(asset, Path(source.realPath).parent, opened.folder)

    return UsdUtils.FlattenLayerStack(Usd.Stage.Open(root), found_from)

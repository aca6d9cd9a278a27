"""Collects the facts about a prim that ``get`` and ``details`` leave out, such as its layers, the
prims that it uses, and why it isn't visible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pxr import Sdf, Usd, UsdGeom

from callboard.host import Json
from callboard_openusd.parts.transforms import TIME

#: Maximum number of entries in a list.
_MOST = 200


def whole(prim: Usd.Prim) -> Json:
    return {
        "schema": str(prim.GetTypeName()),
        "api_schemas": list(prim.GetAppliedSchemas()),
        "kind": str(Usd.ModelAPI(prim).GetKind()),
        "layers": list(dict.fromkeys(_layer(spec.layer) for spec in prim.GetPrimStack())),
        "arcs": list(_arcs(prim)),
        "variants": {
            name: prim.GetVariantSet(name).GetVariantSelection()
            for name in prim.GetVariantSets().GetNames()
        },
        "properties": {
            each.GetName(): str(each.Get(TIME))[:_MOST]
            for each in prim.GetAuthoredAttributes()
            if each.IsCustom() or each.GetName().startswith(("userProperties:", "primvars:"))
        },
        "visibility": _visibility(prim),
        "uses": sorted(_uses(prim)),
    }


def _layer(layer: Sdf.Layer) -> str:
    return Path(layer.realPath).name if layer.realPath else "the scene"


def _arcs(prim: Usd.Prim) -> Iterator[Json]:
    for arc in Usd.PrimCompositionQuery.GetDirectReferences(prim).GetCompositionArcs():
        target = arc.GetTargetLayer()
        kind = arc.GetArcType().displayName
        yield {"arc": kind, "layer": _layer(target), "path": str(arc.GetTargetPrimPath())}
    if prim.HasPayload():
        yield {"arc": "payload", "loaded": prim.IsLoaded()}
    if prim.IsInstance():
        yield {"arc": "instance", "path": str(prim.GetPrototype().GetPath())}


def _visibility(prim: Usd.Prim) -> Json:
    imageable = UsdGeom.Imageable(prim)
    if not imageable:
        return {"shown": False, "why_not_shown": [f"a {prim.GetTypeName()} can't be seen"]}
    purpose = str(imageable.ComputePurpose())
    shown = imageable.ComputeVisibility(TIME) != UsdGeom.Tokens.invisible
    why, at = [], prim
    while at and not at.IsPseudoRoot():
        own = UsdGeom.Imageable(at)
        if own and own.GetVisibilityAttr().Get(TIME) == UsdGeom.Tokens.invisible:
            why.append(f"{at.GetPath()} is invisible")
        at = at.GetParent()
    rendered = shown and purpose in ("default", "render")
    return {"shown": shown, "in_renders": rendered, "purpose": purpose, "why_not_shown": why}


def _uses(prim: Usd.Prim) -> set[str]:
    used = {
        str(target) for each in prim.GetRelationships() for target in each.GetForwardedTargets()
    }
    for each in prim.GetAttributes():
        used.update(str(path.GetPrimPath()) for path in each.GetConnections())
    for spec in prim.GetPrimStack():
        for listed in (spec.referenceList, spec.payloadList):
            used.update(each.assetPath for each in listed.GetAddedOrExplicitItems())
    parent = prim.GetParent()
    if parent and not parent.IsPseudoRoot():
        used.add(str(parent.GetPath()))
    return used - {""}

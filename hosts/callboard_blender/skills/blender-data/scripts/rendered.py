"""The tool that counts what a view layer renders."""

from __future__ import annotations

from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard_blender.application import names
from callboard_blender.parts.data_blocks import full_names
from callboard_blender.parts.object_faults import RENDERED
from callboard_blender.parts.rendered import Rendered, moves_render_switch
from callboard_blender.parts.unseen import Unseen

#: Maximum number of objects named for each source, and of doubts. Fewer are named without a name.
_MOST, _FEW = 20, 3


def count_rendered(
    ctx: Any,
    scene: str | None = None,
    view_layer: str | None = None,
    name: str | None = None,
    limit: int = 100,
) -> Json:
    port = ctx.port("structure")
    shown = names.scene() if scene is None else port.blocks.find("scenes", scene)
    layer = _layer(shown, view_layer)
    chosen = None if name is None else _named(name)
    rendered: Rendered = port.rendered(shown, layer)
    counted = [each for each in rendered.times if isinstance(each, bpy.types.Object)]
    objects: Counter[str] = Counter()
    instances: Counter[str] = Counter()
    for each in counted:
        if each.type in RENDERED:
            objects[each.type.lower()] += rendered.by_itself(each)
            instances[each.type.lower()] += rendered.instances(each)
    told = [each for each in rendered.times if _is_told(each, rendered)]
    sources = sorted(
        ((each, rendered.instances(each)) for each in (told if chosen is None else chosen)),
        key=lambda pair: (-pair[1], pair[0].name_full),
    )
    naming, unseen = _naming(), Unseen(shown, layer)
    return {
        "scene": shown.name_full,
        "view_layer": layer.name,
        "use": layer.use,
        "objects": objects.total(),
        "instances": instances.total(),
        "objects_by_type": dict(+objects),
        "instances_by_type": dict(+instances),
        "sources": [
            _entry(each, count, rendered, naming, detail=chosen is not None)
            | _why(each, rendered, unseen)
            for each, count in sources[:limit]
        ],
        "total": len(sources),
        **({"unseen": _unseen(shown, counted, rendered, unseen)} if chosen is None else {}),
        **_doubt(shown, counted, rendered),
    }


def _layer(shown: Any, name: str | None) -> Any:
    layers = shown.view_layers
    if name is None and shown == names.scene():
        return names.view_layer()
    if (name or "") not in layers and (name or len(layers) > 1):
        raise WrongArgument(f"give view_layer; '{shown.name}' has: {', '.join(layers.keys())}")
    return layers[name] if name is not None else layers[0]


def _named(name: str) -> list[Any]:
    """Return the objects and collections with that full or bare name, or those that fit it as a
    pattern. Raises HostError when nothing has the name."""
    known = [*bpy.data.collections, *bpy.data.objects]
    fitting = [
        each
        for each in known
        if any(fnmatchcase(one.lower(), name.lower()) for one in (each.name, each.name_full))
    ]
    if not any(mark in name for mark in "*?"):
        full = set(full_names(name))
        fitting = [each for each in known if each.name_full in full]
    if not fitting:
        raise WrongArgument(f"no object or collection of this file has the name '{name}'")
    return fitting


def _is_told(each: Any, rendered: Rendered) -> bool:
    if isinstance(each, bpy.types.Object):
        return each.type in RENDERED and (rendered.by_itself(each) or rendered.instances(each) > 0)
    return True


def _naming() -> dict[Any, list[Any]]:
    """Return the objects that name each collection as the one whose instance they show."""
    naming = defaultdict(list)
    for obj in bpy.data.objects:
        if (collection := obj.instance_collection) is not None:
            naming[collection].append(obj)
    return naming


def _entry(
    each: Any, count: int, rendered: Rendered, naming: dict[Any, list[Any]], *, detail: bool
) -> Json:
    """Return ``{name, kind, instances, …}``. ``left_out`` are the objects that name a collection,
    and whose instances of it the render doesn't show. Without ``detail``, few objects are named,
    and none that show another object."""
    is_object, most = isinstance(each, bpy.types.Object), _MOST if detail else _FEW
    kind = "object" if is_object else "collection"
    entry: Json = {"name": each.name_full, "kind": kind, "instances": count}
    if is_object:
        entry["by_itself"] = rendered.by_itself(each)
        if not detail:
            return entry
    showing = rendered.showing(each)
    left_out = [obj.name_full for obj in naming.get(each, ()) if obj not in showing]
    if left_out:
        entry |= {"left_out": left_out[:most], "left_out_count": len(left_out)}
    if showing:
        counts = sorted((-shown, obj.name_full) for obj, shown in showing.items())
        entry["through"] = [{"object": obj, "instances": -shown} for shown, obj in counts[:most]]
        entry["through_count"] = len(showing)
    return entry


def _why(each: Any, rendered: Rendered, unseen: Unseen) -> Json:
    """Return under ``why`` what keeps an object from being seen, if anything does."""
    if not isinstance(each, bpy.types.Object):
        return {}
    shown = rendered.by_itself(each) or rendered.instances(each) > 0
    why = unseen.veiled(each) if shown else unseen.left_out(each)
    return {"why": "; ".join(why)} if why else {}


def _unseen(shown: Any, counted: list[Any], rendered: Rendered, unseen: Unseen) -> list[Json]:
    """Return what keeps objects from being seen, and which ones: those of the scene that the render
    leaves out, and those that it has, but doesn't show as they are."""
    objects: defaultdict[str, list[str]] = defaultdict(list)
    for each in {*shown.objects, *counted}:
        if rendered.times[each]:
            for why in unseen.veiled(each):
                objects[why].append(each.name_full)
        elif each.type in RENDERED:
            objects["; ".join(unseen.left_out(each))].append(each.name_full)
    return _grouped(objects)


def _doubt(shown: Any, counted: list[Any], rendered: Rendered) -> Json:
    """Return under ``doubts`` why renders may show another number, with the objects concerned."""
    objects: defaultdict[str, list[str]] = defaultdict(list)
    for obj, reasons in rendered.doubts.items():
        for why in reasons:
            objects[why].append(obj.name_full)
    for obj in {*shown.objects, *counted}:
        if moves_render_switch(obj):
            why = "keys or a driver decide whether renders show it; this is as it is now"
            objects[why].append(obj.name_full)
    return {"doubts": doubts} if (doubts := _grouped(objects)) else {}


def _grouped(objects: dict[str, list[str]]) -> list[Json]:
    """Return the objects by what is said of them, most objects first."""
    told = [
        {"why": why, "objects": sorted(names)[:_MOST], "count": len(names)}
        for why, names in sorted(objects.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]
    return told[:_MOST]

"""Collects what a collection contains, and the switches that hide it: its own, and those that it
has in each view layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.application.names import top_collection
from callboard_blender.parts.object_faults import rendered_collections

#: The switches of a collection in one view layer. The eye icon is ``hide_viewport``.
_OF_LAYER = ("exclude", "hide_viewport", "holdout", "indirect_only")
#: Maximum number of objects and of collections that are named.
_MOST = 20


def collection_json(collection: bpy.types.Collection, layers: Sequence[Json]) -> Json:
    """Return what the collection contains, linked or not, and its switches. ``layers`` is its entry
    of :func:`in_layers`."""
    objects = [each.name_full for each in collection.objects]
    below = [each.name_full for each in collection.children]
    return {
        **own_switches(collection),
        "objects": objects[:_MOST],
        "object_count": len(objects),
        "all_objects": len(collection.all_objects),
        "below": below[:_MOST],
        "below_count": len(below),
        "view_layers": layers,
    }


def in_layers() -> Mapping[bpy.types.Collection, Sequence[Json]]:
    """Return the switches of each collection in each view layer of the file that has it."""
    held: dict[bpy.types.Collection, list[Json]] = {}
    for shown in bpy.data.scenes:
        for layer in shown.view_layers:
            place = {"scene": shown.name_full, "view_layer": layer.name}
            top = top_collection(layer)
            rendered = {*rendered_collections(top)}
            for each in _below(top):
                entries = held.setdefault(each.collection, [])
                in_renders = {"in_renders": each.collection in rendered}
                entries.append({**place, **layer_switches(each), **in_renders})
    return held


def own_switches(collection: bpy.types.Collection) -> Json:
    return {"hide_render": collection.hide_render, "hide_viewport": collection.hide_viewport}


def layer_switches(place: bpy.types.LayerCollection) -> Json:
    return {each: getattr(place, each) for each in _OF_LAYER}


def _below(layer: Any) -> Iterator[bpy.types.LayerCollection]:
    for each in layer.children:
        yield each
        yield from _below(each)

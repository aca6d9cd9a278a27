"""Says what keeps objects from being seen in a render of a view layer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import bpy

from callboard_blender.application.names import top_collection
from callboard_blender.parts.object_faults import RENDERED


class Unseen:
    """The reasons why a scene's objects aren't seen in one view layer, as it is now. Don't keep it
    beyond a change to the scene."""

    def __init__(self, shown: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
        self._shown = shown
        self._layer = layer

    def left_out(self, obj: bpy.types.Object) -> list[str]:
        """Return every reason why the render doesn't show the object by itself."""
        reasons = [] if obj.type in RENDERED else [f"a render shows no {obj.type.lower()}"]
        if obj.hide_render:
            reasons.append("it is hidden in renders")
        if obj.parent is not None and obj.parent.instance_type in ("VERTS", "FACES"):
            reasons.append("it is shown only on its parent's vertices or faces")
        places = self._places.get(obj.name_full)
        if not places:
            reasons.append("it is in no collection of the view layer")
        elif all(places):
            reasons += sorted({why for place in places for why in place})
        return reasons or ["it shows only its instances"]

    def veiled(self, obj: bpy.types.Object) -> list[str]:
        """Return why a camera doesn't see the object, or not as it is, although it is rendered."""
        reasons = []
        if not obj.visible_camera and obj.type != "LIGHT":
            reasons.append("it is rendered, but not visible to the camera")
        if obj.indirect_only_get(view_layer=self._layer):
            reasons.append("its collection is indirect only: only its light, shadows and mirroring")
        if obj.is_holdout or obj.holdout_get(view_layer=self._layer):
            reasons.append("it is a holdout, a hole in the picture")
        if obj.is_shadow_catcher:
            reasons.append("it catches shadows, and only they are seen")
        return reasons

    @cached_property
    def _places(self) -> dict[str, list[list[str]]]:
        """The reasons why each place of each object isn't rendered. A place is a collection of the
        view layer that has the object."""
        places: defaultdict[str, list[list[str]]] = defaultdict(list)
        for collection, why in _collections(top_collection(self._layer), []):
            for obj in collection.objects:
                places[obj.name_full].append(why)
        return dict(places)


def _collections(each: Any, above: list[str]) -> Iterator[tuple[bpy.types.Collection, list[str]]]:
    """Yield each collection of a view layer, with the reasons why renders leave it out. A
    collection can be in the view layer although the one above it is excluded."""
    collection = each.collection
    hidden = f"the collection '{collection.name}' is hidden in renders"
    above = [*above, hidden] if collection.hide_render else above
    excluded = f"the collection '{collection.name}' is excluded from the view layer"
    yield collection, [*above, excluded] if each.exclude else above
    for below in each.children:
        yield from _collections(below, above)

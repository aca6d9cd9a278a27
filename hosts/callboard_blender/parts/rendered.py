"""Counts what a render of a view layer contains: the objects that it shows by themselves, and how
often instances show each object and collection.

Blender evaluates a scene for renders only while it renders, so this follows the switches as Blender
does then. What geometry nodes make is read from the evaluation for views.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import bpy

from callboard_blender.application.names import scene, top_collection, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of
from callboard_blender.parts.data_blocks import nested
from callboard_blender.parts.object_faults import RENDERED, rendered_collections
from callboard_blender.parts.pointers import named_by

#: The node with which a group tells a view from a render.
_IS_VIEWPORT = "GeometryNodeIsViewport"
#: The types of sockets that name what instances show.
_SHOWN = ("OBJECT", "COLLECTION")
#: Maximum number of objects and collections named in one doubt.
_MOST_NAMED = 8


class Rendered:
    """The contents of one view layer's render, as counted now. Don't keep it beyond a change to the
    scene."""

    def __init__(self, shown: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
        self._shown = shown
        self._layer = layer
        #: Why the number of something may differ in a render, by the object that makes it.
        self.doubts: defaultdict[Any, list[str]] = defaultdict(list)
        self._direct: dict[Any, Mapping[Any, int]] = {}
        #: How many instances of geometry that isn't an object's one showing of an object has.
        self._own: Counter[Any] = Counter()
        #: The objects that the render shows by themselves, including empties and their like.
        self.alone = set(_alone(shown, layer))
        #: How often each object and collection is shown, by itself or in instances.
        self.times: Counter[Any] = Counter(dict.fromkeys(self.alone, 1))
        #: How often each object shows instances of an object or a collection.
        self.through: defaultdict[Any, Counter[Any]] = defaultdict(Counter)
        for source in self._in_order():
            for target, count in self._direct[source].items():
                more = self.times[source] * count
                self.times[target] += more
                if isinstance(source, bpy.types.Object):
                    self.through[target][source] += more

    def instances(self, source: Any) -> int:
        """Return how many instances of the object or collection the render shows. Geometry that an
        object's nodes made counts as the object's."""
        if not isinstance(source, bpy.types.Object):
            return self.times[source]
        itself = self._shows_itself(source)
        again = self.times[source] - (source in self.alone) if itself else 0
        return again + self.times[source] * self._own[source]

    def by_itself(self, obj: bpy.types.Object) -> bool:
        return obj in self.alone and self._shows_itself(obj)

    def _shows_itself(self, obj: bpy.types.Object) -> bool:
        makes = self._direct.get(obj) or self._own[obj] or obj.particle_systems
        makes = makes or obj.instance_type != "NONE"
        return obj.type in RENDERED and bool(obj.show_instancer_for_render or not makes)

    def showing(self, source: Any) -> Counter[Any]:
        """Return the objects that show instances of the object or collection, with how often. An
        object may be in instances of any of its collections."""
        showing = Counter(self.through.get(source, {}))
        if self._own[source]:
            showing[source] += self.times[source] * self._own[source]
        for other, through in self.through.items():
            if other != source and source in self._direct.get(other, ()):
                showing.update(through)
        return showing

    def _in_order(self) -> list[Any]:
        """Return everything that is shown, each before what it shows itself."""
        order: list[Any] = []
        begun: set[Any] = set()
        waiting = [(each, False) for each in self.alone]
        while waiting:
            each, done = waiting.pop()
            if done:
                order.append(each)
            elif each not in begun:
                begun.add(each)
                self._direct[each] = self._shown_by(each)
                waiting.append((each, True))
                waiting += ((one, False) for one in self._direct[each])
        return order[::-1]

    def _shown_by(self, source: Any) -> Mapping[Any, int]:
        """Return what one showing of this shows in turn, with how often."""
        if isinstance(source, bpy.types.Collection):
            return dict.fromkeys(members(source), 1)
        kind, modifiers = source.instance_type, source.modifiers
        if kind == "NONE" and not len(modifiers):  # Most objects show nothing else.
            return {}
        made: Counter[Any] = Counter()
        if kind == "COLLECTION":
            made[source.instance_collection] += 1
        elif kind != "NONE" and source.children:
            self.doubts[source].append("instances on its vertices or faces aren't counted")
        if len(modifiers):
            if any(each.show_render for each in modifiers if each.type == "PARTICLE_SYSTEM"):
                self.doubts[source].append("what its particles show isn't counted")
            if any(each.show_render for each in modifiers if each.type == "ARRAY"):
                self.doubts[source].append("the copies that its array makes aren't counted")
            nodes = [each for each in modifiers if each.type == "NODES" and each.show_render]
            made.update(self._made_by_nodes(source, nodes) if nodes else {})
        return {each: n for each, n in made.items() if each is not None and not _is_off(each)}

    def _made_by_nodes(self, obj: bpy.types.Object, nodes: list[Any]) -> Mapping[Any, int]:
        doubts = self.doubts
        if why := [*_differs(obj, nodes)]:
            doubts[obj] += why
        evaluated = obj.evaluated_get(self._evaluated)
        if not evaluated.is_evaluated:
            doubts[obj].append("Blender doesn't evaluate its nodes: what they make isn't counted")
            return {}
        if not hasattr(evaluated, "evaluated_geometry"):  # Before Blender 4.5.
            doubts[obj].append("this Blender doesn't tell what its nodes make: it isn't counted")
            return {}
        made: Counter[Any] = Counter()
        _count(evaluated.evaluated_geometry(), obj, 1, made)
        self._own[obj] = made.pop(obj, 0)
        return made

    @cached_property
    def _evaluated(self) -> bpy.types.Depsgraph:
        if self._layer == view_layer() and self._shown == scene():
            return bpy.context.evaluated_depsgraph_get()
        self._layer.update()
        return self._layer.depsgraph


def members(collection: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    """Yield the objects that renders show in an instance of the collection."""
    if not _is_off(collection):
        for obj in collection.objects:
            if not obj.hide_render and not _is_on_points(obj):
                yield obj
        for below in collection.children:
            yield from members(below)


def _alone(shown: bpy.types.Scene, layer: bpy.types.ViewLayer) -> Iterator[bpy.types.Object]:
    for collection in rendered_collections(top_collection(layer)):
        for obj in collection.objects:
            if not obj.hide_render and not _is_on_points(obj):
                yield obj
    behind = shown.background_set
    if behind is not None:
        first = next((each for each in behind.view_layers if each.use), behind.view_layers[0])
        yield from _alone(behind, first)


def _is_off(source: Any) -> bool:
    """Return whether this is a collection of which renders show no instances."""
    return isinstance(source, bpy.types.Collection) and source.hide_render


def _is_on_points(obj: bpy.types.Object) -> bool:
    """Return whether the object is shown only where its parent has vertices or faces."""
    return obj.parent is not None and obj.parent.instance_type in ("VERTS", "FACES")


def _count(geometry: Any, of: Any, times: int, made: Counter[Any]) -> None:
    """Add what the instances in a geometry show, ``times`` times. Their own meshes count as ``of``,
    the object whose nodes made them."""
    cloud = geometry.instances_pointcloud()
    if cloud is None:
        return
    indices = array("i", bytes(4 * len(cloud.points)))
    cloud.attributes[".reference_index"].data.foreach_get("value", indices)
    references = geometry.instance_references()
    for index, count in Counter(indices).items():
        each = references[index] if 0 <= index < len(references) else None
        if isinstance(each, bpy.types.GeometrySet):
            parts = (each.mesh, each.curves, each.pointcloud, each.volume, each.grease_pencil)
            if any(part is not None for part in parts):
                made[of] += count * times
            _count(each, of, count * times, made)
        elif each is not None:
            made[each.original] += count * times


def _differs(obj: bpy.types.Object, nodes: list[Any]) -> Iterator[str]:
    """Yield why the nodes may make something else in a render than in a view."""
    for each in obj.modifiers:
        named = f"its modifier '{each.name}'"
        if each.show_render and not each.show_viewport:
            yield f"{named} is on only in renders, so it isn't counted{_may_show(each)}"
        elif each.show_viewport and not each.show_render:
            yield f"{named} is on only in views, so what it makes may be counted"
        elif each.type == "SUBSURF" and each.levels != each.render_levels:
            yield f"{named} has other levels in renders"
    for each in nodes:
        if any(node.bl_idname == _IS_VIEWPORT for tree in _trees(each) for node in tree.nodes):
            yield f"the nodes of its modifier '{each.name}' tell views from renders"


def _trees(modifier: Any) -> set[Any]:
    tree = modifier.node_group
    return {tree, *nested(tree)} if tree is not None else set()


def _may_show(modifier: Any) -> str:
    """Return which objects and collections a geometry nodes modifier names."""
    if modifier.type != "NODES":
        return ""
    sockets = (one for tree in _trees(modifier) for node in tree.nodes for one in node.inputs)
    named = {
        *named_by(modifier),
        *(getattr(one, "default_value", None) for one in sockets if one.type in _SHOWN),
    }
    kinds = (bpy.types.Object, bpy.types.Collection)
    names = sorted(f"'{each.name_full}'" for each in named if isinstance(each, kinds))
    return f"; it names {', '.join(names[:_MOST_NAMED])}" if names else ""


def moves_render_switch(obj: bpy.types.Object) -> bool:
    """Return whether keys or a driver decide if renders show the object."""
    moving = (*curves_of(obj), *drivers_of(obj))
    return any(each.data_path == "hide_render" for each in moving)

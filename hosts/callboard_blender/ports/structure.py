"""The ``structure`` port: collections, empties and visibility. Here a group is a collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import bpy

from callboard.errors import HostError
from callboard.host import AmbiguousName, GroupNotFound, Json, nearest_names
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import is_own_object
from callboard_blender.application.names import (
    changed,
    find,
    forget,
    in_scene,
    made,
    scene,
    view_layer,
)
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.parts.collection_facts import layer_switches, own_switches
from callboard_blender.parts.curve_changes import CurveChanges
from callboard_blender.parts.curve_keys import CurveKeys
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.file_modifiers import FileModifiers
from callboard_blender.parts.local_data import LocalData
from callboard_blender.parts.new_drivers import NewDrivers
from callboard_blender.parts.nla import NlaChanges
from callboard_blender.parts.node_changes import NodeChanges
from callboard_blender.parts.node_links import NodeLinks
from callboard_blender.parts.object_faults import rendered_collections
from callboard_blender.parts.packed_files import PackedFiles
from callboard_blender.parts.rendered import Rendered
from callboard_blender.parts.rig_changes import RigChanges
from callboard_blender.parts.sampling import Sampler
from callboard_blender.parts.scene_settings import SceneSettings
from callboard_blender.parts.settings import BlockSettings
from callboard_blender.parts.unused_data import UnusedData
from callboard_blender.ports.edit import home

_HIDING = ("hide_viewport", "hide_render")


class BlenderStructure:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes
        #: What the skills of this package change.
        self.blocks = DataBlocks(changes)
        self.unused = UnusedData(changes, self.blocks)
        self.rigs = RigChanges(changes, self.blocks)
        self.curves = CurveChanges(changes, self.blocks)
        self.modifiers = FileModifiers(changes, self.blocks)
        self.local = LocalData(changes)
        self.packed = PackedFiles(changes)
        self.new_drivers = NewDrivers(changes, self.blocks)
        self.nla = NlaChanges(changes, self.blocks)
        self.curve_keys = CurveKeys(changes, self.blocks)
        self.sampler = Sampler(changes)
        self.nodes = NodeChanges(changes, self.blocks)
        self.links = NodeLinks(self.nodes)
        self.settings = SceneSettings(changes, self.blocks)
        self.values = BlockSettings(changes, self.blocks)

    def new(self) -> None:
        self._changes.touch()
        try:
            bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
        except RuntimeError as error:
            raise HostError(f"Blender could not start a new scene: {error}") from None

    def create_empty(self, name: str | None) -> str:
        refuse_miscounted(name)
        self._changes.touch()
        obj = bpy.data.objects.new(name or "Empty", None)
        home().objects.link(obj)
        return made(obj)

    def fixed(self, name: str) -> str | None:
        """Return why the object can't be shown or hidden here, or None."""
        obj = find(name)
        moving = (*curves_of(obj), *strip_curves_of(obj), *drivers_of(obj))
        if any(each.data_path in _HIDING for each in moving):
            return f"keys or a driver decide whether '{obj.name}' is seen; remove those first"
        return None

    def in_views_only(self, name: str) -> bool:
        """Return whether the object is linked. This file stores the state of such an object's eye
        icon, but not whether the object is rendered."""
        return not is_own_object(find(name))

    def set_visible(self, name: str, visible: bool) -> str:
        """Show or hide the object by its eye icon in the outliner and, unless it is linked, in
        renders. An object hidden by its collection or by the artist's own view stays hidden."""
        obj = find(name)
        if why := self.fixed(name):
            raise HostError(why)
        own = is_own_object(obj)
        if visible and obj.hide_viewport and not own:
            raise HostError(
                f"'{obj.name_full}' is linked, and switched off in its own file; show it there"
            )
        self._changes.touch()
        try:
            obj.hide_set(not visible, view_layer=view_layer())
        except RuntimeError:
            if visible:
                raise HostError(
                    f"the shown view layer has no collection that contains '{obj.name}'"
                ) from None
        if own:
            obj.hide_render = not visible
            if visible:
                obj.hide_viewport = False
        path = changed(obj)
        if visible and not obj.visible_get(view_layer=view_layer()):
            inside = ", ".join(each.name for each in obj.users_collection)
            raise HostError(
                f"'{obj.name}' is in {inside}, which is hidden; pass with_groups: true to show that"
                " too"
            )
        return path

    def groups(self) -> Mapping[str, str]:
        return {each.name_full: each.name for each in scene().collection.children_recursive}

    def facts(self, group: str) -> Json:
        """Return the collection's contents, and whether it is visible and rendered in this view
        layer."""
        collection = _find(group)
        places = [each for each in _layers() if each.collection == collection]
        objects = [each for each in collection.all_objects if each.type == "MESH" and each.data]
        facts: Json = {
            "below": [each.name_full for each in collection.children],
            "shown": any(each.visible_get() for each in places),
            "excluded": bool(places) and all(each.exclude for each in places),
            "in_renders": collection in rendered_collections(view_layer().layer_collection),
            "faces": sum(len(each.data.polygons) for each in objects),
            **own_switches(collection),
            "in_view_layer": [layer_switches(each) for each in places],
        }
        return {**facts, "library": collection.library.filepath} if collection.library else facts

    def top(self) -> Json:
        """Return the scene's own collection and the objects directly in it, with the view layer
        that all groups are described in."""
        top = scene().collection
        objects = [obj.name_full for obj in top.objects]
        told = {"scene": scene().name_full, "view_layer": view_layer().name}
        return {"name": top.name, **told, "objects": objects}

    def rendered(self, shown: bpy.types.Scene, layer: bpy.types.ViewLayer) -> Rendered:
        with self._changes.unnoticed():  # Blender may evaluate a scene that isn't shown.
            return Rendered(shown, layer)

    def switches(self, name: str) -> Sequence[bool]:
        """Return whether the object is shown, and the switches that hide it."""
        obj, layer = find(name), view_layer()
        shown, hidden = obj.visible_get(view_layer=layer), obj.hide_get(view_layer=layer)
        return shown, hidden, obj.hide_viewport, obj.hide_render

    def show_groups(self, name: str) -> list[str]:
        """Show the collections that hide the object, in views and in renders. If several paths lead
        to the object, choose the one with the fewest hidden collections. Return the collections
        that were hidden."""
        obj = find(name)
        ways = [
            way
            for way in _ways(view_layer().layer_collection)
            if way[-1].collection in set(obj.users_collection)
        ]
        hiding = min((_hidden(way) for way in ways), key=len, default=[])
        if not hiding:
            return []
        for layer in hiding:
            if layer.collection.library is not None:
                raise HostError(f"'{layer.name}' comes from another file; show it there")
        self._changes.touch()
        for layer in hiding:
            layer.exclude = layer.hide_viewport = False
            layer.collection.hide_viewport = layer.collection.hide_render = False
        view_layer().update()
        forget()
        return [str(layer.collection.name_full) for layer in hiding]

    def leave_top(self, objects: Sequence[str]) -> None:
        """Unlink these objects from the scene's own collection, unless they are in no other
        collection."""
        top = scene().collection
        others = set(top.children_recursive)
        self._changes.touch()
        for obj in map(find, objects):
            if top in obj.users_collection and others.intersection(obj.users_collection):
                top.objects.unlink(obj)
        view_layer().update()
        forget()

    def members(self, group: str) -> list[str]:
        return [obj.name_full for obj in _find(group).objects if in_scene(obj)]

    def create_group(self, name: str | None) -> str:
        self._changes.touch()
        group = bpy.data.collections.new(name or "Group")
        scene().collection.children.link(group)
        forget()
        return str(group.name_full)

    def delete_group(self, group: str) -> None:
        """Delete a collection that contains nothing."""
        collection = _own(group)
        if collection.objects or collection.children:
            raise HostError(
                f"'{collection.name}' isn't empty: it has {len(collection.objects)} objects and"
                f" {len(collection.children)} collections"
            )
        self._changes.touch()
        bpy.data.collections.remove(collection)
        view_layer().update()
        forget()

    def add(self, group: str, objects: Sequence[str]) -> str:
        collection, added = _own(group), [find(name) for name in objects]
        there = set(collection.objects)
        for obj in added:
            if collection in _shown_by(obj):
                raise HostError(
                    f"'{obj.name}' shows instances of '{obj.instance_collection.name}', so it"
                    f" can't be in '{collection.name}'; put it in a group that isn't inside"
                    " that one"
                )
        self._changes.touch()
        for obj in dict.fromkeys(added):
            if obj not in there:
                collection.objects.link(obj)
        return self._grouped(collection)

    def remove(self, group: str, objects: Sequence[str]) -> str:
        """Remove objects from the group. If an object would then be in no collection of a scene
        that shows the group, it is moved to that scene's own collection."""
        collection, removed = _own(group), [find(name) for name in objects]
        there = set(collection.objects)
        shown = [
            (each.collection, {each.collection, *each.collection.children_recursive})
            for each in bpy.data.scenes
        ]
        self._changes.touch()
        for obj in dict.fromkeys(removed):
            if obj not in there:
                continue
            for top, all_ in shown:
                if collection in all_ and all_.intersection(obj.users_collection) == {collection}:
                    top.objects.link(obj)
            collection.objects.unlink(obj)
        return self._grouped(collection)

    def _grouped(self, collection: bpy.types.Collection) -> str:
        view_layer().update()
        forget()
        return str(collection.name_full)


def _shown_by(obj: bpy.types.Object) -> set[bpy.types.Collection]:
    """Return the collections that instances of the object's collection show, at any depth. If the
    object itself were in one of them, Blender would crash."""
    reached: set[bpy.types.Collection] = set()
    waiting = [obj.instance_collection]
    while waiting:
        shown = waiting.pop()
        if shown is not None and shown not in reached:
            reached.add(shown)
            waiting += shown.children
            waiting += {each.instance_collection for each in shown.objects}
    return reached


def _ways(
    layer: bpy.types.LayerCollection, above: Sequence[bpy.types.LayerCollection] = ()
) -> Iterator[list[bpy.types.LayerCollection]]:
    """For each collection of the view layer, yield the collections from the top one down to it."""
    way = [*above, layer]
    yield way
    for each in layer.children:
        yield from _ways(each, way)


def _layers() -> Iterator[bpy.types.LayerCollection]:
    return (way[-1] for way in _ways(view_layer().layer_collection))


def _hidden(way: Sequence[bpy.types.LayerCollection]) -> list[bpy.types.LayerCollection]:
    return [
        each
        for each in way
        if each.exclude
        or each.hide_viewport
        or each.collection.hide_viewport
        or each.collection.hide_render
    ]


def _find(name: str) -> bpy.types.Collection:
    groups = scene().collection.children_recursive
    named = [each for each in groups if each.name_full == name]
    named = named or [each for each in groups if each.name == name]
    if len(named) > 1:
        raise AmbiguousName(name, [each.name_full for each in named])
    if not named:
        raise GroupNotFound(name, nearest_names(name, [each.name for each in groups]))
    return named[0]


def _own(name: str) -> bpy.types.Collection:
    """Return the group if the saved file would contain a change to it. Raises HostError."""
    group = _find(name)
    if group.library is not None or group.override_library is not None:
        raise HostError(f"'{group.name}' comes from another file; change it there")
    return group

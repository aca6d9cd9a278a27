"""Collects the facts about one object that its transform and details leave out, such as the data
that it uses, what moves it, and why it isn't visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.application.names import scene, view_layer
from callboard_blender.parts.actions import actions_of, sharers
from callboard_blender.parts.constraints import constraint_json, constraints_of
from callboard_blender.parts.curves import driven_parts, drivers_of
from callboard_blender.parts.details import levels_of
from callboard_blender.parts.drivers import driver_json
from callboard_blender.parts.mesh_counts import shape_key_moves, slot_faces
from callboard_blender.parts.node_json import group_json
from callboard_blender.parts.pointers import named_by
from callboard_blender.parts.rendered import Rendered
from callboard_blender.parts.skinning import bones_of, unmatched
from callboard_blender.parts.world import world_json

#: Maximum number of entries in a list, such as vertex groups.
_MOST = 200


def whole(obj: bpy.types.Object, *, users: bool) -> Json:
    """Return the object and what it uses. With ``users``, also search the whole file, and return
    what uses the object."""
    data = obj.data
    reported: Json = {
        "data": data.name_full if data is not None else None,
        "dimensions": list(obj.dimensions),
        "world": world_json(obj),
        "library": obj.library.filepath if obj.library else None,
        "modifiers": [
            {
                "name": each.name,
                "type": each.type.lower(),
                "shown": each.show_viewport,
                "rendered": each.show_render,
                "settings": {**_settings(each), **levels_of(each)},
                "uses": sorted({one.name_full for one in named_by(each)}),
                **group_json(each),
            }
            for each in obj.modifiers
        ],
        "constraints": [constraint_json(each, bone) for each, bone in constraints_of(obj)][:_MOST],
        "drivers": [
            driver_json(each, holder)
            for owner, holder in driven_parts(obj)
            for each in drivers_of(owner)
        ][:_MOST],
        "properties": {
            key: _plain(value) for key, value in obj.items() if not key.startswith(("_", "cycles"))
        },
        "slots": _slots(obj),
        "collections": [each.name_full for each in obj.users_collection],
        "visibility": _visibility(obj),
        "uses": sorted(_uses(obj)),
    }
    if obj.vertex_groups:
        groups = [each.name for each in obj.vertex_groups]
        reported["vertex_groups"] = groups[:_MOST]
        if bones := bones_of(obj):
            reported["unmatched_groups"] = unmatched(obj, bones, groups)[:_MOST]
    if obj.type == "ARMATURE":
        reported["bones"] = data.bones.keys()[:_MOST]
        reported["bone_count"] = len(data.bones)
    if keys := getattr(data, "shape_keys", None):
        reported["shape_keys"] = {each.name: each.value for each in keys.key_blocks[:_MOST]}
        reported["shape_key_moves"] = shape_key_moves(obj, _MOST)
    if action := actions_of([obj]).get(obj):
        reported["action"] = action
    if users:
        if shared := sharers(obj):
            reported["shares_action_with"] = shared
        of = [obj] if data is None else [obj, data]
        map_of = bpy.data.user_map(subset=set(of))
        reported["used_by"] = sorted(one.name_full for one in map_of.get(obj, ()))
        reported["dependents"] = sorted(_dependents(obj, map_of.get(obj, ())))[:_MOST]
        shares = map_of.get(data, set()) - {obj} if data is not None else set()
        if not reported["visibility"]["in_renders"]:
            reported["visibility"] |= _rendered_through(obj)
        reported["shares_data_with"] = sorted(one.name_full for one in shares)
    return reported


def _rendered_through(obj: bpy.types.Object) -> Json:
    """Return the objects whose instances show this one in renders, if there are any."""
    showing = Rendered(scene(), view_layer()).showing(obj)
    if not showing:
        return {}
    names = sorted(each.name_full for each in showing)
    return {"renders_through": names[:_MOST], "rendered_instances": showing.total()}


def _dependents(obj: bpy.types.Object, users: Iterable[Any]) -> Iterator[str]:
    """Yield descriptions of what would break without the object."""
    for user in users:
        named = f"'{user.name_full}'"
        if isinstance(user, bpy.types.Scene):
            if user.camera == obj:
                yield f"it is the camera of the scene {named}"
        elif isinstance(user, bpy.types.Object):
            if user.parent == obj:
                yield f"it is the parent of {named}"
            for kind, entries in (
                ("modifier", user.modifiers),
                ("constraint", (each for each, _ in constraints_of(user))),
            ):
                for each in entries:
                    if obj in named_by(each):
                        yield f"the {kind} '{each.name}' of {named} points at it"
        elif not isinstance(user, bpy.types.Collection):
            yield f"{type(user).__name__} {named} refers to it"
        parts = driven_parts(user) if isinstance(user, bpy.types.Object) else [(user, user)]
        for owner, _ in parts:
            for curve in drivers_of(owner):
                targets = (t.id for each in curve.driver.variables for t in each.targets)
                if obj in targets:
                    yield f"a driver of '{curve.data_path}' of {named} reads it"


def _settings(each: Any) -> Json:
    """Return the modifier's values that aren't Blender's own defaults."""
    beside = ("show_", "name", "use_pin_to_last", "is_active", "persistent_uid", "execution_time")
    settings = {}
    for prop in each.bl_rna.properties:
        key = prop.identifier
        plain = prop.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING")
        if not plain or key.startswith(beside) or prop.is_readonly or prop.is_hidden:
            continue
        value = getattr(each, key)
        several = getattr(prop, "is_array", False)
        usual = tuple(prop.default_array) if several else getattr(prop, "default", None)
        value = tuple(value) if several else value
        if isinstance(value, (bool, int, float, str)) and value != usual:
            settings[key] = value
    return settings


def _slots(obj: bpy.types.Object) -> list[Json]:
    """Return the material slots, with the number of faces that use each if the object is a mesh
    with a number of faces that can be counted."""
    slots = [_slot(index, each) for index, each in enumerate(obj.material_slots)]
    if slots and obj.type == "MESH":
        counts = slot_faces(obj)
        for slot in slots:
            slot["faces"] = counts[slot["slot"]] if counts is not None else "too many to count"
    return slots


def _slot(index: int, slot: Any) -> Json:
    material = slot.material
    entry: Json = {"slot": index, "material": material.name_full if material else None}
    entry["of"] = slot.link.lower()
    if material is not None:
        entry["images"] = [_image(node) for node in _nodes(material) if _image_of(node)]
    return entry


def _nodes(material: Any) -> Iterator[Any]:
    waiting, seen = [material.node_tree], set()
    while waiting:
        tree = waiting.pop()
        if tree is None or tree in seen:
            continue
        seen.add(tree)
        for node in tree.nodes:
            yield node
            waiting.append(getattr(node, "node_tree", None))


def _image_of(node: Any) -> Any:
    return getattr(node, "image", None)


def _image(node: Any) -> Json:
    connected = any(each.is_linked for each in node.outputs)
    return {"name": node.image.name_full, "path": node.image.filepath, "connected": connected}


def _visibility(obj: bpy.types.Object) -> Json:
    layer = view_layer()
    shown = obj.visible_get(view_layer=layer)
    hidden, left_out = [], []
    if obj.hide_viewport:
        hidden.append("it is switched off in viewports")
    if obj.hide_get(view_layer=layer):
        hidden.append("it is hidden with the eye")
    if obj.hide_render:
        left_out.append("it is switched off in renders")
    if not obj.visible_camera and obj.type != "LIGHT":
        left_out.append("cameras don't see it (ray visibility)")
    holding = set(obj.users_collection)
    return {
        "shown": shown,
        "eye": not obj.hide_get(view_layer=layer),
        "in_viewports": not obj.hide_viewport,
        "in_renders": not (without := left_out + _off(layer, holding, _why_not_rendered)),
        "why_not_shown": [] if shown else hidden + _off(layer, holding, _why_not_shown),
        "why_not_rendered": without,
    }


def _off(layer: Any, holding: set[Any], why: Callable[[Any], Iterator[str]]) -> list[str]:
    """Return why none of the collections in ``holding`` is shown, or an empty list if one is."""
    places = list(_places(layer.layer_collection, [], holding, why))
    if not places:
        return ["it is in no collection of this scene"]
    return sorted({reason for place in places for reason in place}) if all(places) else []


def _places(
    each: Any, above: list[str], holding: set[Any], why: Callable[[Any], Iterator[str]]
) -> Iterator[list[str]]:
    """For each place in the view layer where one of the collections in ``holding`` occurs, yield
    the reasons why the collection isn't shown there. The list is empty if nothing hides it."""
    here = [*above, *why(each)]
    if each.collection in holding:
        # A collection can be in the view layer although the one above it is excluded.
        name = each.collection.name
        excluded = f"the collection '{name}' is excluded from the view layer"
        yield [excluded, *here] if each.exclude else here
    for below in each.children:
        yield from _places(below, here, holding, why)


def _why_not_shown(each: Any) -> Iterator[str]:
    name = each.collection.name
    if each.hide_viewport:
        yield f"the collection '{name}' is hidden with the eye"
    if each.collection.hide_viewport:
        yield f"the collection '{name}' is switched off in viewports"


def _why_not_rendered(each: Any) -> Iterator[str]:
    if each.collection.hide_render:
        yield f"the collection '{each.collection.name}' is switched off in renders"


def _uses(obj: bpy.types.Object) -> set[str]:
    """Return the names of everything that the object refers to."""
    used: set[Any] = {obj.parent, obj.data, obj.instance_collection}
    for each in (*obj.modifiers, *(one for one, _ in constraints_of(obj))):
        used.update(named_by(each))
    for owner, _ in driven_parts(obj):
        for curve in drivers_of(owner):
            used.update(t.id for each in curve.driver.variables for t in each.targets)
    for slot in obj.material_slots:
        used.add(slot.material)
        for node in _nodes(slot.material) if slot.material else ():
            used.update((_image_of(node), getattr(node, "node_tree", None)))
    names = {each.name_full for each in used if each is not None}
    return names - {obj.name_full}  # The object's data often has the same name.


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "to_list"):
        return value.to_list()[:_MOST]
    return value.name_full if isinstance(value, bpy.types.ID) else str(value)[:_MOST]

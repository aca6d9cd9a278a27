"""Cases with instances of collections, linked ones included, and what renders show of them. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused

SEAT = "Seat [seats.blend]"


def _collection(name: str, above: Any = None) -> Any:
    """Return a new collection below ``above``, or below the shown scene."""
    import bpy

    made = bpy.data.collections.new(name)
    (above or bpy.context.scene.collection).children.link(made)
    return made


def _instance(name: str, shown: Any, inside: Any) -> Any:
    """Return a new empty in the collection ``inside`` that shows the collection ``shown``."""
    import bpy

    empty = bpy.data.objects.new(name, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", shown
    inside.objects.link(empty)
    return empty


def _linked_seat(rig: Rig) -> Any:
    """Return the collection Seat of a library, which contains a cushion and an unrendered label."""
    import bpy

    def make() -> None:
        seat = _collection("Seat")
        for name in ("Cushion", "Label"):
            each = rig.cube(name)
            seat.objects.link(each)
            bpy.context.scene.collection.objects.unlink(each)
        each.hide_render = True

    path = rig.library("seats.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Seat"]
    return bpy.data.collections["Seat"]


def test_linked_data_is_found_by_the_names_that_tools_give_it(rig: Rig) -> None:
    import bpy

    seat = _linked_seat(rig)
    _instance("Row", seat, bpy.context.scene.collection)
    told = rig.tool("scene__get_object", name="Row")["instances"]
    assert told == SEAT
    for word in (told, "Seat", "seat", "Se*"):
        (using,) = rig.tool("scene__find", uses=word)["objects"]
        assert using["path"] == "Row", word
    (listed,) = rig.tool("blender_data__list", kind="collections", pattern=told)["data"]
    assert listed["name"] == told
    # A collection of this file with the name comes first.
    rig.cube("Seat")
    assert rig.tool("scene__find", uses="Seat")["total"] == 1
    _instance("Own", _collection("Seat"), bpy.context.scene.collection)
    for word, user in (("Seat", "Own"), (told, "Row")):
        (using,) = rig.tool("scene__find", uses=word)["objects"]
        assert using["path"] == user
    for key, word in (("uses", "Seats"), ("material", "Steel"), ("uses", "Seat [gone.blend]")):
        why = refused(lambda k=key, w=word: rig.tool("scene__find", **{k: w}))  # type: ignore[misc]
        assert f"nothing in this file is named '{word}'" in why
    assert "nearest: Seat" in why
    bpy.context.scene.collection.objects.link(bpy.data.objects["Cushion"])
    cushion = bpy.data.objects["Cushion"].name_full
    for tool in ("scene__find", "scene__list_objects"):
        assert [each["path"] for each in rig.tool(tool, pattern=cushion)["objects"]] == [cushion]


def test_an_empty_whose_instancing_is_off_is_not_said_to_show_instances(rig: Rig) -> None:
    import bpy

    row = _instance("Row", _collection("Bay"), bpy.context.scene.collection)
    assert rig.tool("scene__get_object", name="Row")["instances"] == "Bay"
    row.instance_type = "NONE"
    told = rig.tool("scene__get_object", name="Row")
    assert "instances" not in told
    assert told["instances_off"] == "Bay; its instance_type is NONE"

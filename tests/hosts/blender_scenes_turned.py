"""Cases with objects turned about axes of the world. See ``blender_scenes``."""

from __future__ import annotations

from math import radians
from typing import Any

from hosts.blender_scenes import Rig, armature, near, refused

TURN = "blender_data__rotate"


def _signpost(rig: Rig) -> Any:
    """Return a sign that stands obliquely, below a street that is turned and scaled."""
    rig.cube("Street", translate=[4, 5, 0], rotate=[20, 30, 40], scale=[2, 2, 2])
    sign = rig.cube("Sign", translate=[1, 2, 3], rotate=[10, 0, 70], scale=[1, 2, 0.5])
    rig.tool("scene__set_parent", name="Sign", parent="Street", keep_world=False)
    rig.cube("Lamp", translate=[0, 0, 2])
    rig.tool("scene__set_parent", name="Lamp", parent="Sign", keep_world=False)
    return sign


def _world(name: str) -> Any:
    import bpy

    bpy.context.view_layer.update()
    return bpy.data.objects[name].matrix_world.copy()


def _about(point: Any, axis: Any, degrees: float) -> Any:
    from mathutils import Matrix, Vector

    there = Matrix.Translation(Vector(point))
    return there @ Matrix.Rotation(radians(degrees), 4, Vector(axis)) @ there.inverted()


def _equal(a: Any, b: Any) -> bool:
    return all(near(x, y) for x, y in zip(a, b, strict=True))


def test_an_object_turns_on_the_spot_about_the_axis_of_the_world(rig: Rig) -> None:
    for mode in ("XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"):
        sign = _signpost(rig)
        sign.rotation_mode = mode
        sign.delta_location = (0, 1, 0)
        before, lamp, channels = _world(sign.name), _world("Lamp"), list(sign.location)
        turn = _about(before.translation, (0, 0, 1), 35)
        told = rig.tool(TURN, objects=[sign.name], angle=35)
        assert told["verified"], (mode, told)
        assert (told["changed"], told["followed"]) == ([sign.name], ["Lamp"])
        assert _equal(_world(sign.name), turn @ before), mode
        assert _equal(_world("Lamp"), turn @ lamp), mode
        assert list(sign.location) == channels
        detail = rig.tool("scene__get_object", name=sign.name, detail=True)["world"]
        assert near(detail["translate"], before.translation)
        assert detail == told["objects"][0]["world"]
        assert rig.host.undo.undo(rig.call.undo_id) is True
        assert _equal(_world("Sign"), before), mode
        rig.tool("scene__delete", names=["Street", "Sign", "Lamp"])


def test_several_objects_turn_around_a_point_and_what_is_below_follows(rig: Rig) -> None:
    _signpost(rig)
    rig.cube("Other", translate=[-3, 0, 0])
    names = ["Lamp", "Sign", "Other"]
    before = {name: _world(name) for name in names}
    told = rig.tool(TURN, objects=names, angle=-90, axis=[0, 2, 2], about=[1, 0, 0])
    assert told["verified"]
    assert (told["changed"], told["followed"]) == (["Sign", "Other"], ["Lamp"])
    turn = _about((1, 0, 0), (0, 1, 1), -90)
    for name in names:
        assert _equal(_world(name), turn @ before[name]), name
    saved = rig.reopened()
    for name in names:
        assert near(saved[name]["translate"], rig.read.get(name)["translate"])


def test_an_object_turns_about_its_own_axis(rig: Rig) -> None:
    sign = _signpost(rig)
    before = _world("Sign")
    own = before.to_3x3().col[0].copy()
    assert rig.tool(TURN, objects=["Sign"], angle=50, axis="x", space="local")["verified"]
    assert _equal(_world("Sign"), _about(before.translation, own, 50) @ before)
    # A mirrored object turns as its own rotation counts, and keeps its scale.
    rig.tool("scene__transform", name="Sign", rotate=[0, 0, 0], scale=[-1, 2, 3])
    assert rig.tool(TURN, objects=["Sign"], angle=50, axis="z", space="local")["verified"]
    assert near(rig.read.get("Sign")["rotate"], [0, 0, 50])
    assert near(sign.scale, [-1, 2, 3])


def test_a_tiny_turn_of_a_tiny_object_is_made(rig: Rig) -> None:
    rig.cube("Screw", translate=[2000, 0, 0], scale=[0.001, 0.001, 0.001])
    assert rig.tool(TURN, objects=["Screw"], angle=0.1)["verified"]
    assert near(rig.read.get("Screw")["rotate"], [0, 0, 0.1])


def test_a_turn_that_would_shear_is_refused(rig: Rig) -> None:
    import bpy

    rig.cube("Free")
    rig.cube("Uneven", scale=[1, 1, 3])
    rig.cube("Hung", translate=[1, 0, 0])
    rig.tool("scene__set_parent", name="Hung", parent="Uneven", keep_world=False)
    before = [rig.read.get(each) for each in rig.read.names()]
    why = refused(lambda: rig.tool(TURN, objects=["Free", "Hung"], angle=35, axis="x"))
    assert "'Hung' would be sheared" in why
    assert [rig.read.get(each) for each in rig.read.names()] == before
    # About the long axis, and where the parent's scale is compensated, nothing is sheared.
    assert rig.tool(TURN, objects=["Hung"], angle=35)["verified"]
    hung = bpy.data.objects["Hung"]
    hung.matrix_parent_inverse = bpy.data.objects["Uneven"].matrix_world.inverted()
    was = _world("Hung")
    assert rig.tool(TURN, objects=["Hung"], angle=35, axis="x")["verified"]
    assert _equal(_world("Hung"), _about(was.translation, (1, 0, 0), 35) @ was)


def test_what_keys_drivers_and_locks_hold_is_not_turned(rig: Rig) -> None:
    import bpy

    for name in ("Free", "Keyed", "Driven", "Locked"):
        rig.cube(name, translate=[1, 2, 3])
    rig.tool("animation__set_keys", name="Keyed", keys=[{"frame": 1, "rotate": [0, 0, 10]}])
    bpy.data.objects["Driven"].driver_add("rotation_euler", 2)
    bpy.data.objects["Locked"].lock_rotation = (False, False, True)
    bpy.data.objects["Free"].lock_location = (True, False, False)
    before = [rig.read.get(each) for each in rig.read.names()]
    for name, reason in {"Keyed": "animated", "Driven": "animated", "Locked": "locked"}.items():
        why = refused(lambda n=name: rig.tool(TURN, objects=["Free", n], angle=35))  # type: ignore[misc]
        assert reason in why, why
        assert [rig.read.get(each) for each in rig.read.names()] == before, name
    around = {"objects": ["Free"], "angle": 35, "about": [0, 0, 0]}
    assert "locked location" in refused(lambda: rig.tool(TURN, **around))
    assert "[0, 0, 0]" in refused(lambda: rig.tool(TURN, objects=["Free"], angle=1, axis=[0, 0, 0]))
    # On the spot, the locked location stays.
    assert rig.tool(TURN, objects=["Free"], angle=35)["verified"]


def test_a_constraint_that_sets_the_turn_is_named(rig: Rig) -> None:
    import bpy

    rig.cube("Target", translate=[9, 0, 0])
    watcher = rig.cube("Watcher")
    held = watcher.constraints.new("TRACK_TO")
    held.target = bpy.data.objects["Target"]
    before = rig.read.get("Watcher")
    why = refused(lambda: rig.tool(TURN, objects=["Watcher"], angle=35))
    assert "'Watcher' isn't turned like that, because of the constraint 'Track To'" in why
    assert rig.read.get("Watcher") == before
    # One that only sets the place doesn't hinder a turn on the spot.
    watcher = bpy.data.objects["Watcher"]
    watcher.constraints.clear()
    watcher.constraints.new("COPY_LOCATION").target = bpy.data.objects["Target"]
    assert rig.tool(TURN, objects=["Watcher"], angle=35)["verified"]
    assert near(_world("Watcher").translation, [9, 0, 0])
    why = refused(lambda: rig.tool(TURN, objects=["Watcher"], angle=35, about=[1, 1, 0]))
    assert "Copy Location" in why


def test_an_object_on_a_bone_turns_in_the_world(rig: Rig) -> None:

    arm = armature("Rig", "Arm", tail=(1, 1, 2))
    hand = rig.cube("Hand", translate=[1, 0, 0], rotate=[10, 20, 30])
    hand.parent, hand.parent_type, hand.parent_bone = arm, "BONE", "Arm"
    before = _world("Hand")
    told = rig.tool(TURN, objects=["Hand"], angle=35, about=[0, 0, 5], axis="y")
    assert told["verified"]
    assert _equal(_world("Hand"), _about((0, 0, 5), (0, 1, 0), 35) @ before)


def test_the_world_transform_is_told_with_shear_or_as_unknown(rig: Rig) -> None:
    import bpy

    def world(name: str) -> Any:
        return rig.tool("scene__get_object", name=name, detail=True)["world"]

    rig.cube("Uneven", translate=[5, 0, 0], scale=[1, 1, 3])
    rig.cube("Hung", translate=[1, 0, 0], rotate=[35, 0, 0])
    assert "sheared" not in world("Hung")
    rig.tool("scene__set_parent", name="Hung", parent="Uneven", keep_world=False)
    assert near(world("Hung")["translate"], [6, 0, 0])
    assert world("Hung")["sheared"] is True
    bpy.data.objects["Hung"].constraints.new("LIMIT_LOCATION")
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Hung"])
    hidden.objects.link(bpy.data.objects["Hung"])
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    assert world("Hung") is None
    assert "show it first" in refused(lambda: rig.tool(TURN, objects=["Hung"], angle=1))

"""Cases in which whole animation curves change: their modifiers, and their keys in time. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _moving(rig: Rig, name: str = "Box") -> Any:
    obj = rig.cube(name)
    for frame, height in ((1, 0.0), (11, 2.0)):
        obj.location.z = height
        obj.keyframe_insert("location", frame=frame)
    return obj


def _arm() -> Any:
    """Return an armature with two keyed bones."""
    import bpy

    obj = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("Arm", "Hand"):
        obj.data.edit_bones.new(name).tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in obj.pose.bones:
        for frame in (5, 15):
            bone.location.x = frame / 10
            bone.keyframe_insert("location", frame=frame)
    return obj


def _curves(rig: Rig, name: str) -> dict[str, Any]:
    listed = rig.tool("blender_animation__list_curves", name=name)["curves"]
    return {each["curve"]: each for each in listed}


def test_an_animation_repeats_with_cycles(rig: Rig) -> None:
    import bpy

    _moving(rig)
    told = rig.tool(
        "blender_animation__add_modifier",
        name="Box",
        type="cycles",
        values={"mode_after": "REPEAT", "cycles_after": 3},
    )
    assert told["count"] == 3
    bpy.context.scene.frame_set(21)
    assert near([bpy.data.objects["Box"].location.z], [2.0])
    bpy.context.scene.frame_set(22)
    assert bpy.data.objects["Box"].location.z < 0.5
    if bpy.app.version < (5, 0):
        again = {"name": "Box", "type": "cycles"}
        why = refused(lambda: rig.tool("blender_animation__add_modifier", **again))
        assert "cycles can only be the first" in why
    told = rig.tool("blender_animation__remove_modifier", name="Box", type="cycles")
    assert told["count"] == 3
    assert _curves(rig, "Box")["location[2]"]["modifiers"] == []
    assert rig.host.undo.undo(rig.call.undo_id) is True
    (modifier,) = _curves(rig, "Box")["location[2]"]["modifiers"]
    assert (modifier["type"], modifier["cycles_after"]) == ("cycles", 3)


def test_noise_is_added_to_one_curve_and_set(rig: Rig) -> None:
    _moving(rig)
    one: dict[str, Any] = {"name": "Box", "type": "noise", "curves": ["location[2]"]}
    rig.tool("blender_animation__add_modifier", **one, values={"strength": 0.5, "scale": 4})
    told = rig.tool("blender_animation__set_modifier", **one, values={"strength": 2, "mute": True})
    (modifier,) = told["curves"][0]["modifiers"]
    assert (modifier["strength"], modifier["scale"], modifier["mute"]) == (2, 4, True)
    assert _curves(rig, "Box")["location[0]"]["modifiers"] == []
    why = refused(
        lambda: rig.tool("blender_animation__set_modifier", **one, values={"loudness": 1})
    )
    assert "has no 'loudness'; it has: " in why
    why = refused(lambda: rig.tool("blender_animation__add_modifier", name="Box", type="wobble"))
    assert "there are: " in why
    assert "noise" in why
    why = refused(lambda: rig.tool("blender_animation__remove_modifier", name="Box", type="limits"))
    assert "none of these curves" in why
    rig.tool("blender_animation__add_modifier", **one)
    assert "give number" in refused(lambda: rig.tool("blender_animation__remove_modifier", **one))
    told = rig.tool("blender_animation__remove_modifier", **one, number=1)
    assert [each["strength"] for each in told["curves"][0]["modifiers"]] == [2]


def test_keys_are_shifted_and_scaled_with_their_handles(rig: Rig) -> None:
    import bpy

    _moving(rig)
    told = rig.tool("blender_animation__move_keys", name="Box", offset=10, scale=2)
    assert (told["was"], told["now"], told["keys"]) == ([1, 11], [11, 31], 6)
    keys = rig.tool("animation__list_keys", name="Box")["keys"]
    assert [each["frame"] for each in keys] == [11, 31]
    bpy.context.scene.frame_set(21)
    assert near([bpy.data.objects["Box"].location.z], [1.0])
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert _curves(rig, "Box")["location[0]"]["frames"] == [1, 11]


def test_keys_of_one_bone_move_and_those_of_the_other_stay(rig: Rig) -> None:
    _arm()
    told = rig.tool("blender_animation__move_keys", name="Rig", bones=["Hand"], offset=-2.5)
    assert told["now"] == [2.5, 12.5]
    frames = {name: each["frames"] for name, each in _curves(rig, "Rig").items()}
    assert frames['pose.bones["Hand"].location[0]'] == [2.5, 12.5]
    assert frames['pose.bones["Arm"].location[0]'] == [5, 15]
    why = refused(
        lambda: rig.tool("blender_animation__move_keys", name="Rig", bones=["Foot"], offset=1)
    )
    assert "it has: Arm, Hand" in why


def test_curves_of_shape_keys_have_names_and_modifiers(rig: Rig) -> None:
    obj = rig.cube("Face")
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="Smile")
    smile.keyframe_insert("value", frame=3)
    (name,) = _curves(rig, "Face")
    told = rig.tool(
        "blender_animation__add_modifier",
        name="Face",
        type="limits",
        curves=[name],
        values={"use_max_y": True, "max_y": 0.5},
    )
    assert told["curves"][0]["modifiers"][0]["max_y"] == 0.5
    told = rig.tool("blender_animation__move_keys", name="Face", offset=4)
    assert told["now"] == [7, 7]


def test_an_action_that_others_share_stays_as_it_is(rig: Rig) -> None:
    box = _moving(rig)
    twin = rig.cube("Twin")
    twin.animation_data_create().action = box.animation_data.action
    if hasattr(box.animation_data, "action_slot"):
        twin.animation_data.action_slot = box.animation_data.action_slot
    rig.tool("blender_animation__move_keys", name="Box", offset=5)
    assert _curves(rig, "Box")["location[0]"]["frames"] == [6, 16]
    assert _curves(rig, "Twin")["location[0]"]["frames"] == [1, 11]

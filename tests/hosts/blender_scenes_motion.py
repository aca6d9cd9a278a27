"""Cases with actions, keys, baking, and copies of animated objects. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _keyed(rig: Rig, name: str, **more: Any) -> Any:
    """Return a cube that moves from 0 to 10 along X, from frame 1 to 11."""
    import bpy

    rig.cube(name, **more)
    keys = [{"frame": 1, "translate": [0, 0, 0]}, {"frame": 11, "translate": [10, 0, 0]}]
    rig.tool("animation__set_keys", name=name, keys=keys)
    return bpy.data.objects[name]


def _frames(rig: Rig, name: str) -> list[float]:
    return [key["frame"] for key in rig.tool("animation__list_keys", name=name)["keys"]]


def test_each_slot_of_an_action_has_its_own_keys(rig: Rig) -> None:
    import bpy

    first, second = _keyed(rig, "First"), rig.cube("Second")
    if not hasattr(first.animation_data, "action_slot"):
        return  # Before 4.4, an action has one user.
    action = bpy.data.objects["First"].animation_data.action
    data = second.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new("OBJECT", "Second")
    second.location = (5, 5, 5)
    second.keyframe_insert("location", frame=7)
    assert _frames(rig, "First") == [1, 11]
    assert _frames(rig, "Second") == [7]
    assert rig.tool("animation__delete_keys", name="Second", start=0, end=99)["keys"] == 1
    assert _frames(rig, "First") == [1, 11]
    rig.tool("animation__set_keys", name="Second", keys=[{"frame": 2, "scale": [2, 2, 2]}])
    assert _frames(rig, "First") == [1, 11]
    saved = rig.reopened()
    assert [key["frame"] for key in saved["First"]["keys"]] == [1, 11]
    assert [key["frame"] for key in saved["Second"]["keys"]] == [2]


def test_a_copy_has_keys_of_its_own(rig: Rig) -> None:
    _keyed(rig, "Mover")
    rig.tool("scene__duplicate", name="Mover", new_name="Copy")
    assert rig.tool("animation__delete_keys", name="Copy", start=0, end=99)["keys"] == 2
    assert _frames(rig, "Mover") == [1, 11]
    rig.tool("scene__duplicate", name="Mover", new_name="Other")
    rig.tool("animation__bake", names=["Other"], start=1, end=3)
    saved = rig.reopened()
    assert [key["frame"] for key in saved["Mover"]["keys"]] == [1, 11]
    assert [key["frame"] for key in saved["Other"]["keys"]] == [1, 2, 3, 11]


def test_a_copy_of_what_was_moved_without_a_key_stands_where_it_does(rig: Rig) -> None:
    import bpy

    mover = _keyed(rig, "Mover")
    bpy.context.scene.frame_set(1)
    assert "doubt" not in rig.read.get("Mover")
    mover.location = (50, 60, 70)
    copied = rig.tool("scene__duplicate", name="Mover", new_name="Copy")
    assert (copied["verified"], copied["object"]["translate"]) == (False, [50, 60, 70])
    assert "set without a key" in copied["doubt"]
    assert rig.read.get("Mover")["translate"] == [50, 60, 70]
    saved = rig.reopened()
    # Read again, the file gives the same values.
    assert saved["Copy"]["translate"] == saved["Mover"]["translate"] != [50, 60, 70]
    assert "doubt" not in saved["Copy"]
    assert saved["Copy"]["keys"] == saved["Mover"]["keys"]


def test_keys_of_an_action_that_others_use_are_their_own(rig: Rig) -> None:
    mover, other = _keyed(rig, "Mover"), rig.cube("Other")
    import bpy

    mover = bpy.data.objects["Mover"]
    data = other.animation_data_create()
    data.action = mover.animation_data.action
    if hasattr(data, "action_slot"):
        data.action_slot = mover.animation_data.action_slot
    rig.tool("animation__set_keys", name="Other", keys=[{"frame": 5, "translate": [9, 9, 9]}])
    assert _frames(rig, "Mover") == [1, 11]
    assert _frames(rig, "Other") == [1, 5, 11]
    rig.tool("animation__bake", names=["Mover"], start=1, end=2)
    assert _frames(rig, "Other") == [1, 5, 11]


def test_a_copied_rig_moves_its_own_mesh(rig: Rig) -> None:
    import bpy

    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    mesh, aim = rig.cube("Skin"), rig.cube("Aim")
    armature = bpy.data.objects["Rig"]
    for obj in (mesh, aim):
        obj.parent = armature
    modifier = mesh.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    aiming = mesh.constraints.new("TRACK_TO")
    aiming.target = aim
    driver = mesh.driver_add("scale", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id = armature
    variable.targets[0].data_path = "location.x"
    outside = mesh.modifiers.new("Cast", "CAST")
    other = rig.cube("Elsewhere")
    outside.object = other
    rig.tool("scene__duplicate", name="Rig", new_name="Second rig")
    copy = bpy.data.objects["Second rig"]
    children = {child.name: child for child in copy.children}
    skin, aim = children["Skin.001"], children["Aim.001"]
    assert skin.modifiers["Armature"].object == copy
    assert skin.modifiers["Cast"].object == bpy.data.objects["Elsewhere"]
    assert skin.constraints[0].target == aim
    target = skin.animation_data.drivers[0].driver.variables[0].targets[0]
    assert target.id == copy
    assert bpy.data.objects["Skin"].modifiers["Armature"].object == bpy.data.objects["Rig"]


def test_keys_in_every_rotation_mode_and_below_a_parent_inverse(rig: Rig) -> None:
    import bpy
    from mathutils import Matrix

    rig.cube("Parent", translate=[5, 0, 0], rotate=[0, 0, 90])
    parent = bpy.data.objects["Parent"]
    for mode in ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX"):
        obj = rig.cube(mode)
        obj.rotation_mode = mode
        obj.parent = bpy.data.objects["Parent"]
        obj.matrix_parent_inverse = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(0.5, 4, "Z")
        place = {"translate": [7, 8, 9], "rotate": [10, 20, 30], "scale": [1, 2, 3]}
        done = rig.tool("animation__set_keys", name=mode, keys=[{"frame": 4, **place}])
        assert done["verified"] is True
    saved = rig.reopened()
    for mode in ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX"):
        (key,) = saved[mode]["keys"]
        for name, value in place.items():
            assert near(key[name], value), (mode, key)
            assert near(saved[mode][name], value), (mode, saved[mode])
    assert parent


def test_a_bake_leaves_everything_where_it_was(rig: Rig) -> None:
    import bpy
    from mathutils import Matrix

    _keyed(rig, "Target")
    for mode in ("XYZ", "QUATERNION"):
        obj = rig.cube(mode, rotate=[0, 0, 45])
        obj.rotation_mode = mode
        obj.parent = bpy.data.objects["Target"]
        obj.matrix_parent_inverse = Matrix.Rotation(0.5, 4, "Z") @ Matrix.Translation((1, 2, 3))
        obj.delta_location = (0, 0, 1)
        limit = obj.constraints.new("LIMIT_LOCATION")
        limit.use_max_x, limit.max_x = True, 4
    before = {}
    for frame in range(1, 12):
        bpy.context.scene.frame_set(frame)
        before[frame] = [bpy.data.objects[m].matrix_world.copy() for m in ("XYZ", "QUATERNION")]
    bpy.context.scene.frame_set(3, subframe=0.5)
    done = rig.tool("animation__bake", names=["XYZ", "QUATERNION"], start=1, end=11)
    assert done["keys"] == 22
    shown = bpy.context.scene
    assert (shown.frame_current, shown.frame_subframe) == (3, 0.5)
    for frame, places in before.items():
        shown.frame_set(frame)
        for mode, place in zip(("XYZ", "QUATERNION"), places, strict=True):
            now = bpy.data.objects[mode].matrix_world
            assert all(near(a, b) for a, b in zip(now, place, strict=True)), (mode, frame)


def test_motion_that_keys_cannot_express_is_not_baked(rig: Rig) -> None:
    """A constraint in world space under a turned, unevenly scaled parent is sheared in local
    space."""
    import bpy

    rig.cube("Parent", rotate=[0, 0, 30], scale=[1, 3, 1])
    rig.cube("Target", rotate=[0, 0, 70])
    obj = rig.cube("Child")
    obj.parent = bpy.data.objects["Parent"]
    obj.constraints.new("COPY_TRANSFORMS").target = bpy.data.objects["Target"]
    refusal = refused(lambda: rig.tool("animation__bake", names=["Child"], start=1, end=2))
    assert "sheared" in refusal
    assert len(bpy.data.objects["Child"].constraints) == 1


def test_a_bake_replaces_what_strips_play(rig: Rig) -> None:
    obj = _keyed(rig, "Walker")
    import bpy

    obj = bpy.data.objects["Walker"]
    data = obj.animation_data
    data.nla_tracks.new().strips.new("Walk", 1, data.action)
    data.action = None
    rig.tool("animation__bake", names=["Walker"], start=1, end=11)
    bpy.context.scene.frame_set(6)
    assert near(rig.read.get("Walker")["translate"], [5, 0, 0])
    assert _frames(rig, "Walker") == list(range(1, 12))


def test_keys_names_and_parents_come_back_out_of_a_usd_file(rig: Rig) -> None:
    if "usd" not in rig.host.ports:
        return
    import bpy

    _keyed(rig, "The Mover 1")
    rig.tool("animation__set_keys", name="The Mover 1", keys=[{"frame": 30, "rotate": [0, 0, 720]}])
    rig.tool("animation__set_keys", name="The Mover 1", keys=[{"frame": 5, "rotate": [0, 0, 0]}])
    rig.cube("Rider", translate=[0, 0, 2])
    rig.tool("scene__set_parent", name="Rider", parent="The Mover 1", keep_world=False)
    # Blender names imported objects by their mesh, and this name occurs often.
    for name in ("Twin.of it", "Other"):
        twin = bpy.data.objects.new(name, bpy.data.objects["Rider"].data)
        bpy.context.collection.objects.link(twin)
        twin.location.z = len(name)
    before = rig.tool("animation__list_keys", name="The Mover 1")["keys"]
    path = rig.folder / "moving.usda"
    rig.tool("usd__export_usd", path=str(path))
    rig.tool("scene__delete", names=rig.read.names())
    written = path.read_bytes()
    rig.tool("usd__import_usd", path=str(path))
    assert path.read_bytes() == written
    path.unlink()
    assert sorted(rig.read.names()) == ["Other", "Rider", "The Mover 1", "Twin.of it"]
    assert near(rig.read.get("Twin.of it")["translate"], [0, 0, 10])
    assert near(rig.read.get("Other")["translate"], [0, 0, 5])
    assert not list(bpy.data.objects["Other"].keys()) + list(bpy.data.objects["Other"].data.keys())
    assert rig.read.get("Rider")["parent"] == "The Mover 1"
    after = rig.tool("animation__list_keys", name="The Mover 1")["keys"]
    assert [key["frame"] for key in after] == [1, 5, 11, 30]
    for was, now in zip(before, after, strict=True):
        assert now.keys() == was.keys()
        assert now["interpolation"] == was["interpolation"]
        assert near(now.get("translate", []), was.get("translate", []))
        assert near(now.get("rotate", []), was.get("rotate", []))
    assert not len(bpy.data.cache_files)


def test_a_bake_leaves_the_keys_outside_its_range(rig: Rig) -> None:
    rig.cube("Runner")
    keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in (1, 10, 20, 30)]
    rig.tool("animation__set_keys", name="Runner", keys=keys)
    rig.tool("animation__bake", names=["Runner"], start=9, end=12)
    there = rig.tool("animation__list_keys", name="Runner")["keys"]
    assert [key["frame"] for key in there] == [1, 9, 10, 11, 12, 20, 30]


def test_a_light_of_the_sky_in_a_file_leaves_the_scenes_world_alone(rig: Rig) -> None:
    import bpy

    before = bpy.context.scene.world = bpy.data.worlds.new("Mine")
    file = rig.folder / "sky.usda"
    file.write_text(
        '#usda 1.0\n(\n    upAxis = "Z"\n)\n'
        'def DomeLight "Sky"\n{\n    float inputs:intensity = 3\n}\ndef Cube "Box"\n{\n}\n',
        encoding="utf-8",
    )
    rig.tool("usd__import_usd", path=str(file))
    assert [each.name for each in bpy.data.worlds] == ["Mine"]
    assert bpy.context.scene.world == before
    assert not before.use_nodes

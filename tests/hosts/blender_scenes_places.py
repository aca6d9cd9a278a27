"""Cases with the positions of objects, and the reports about them. See ``blender_scenes``."""

from __future__ import annotations

from math import pi
from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _hidden(rig: Rig, how: str) -> Any:
    """Return a hidden collection with the cube ``Child`` below ``Above``, which is turned."""
    import bpy

    collection = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(collection)
    rig.cube("Above", translate=[10, 0, 0], rotate=[0, 0, 90])
    rig.cube("Child", translate=[1, 2, 3])
    rig.tool("scene__set_parent", name="Child", parent="Above", keep_world=False)
    for name in ("Above", "Child"):
        bpy.context.scene.collection.objects.unlink(bpy.data.objects[name])
        collection.objects.link(bpy.data.objects[name])
    if how == "excluded":
        bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    else:
        collection.hide_viewport = True
    return collection


def _shown(rig: Rig) -> Any:
    import bpy

    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = False
    bpy.data.collections["Hidden"].hide_viewport = False
    bpy.context.view_layer.update()
    return [round(value, 4) for value in bpy.data.objects["Child"].matrix_world.translation]


def test_the_place_is_kept_in_an_excluded_collection(rig: Rig) -> None:
    _hidden(rig, "excluded")
    path = rig.tool("scene__save_file", path=str(rig.folder / "excluded.blend"))["path"]
    rig.tool("scene__open_file", path=path, discard_changes=True)
    rig.tool("scene__set_parent", name="Child", parent=None)
    assert near(_shown(rig), [8, 1, 3])


def test_the_place_is_kept_in_a_hidden_collection(rig: Rig) -> None:
    import bpy

    _hidden(rig, "hidden")
    # Objects that have moved since the last redraw count too.
    rig.tool("scene__transform", name="Above", translate=[20, 0, 0])
    rig.tool("scene__set_parent", name="Child", parent=None)
    assert near(_shown(rig), [18, 1, 3])
    bpy.data.objects["Child"].hide_set(True)
    rig.tool("scene__set_parent", name="Child", parent="Above")
    rig.tool("scene__transform", name="Above", translate=[0, 0, 0])
    rig.tool("scene__set_parent", name="Child", parent=None)
    assert near(_shown(rig), [-2, 1, 3])


def test_what_is_hidden_is_not_baked(rig: Rig) -> None:
    _hidden(rig, "excluded")
    import bpy

    child = bpy.data.objects["Child"]
    child.constraints.new("LIMIT_LOCATION")
    refusal = refused(lambda: rig.tool("animation__bake", names=["Child"], start=1, end=3))
    assert "show it first" in refusal
    assert len(bpy.data.objects["Child"].constraints) == 1


def test_bounds_hold_what_a_collection_instance_shows(rig: Rig) -> None:
    import bpy

    collection = bpy.data.collections.new("Asset")
    collection.instance_offset = (5, 0, 0)
    for name, x in (("Left", 4), ("Right", 6)):
        obj = rig.cube(name, translate=[x, 0, 0])
        bpy.context.scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    for name, x in (("One", 10), ("Two", 20)):
        instance = bpy.data.objects.new(name, None)
        instance.instance_type, instance.instance_collection = "COLLECTION", collection
        instance.location, instance.scale = (x, 0, 0), (2, 2, 2)
        bpy.context.scene.collection.objects.link(instance)
    box = rig.tool("scene__get_object", name="Two")["bounds"]
    assert near(box["min"], [16, -2, -2])
    assert near(box["max"], [24, 2, 2])
    path = str(rig.folder / "turn.##.png")
    done = rig.tool("render__turntable", path=path, frames=1, width=16, height=16)
    assert done["frames"] == 1


def test_moving_leaves_turn_and_size_alone(rig: Rig) -> None:
    """A child that was parented with Ctrl+P to a turned, unevenly scaled parent is sheared."""
    import bpy

    rig.cube("Parent", rotate=[0, 0, 30], scale=[1, 3, 1])
    child = rig.cube("Child", translate=[1, 2, 3], rotate=[10, 20, 30], scale=[1, 2, 0.5])
    parent = bpy.data.objects["Parent"]
    child.parent = parent
    child.matrix_parent_inverse = parent.matrix_world.inverted()
    bpy.context.view_layer.update()
    before = child.matrix_world.to_3x3().copy()
    rig.tool("scene__transform", name="Child", translate=[7, 8, 9])
    bpy.context.view_layer.update()
    after = bpy.data.objects["Child"].matrix_world.to_3x3()
    assert all(near(a, b) for a, b in zip(before, after, strict=True)), (before, after)
    saved = rig.reopened()["Child"]
    assert near(saved["translate"], [7, 8, 9])
    rig.tool("scene__transform", name="Child", rotate=[0, 0, 45])
    assert near(rig.reopened()["Child"]["rotate"], [0, 0, 45])


def test_zero_scale_keeps_the_turn(rig: Rig) -> None:
    obj = rig.cube("Flat", rotate=[10, 20, 30])
    obj.rotation_mode = "QUATERNION"
    rig.tool("scene__transform", name="Flat", rotate=[10, 20, 30], scale=[0, 0, 0])
    assert near(rig.read.get("Flat")["rotate"], [10, 20, 30])
    rig.tool("scene__transform", name="Flat", translate=[1, 0, 0])
    rig.tool("scene__transform", name="Flat", scale=[1, 1, 1])
    saved = rig.reopened()["Flat"]
    assert near(saved["rotate"], [10, 20, 30])
    assert near(saved["translate"], [1, 0, 0])


def test_a_mirrored_axis_stays_that_axis(rig: Rig) -> None:
    import bpy
    from mathutils import Matrix

    rig.cube("Parent", translate=[5, 0, 0], rotate=[0, 0, 90])
    obj = rig.cube("Mirrored", scale=[1, -2, 3], rotate=[10, 20, 30])
    obj.rotation_mode = "ZXY"
    obj.parent = bpy.data.objects["Parent"]
    obj.matrix_parent_inverse = Matrix.Translation((1, 2, 3))
    before = rig.read.get("Mirrored")
    assert near(before["scale"], [1, -2, 3])
    rig.tool("scene__transform", name="Mirrored", translate=[0, 0, 0])
    after = rig.reopened()["Mirrored"]
    assert near(after["scale"], [1, -2, 3])
    assert near(after["rotate"], before["rotate"])


def test_the_place_of_what_is_scaled_to_zero_is_kept(rig: Rig) -> None:
    import bpy

    rig.cube("Parent", translate=[5, 0, 0])
    rig.cube("Flat", translate=[1, 2, 3], scale=[1, 1, 0])
    rig.tool("scene__set_parent", name="Flat", parent="Parent")
    bpy.context.view_layer.update()
    assert near(bpy.data.objects["Flat"].matrix_world.translation, [1, 2, 3])
    assert near(rig.reopened()["Flat"]["scale"], [1, 1, 0])


def test_a_constrained_object_is_not_verified(rig: Rig) -> None:
    rig.cube("Target", translate=[5, 5, 5])
    obj = rig.cube("Follower")
    follows = obj.constraints.new("COPY_LOCATION")
    import bpy

    follows.target = bpy.data.objects["Target"]
    keys = [{"frame": 1, "translate": [1, 2, 3]}]
    for done in (
        rig.tool("scene__transform", name="Follower", translate=[1, 2, 3]),
        rig.tool("animation__set_keys", name="Follower", keys=keys),
    ):
        assert done["verified"] is False
        assert "Copy Location" in done["doubt"]
    rig.tool("animation__delete_keys", name="Follower", start=1, end=1)
    follows = bpy.data.objects["Follower"].constraints[0]
    follows.mute = True
    done = rig.tool("scene__transform", name="Follower", translate=[1, 2, 3])
    assert done["verified"] is True


def test_a_camera_that_is_turned_by_a_constraint_is_verified_in_what_else_is_set(rig: Rig) -> None:
    import bpy

    rig.cube("Target")
    rig.tool("cameras__create", name="Eye", translate=[0, -5, 2])
    follows = bpy.data.objects["Eye"].constraints.new("TRACK_TO")
    follows.target = bpy.data.objects["Target"]
    for tool, asked in (
        ("cameras__set", {"active": True, "fstop": 2.8, "focus_distance": 4.0}),
        ("cameras__set", {"translate": [1, -5, 2]}),
        ("scene__transform", {"translate": [2, -5, 2]}),
        ("attributes__set", {"attribute": "data.lens", "value": 35.0}),
        ("attributes__set", {"attribute": "location", "value": [2, -6, 2]}),
        ("scene__rename", {"new_name": "Lens"}),
        ("animation__set_keys", {"name": "Lens", "keys": [{"frame": 1, "translate": [3, -5, 2]}]}),
    ):
        done = rig.tool(tool, **{"name": "Eye", **asked})
        assert (done["verified"], "doubt" in done) == (True, False), (tool, done)
    shown = rig.tool("structure__set_visibility", objects=["Lens"], visible=True)
    assert shown["verified"] is True
    for tool, asked in (
        ("cameras__set", {"rotate": [10, 20, 30]}),
        ("attributes__set", {"attribute": "rotation_euler", "value": [1, 2, 3]}),
        ("animation__set_keys", {"keys": [{"frame": 1, "rotate": [0, 0, 45]}]}),
    ):
        done = rig.tool(tool, name="Lens", **asked)
        assert done["verified"] is False
        assert done["doubt"] == "the constraint 'Track To' gives it another rotation"


def test_a_constraint_goes_on_below_another_parent(rig: Rig) -> None:
    import bpy

    rig.cube("Target", translate=[5, 5, 5])
    rig.cube("Parent", translate=[100, 0, 0])
    obj = rig.cube("Follower", translate=[1, 0, 0])
    follows = obj.constraints.new("COPY_LOCATION")
    follows.target = bpy.data.objects["Target"]
    follows.use_offset = True
    bpy.context.view_layer.update()
    assert near(obj.matrix_world.translation, [6, 5, 5])
    rig.tool("scene__set_parent", name="Follower", parent="Parent")
    bpy.context.view_layer.update()
    assert near(bpy.data.objects["Follower"].matrix_world.translation, [6, 5, 5])


def test_what_strips_and_drivers_move_is_refused(rig: Rig) -> None:
    import bpy

    obj = rig.cube("Walker")
    obj.keyframe_insert("location", frame=1)
    data = obj.animation_data
    track = data.nla_tracks.new()
    track.strips.new("Walk", 1, data.action)
    data.action = None
    refusal = refused(lambda: rig.tool("scene__transform", name="Walker", translate=[1, 2, 3]))
    assert "animated" in refusal
    bpy.data.objects["Walker"].animation_data.nla_tracks[0].mute = True
    assert rig.tool("scene__transform", name="Walker", translate=[1, 2, 3])["verified"] is True
    driven = rig.cube("Driven")
    driven.driver_add("location", 0).driver.expression = "frame"
    key = {"frame": 1, "translate": [1, 2, 3]}
    assert "driver" in refused(lambda: rig.tool("animation__set_keys", name="Driven", keys=[key]))
    refusal = refused(lambda: rig.tool("scene__transform", name="Driven", translate=[1, 2, 3]))
    assert "the location of 'Driven' is animated" in refusal
    turned = rig.tool("scene__transform", name="Driven", rotate=[0, 0, 30], scale=[1, 1, 2])
    assert turned["verified"] is True, "channels that nothing drives must stay free"
    turn = {"frame": 1, "rotate": [0, 0, 30]}
    assert rig.tool("animation__set_keys", name="Driven", keys=[turn])["verified"] is True


def test_what_the_artist_locked_stays(rig: Rig) -> None:
    import bpy

    obj = rig.cube("Control", translate=[1, 2, 3])
    obj.lock_location = (False, False, True)
    obj.lock_rotation = (True, False, False)
    refusal = refused(lambda: rig.tool("scene__transform", name="Control", translate=[1, 2, 4]))
    assert "locked location of 'Control'" in refusal
    assert rig.read.get("Control")["translate"] == [1, 2, 3]
    moved = rig.tool("scene__transform", name="Control", translate=[5, 6, 3], rotate=[0, 45, 0])
    assert moved["verified"]
    bpy.data.objects["Control"].rotation_mode = "QUATERNION"
    turn = refused(lambda: rig.tool("scene__transform", name="Control", rotate=[0, 90, 0]))
    assert "locked rotation of 'Control'" in turn
    kept = rig.read.get("Control")
    assert near(kept["rotate"], [0, 45, 0])
    assert near(kept["translate"], [5, 6, 3])


def test_every_change_is_there_after_the_next_load(rig: Rig) -> None:
    """Each tool's answer equals what another process reads from the file."""
    import bpy

    for number in range(6):
        obj = rig.cube(f"Box {number}", translate=[number, 0, 0])
        obj.rotation_mode = ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX", "XYZ", "QUATERNION")[number]
    bpy.data.objects["Box 3"].delta_location = (1, 1, 1)
    bpy.data.objects["Box 3"].delta_rotation_euler = (0, 0, pi / 4)
    place = {"translate": [1, 2, 3], "rotate": [10, 20, 30], "scale": [1, 2, 3]}
    answers = [rig.tool("scene__transform", name=f"Box {number}", **place) for number in range(4)]
    answers += [
        rig.tool("scene__set_parent", name="Box 4", parent="Box 1"),
        rig.tool("scene__rename", name="Box 5", new_name="Other"),
        rig.tool("scene__set_material_color", name="Box 2", color=[1, 0.5, 0.25]),
        rig.tool("scene__duplicate", name="Box 1", new_name="Copy", translate=[0, 0, 9]),
        rig.tool("scene__create_primitive", kind="torus", name="Ring", **place),
    ]
    rig.tool("blender_modelling__add_modifier", name="Ring", kind="bevel")
    rig.cube("Keyed")
    rig.tool("animation__set_keys", name="Keyed", keys=[{"frame": 3, "rotate": [0, 0, 45]}])
    rig.tool("animation__set_timeline", start=5, end=50, current=7)
    modelled = {}
    for name in ("Bevelled", "Applied", "Bare", "Smooth"):
        rig.cube(name)
    for name in ("Bevelled", "Applied", "Bare"):
        rig.tool("blender_modelling__add_modifier", name=name, kind="subdivide")
    modelled["Applied"] = rig.tool("blender_modelling__apply_modifiers", name="Applied")
    rig.tool("blender_modelling__remove_modifier", name="Bare", modifier="Subdivide")
    rig.tool("blender_modelling__shade", name="Smooth", smooth=True)
    rig.tool("animation__bake", names=["Smooth"], start=1, end=3)
    gone = rig.tool("scene__delete", name="Box 0")["deleted"]
    rig.tool("scene__select", names=["Ring", "Smooth"])
    saved = rig.reopened()
    assert {path for path, each in saved.items() if each["selected"]} == {"Ring", "Smooth"}
    assert saved["Bevelled"]["modifiers"] == ["Subdivide"]
    assert saved["Bare"]["modifiers"] == saved["Applied"]["modifiers"] == []
    assert saved["Applied"]["faces"] == modelled["Applied"]["mesh"]["faces"] == 24
    assert saved["Smooth"]["smooth"]
    assert not saved["Bare"]["smooth"]
    assert [key["frame"] for key in saved["Smooth"]["keys"]] == [1, 2, 3]
    timeline = saved["Ring"]["timeline"]
    assert (timeline["start"], timeline["end"], timeline["current"]) == (5, 50, 7)
    assert not set(gone) & set(saved)
    told = {answer["object"]["path"]: answer["object"] for answer in answers}
    for path, answered in told.items():
        if path in gone:
            continue
        for key in ("type", "parent", "visible"):
            assert saved[path][key] == answered[key], (path, key)
        for key in ("translate", "rotate", "scale"):
            assert near(saved[path][key], answered[key]), (path, key, answered, saved[path])
    assert near(saved["Box 2"]["color"], [1, 0.5, 0.25])
    assert saved["Ring"]["modifiers"] == ["Bevel"]
    assert near(saved["Keyed"]["keys"][0]["rotate"], [0, 0, 45])


def test_a_mesh_that_is_broken_has_no_box(rig: Rig) -> None:
    import bpy

    mesh = bpy.data.meshes.new("Broken")
    mesh.from_pydata([(0, 0, 0), (float("inf"), 0, 0), (0, float("nan"), 0)], [], [(0, 1, 2)])
    broken = bpy.data.objects.new("Broken", mesh)
    bpy.context.scene.collection.objects.link(broken)
    assert rig.tool("scene__get_object", name="Broken")["bounds"] is None
    moved = rig.tool("scene__transform", name="Broken", translate=[1, 2, 3])
    assert (moved["verified"], moved["object"]["translate"]) == (True, [1, 2, 3])


def test_what_only_other_scenes_hold_is_never_touched(rig: Rig) -> None:
    import bpy

    here, there = bpy.context.scene, bpy.data.scenes.new("There")
    top, both, apart, shared, bound = (
        rig.cube(name) for name in ("Top", "Both", "Apart", "Shared", "Bound")
    )
    loose = bpy.data.objects.new("Loose", None)
    loose.parent = top
    there.collection.objects.link(both)
    kept = bpy.data.collections.new("Kept")
    kept.objects.link(apart)
    common = bpy.data.collections.new("Common")
    for scene in (here, there):
        scene.collection.children.link(common)
    common.objects.link(shared)
    here.collection.objects.unlink(shared)
    hanging = bpy.data.objects.new("Hanging", None)
    hanging.parent = bound
    there.collection.objects.link(hanging)
    assert rig.tool("scene__get_object", name="Top")["children"] == []
    gone = rig.tool("scene__delete", names=["Both", "Apart", "Top"])["deleted"]
    assert sorted(gone) == ["Apart", "Both", "Top"], "only objects of this scene may be deleted"
    assert sorted(o.name for o in here.objects) == ["Bound", "Shared"]
    assert sorted(o.name for o in there.objects) == ["Both", "Hanging", "Shared"]
    assert [o.name for o in bpy.data.collections["Kept"].objects] == ["Apart"]
    assert "Top" not in bpy.data.objects
    assert "'There' shows too" in refused(lambda: rig.tool("scene__delete", name="Shared"))
    assert "is parented to 'Bound'" in refused(lambda: rig.tool("scene__delete", name="Bound"))


def test_a_rig_with_bones_of_another_add_on_can_be_copied(rig: Rig) -> None:
    import bpy

    data = bpy.data.armatures.new("Rig")
    top = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(top)
    link = bpy.data.objects.new("Bone link", None)  # The object is in no scene, like VRM's objects.
    link.parent = top
    made = rig.tool("scene__duplicate", name="Rig", new_name="Copy")["created"]
    assert made == ["Copy"]
    assert [each.name for each in bpy.context.scene.objects] == ["Rig", "Copy"]


def test_an_object_of_two_scenes_stays_in_both_when_it_leaves_a_group(rig: Rig) -> None:
    import bpy

    here, there = bpy.context.scene, bpy.data.scenes.new("There")
    box = rig.cube("Box")
    group = rig.tool("structure__create_group", name="Props", objects=["Box"])["group"]["path"]
    here.collection.objects.unlink(box)
    there.collection.objects.link(box)
    rig.tool("structure__remove_from_group", name=group, objects=["Box", "Box"])
    assert box.name not in bpy.data.collections["Props"].objects
    assert box.name in here.objects
    assert box.name in there.objects


def test_an_object_of_a_shared_group_stays_in_both_scenes_when_it_leaves_the_group(
    rig: Rig,
) -> None:
    import bpy

    here, there = bpy.context.scene, bpy.data.scenes.new("There")
    box = rig.cube("Box")
    rig.tool("structure__create_group", name="Props", objects=["Box"], move=True)
    there.collection.children.link(bpy.data.collections["Props"])
    rig.tool("structure__remove_from_group", name="Props", objects=["Box"])
    assert [*bpy.data.collections["Props"].objects] == []
    assert [*here.objects] == [*there.objects] == [box]


def test_a_group_is_not_put_inside_itself_through_instances(rig: Rig) -> None:
    import bpy

    for name, inside in (("Inner", ()), ("Outer", ["Shows Inner"])):
        rig.tool("structure__create_group", name=name, objects=inside)
        shown = rig.tool("structure__create_empty", name=f"Shows {name}")["object"]["path"]
        bpy.data.objects[shown].instance_type = "COLLECTION"
        bpy.data.objects[shown].instance_collection = bpy.data.collections[name]
    why = refused(
        lambda: rig.tool("structure__add_to_group", name="Inner", objects=["Shows Outer"])
    )
    assert "isn't inside that one" in why


def test_a_child_of_a_path_keeps_its_place(rig: Rig) -> None:
    import bpy

    rig.tool("geometry__create_curve", name="Path", points=[[0, 0, 0], [4, 2, 0], [9, 2, 5]])
    curve = bpy.data.objects["Path"].data
    curve.use_path, curve.eval_time = True, 40
    for name, follows in (("Straight", False), ("Turned", True)):
        curve.use_path_follow = follows
        rig.cube(name, translate=[1, 2, 3], rotate=[10, 20, 30])
        for parent in ("Path", None):
            done = rig.tool("scene__set_parent", name=name, parent=parent)
            assert done["verified"], done
    assert near(rig.read.get("Turned")["translate"], (1, 2, 3))
    assert "Carried" not in bpy.data.objects


def test_a_copy_of_a_rigid_body_is_one_too(rig: Rig) -> None:
    import bpy

    box = rig.cube("Box")
    with bpy.context.temp_override(object=box, active_object=box, selected_objects=[box]):
        bpy.ops.rigidbody.object_add()
    copied = rig.tool("scene__duplicate", name="Box")["created"]
    bodies = bpy.context.scene.rigidbody_world.collection.objects
    assert sorted(each.name for each in bodies) == sorted(["Box", *copied])

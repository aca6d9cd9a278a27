"""Cases in which anything broken or unused, anywhere in a file, is found and repaired: drivers,
constraints, and data that no scene uses. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, add_bones, armature, near, refused


def _object(name: str, data: Any = None, scene: Any = None) -> Any:
    """Return a new object, in the given scene or in none."""
    import bpy

    obj = bpy.data.objects.new(name, data)
    if scene is not None:
        scene.collection.objects.link(obj)
    return obj


def _two_scenes() -> tuple[Any, Any]:
    import bpy

    bpy.context.scene.name = "Main"
    return bpy.context.scene, bpy.data.scenes.new("Other")


def _driven(obj: Any, reads: Any, path: str) -> Any:
    driver = obj.driver_add("rotation_euler", 2).driver
    variable = driver.variables.new()
    variable.name = "open"
    variable.targets[0].id, variable.targets[0].data_path = reads, path
    driver.expression = "open * 2"
    return driver


def test_a_driver_whose_target_is_gone_reads_another_object(rig: Rig) -> None:
    import bpy

    main, other = _two_scenes()
    gone, handle = _object("Gone", scene=other), _object("Handle", scene=other)
    handle.location.x = 0.25
    door = _object("Door", scene=main)
    _driven(door, gone, "location.x")
    bpy.data.objects.remove(gone)
    (listed,) = rig.tool("blender_data__list_drivers", broken=True)["drivers"]
    assert listed["variables"] == [{"name": "open", "reads": ["nothing: location.x"]}]
    assert listed["scenes"] == ["Main"]
    asked = {"of": listed["of"], "drives": listed["drives"]}
    told = rig.tool("blender_data__set_driver", **asked, target="Handle")
    assert told["driver"]["valid"] is True
    assert told["driver"]["variables"][0]["reads"] == ["Handle: location.x"]
    assert abs(door.matrix_world.to_euler().z - 0.5) < 1e-5
    assert rig.tool("blender_data__list_drivers")["broken"] == 0
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert rig.tool("blender_data__list_drivers")["broken"] == 1
    why = refused(
        lambda: rig.tool("blender_data__set_driver", **asked, target="Handle", property="size")
    )
    assert "'Handle' has no 'size'" in why
    told = rig.tool(
        "blender_data__set_driver",
        **asked,
        target="Main",
        target_kind="scenes",
        property="frame_current",
        formula="min(open, 100) / 100",
    )
    assert told["driver"]["variables"][0]["reads"] == ["Main: frame_current"]
    assert told["driver"]["expression"] == "min(open, 100) / 100"
    assert bpy.data.objects["Door"].rotation_euler.z > 0
    rig.tool("blender_data__remove_driver", **asked)
    assert rig.tool("blender_data__list_drivers")["total"] == 0
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert rig.tool("blender_data__list_drivers")["total"] == 1


def test_what_a_driver_would_give_is_what_it_gives(rig: Rig) -> None:
    import bpy

    door, handle = rig.cube("Door"), rig.cube("Handle")
    driver = _driven(door, handle, "location.x")
    asked = {"of": "Door", "drives": "rotation_euler[2]"}

    def told(**values: float) -> float:
        return float(rig.tool("blender_data__try_driver", **asked, values=values)["value"])

    for formula in (
        "open * 2 + 1",
        "clamp(open) - clamp(open * 3, -1, 2) / 4",
        "smoothstep(0, 2, open) if open > 0.25 and not open == 1 else lerp(5, 6, open)",
        "round(open * 1.5) + int(-open * 2) + min(open, 1, -2) + atan2(open, 2) + fmod(open, 0.4)",
        "1 < open + 1 <= 2 or pi * radians(open)",
        "open and open - 1 and open + 2",
        "frame / 3 + pow(abs(open), 0.5) - -floor(open)",
    ):
        rig.tool("blender_data__set_driver", **asked, formula=formula)
        for value in (-1.25, 0.0, 0.25, 0.5, 1.0, 2.75):
            handle.location.x = value
            bpy.context.view_layer.update()
            given = door.rotation_euler.z
            handle.location.x = 9
            bpy.context.view_layer.update()
            assert near([told(open=value)], [given]), (formula, value)
            assert (handle.location.x, near([told()], [door.rotation_euler.z])) == (9, True)
    more = driver.variables.new()
    more.name, more.type = "far", "LOC_DIFF"
    more.targets[0].id, more.targets[1].id = door, handle
    driver.type = "AVERAGE"
    assert "give a value for 'far'" in refused(lambda: told(open=1))
    assert near([told(open=1, far=4)], [2.5])
    assert "it has: open, far" in refused(lambda: told(opn=1))
    driver.type, driver.expression = "SCRIPTED", "open.real"
    assert "Python code" in refused(lambda: told(open=1, far=1))


def test_a_driver_without_effect_is_not_said_to_work(rig: Rig) -> None:
    door, handle = rig.cube("Door"), rig.cube("Handle")
    handle.location.x = 0.25
    _driven(door, handle, "location.x")
    curve = door.animation_data.drivers[0]
    curve.mute = True
    asked = {"of": "Door", "drives": "rotation_euler[2]"}
    told = rig.tool("blender_data__set_driver", **asked, formula="open * 4")
    assert told["verified"] is False
    assert told["doubt"] == "the driver of 'rotation_euler[2]' is muted"
    assert (told["driver"]["valid"], told["driver"]["works"]) == (True, False)
    listed = rig.tool("blender_data__list_drivers", idle=True)
    assert (listed["broken"], listed["idle"]) == (0, 1)
    assert listed["drivers"][0]["muted"] is True
    (fault,) = rig.tool("check__run", rules=["broken_drivers"])["findings"]
    assert (fault["severity"], "muted" in fault["why"]) == ("hint", True)
    told = rig.tool("blender_data__set_driver", **asked, mute=False)
    assert told["verified"] is True
    assert "muted" not in told["driver"]
    assert near([door.matrix_world.to_euler().z], [1.0])
    bevel = door.modifiers.new("Bevel", "BEVEL")
    bevel.show_viewport = bevel.show_render = False
    limit = door.constraints.new("LIMIT_LOCATION")
    reads = [{"name": "far", "target": "Handle", "property": "location[0]"}]
    for drives, works in (
        ('modifiers["Bevel"].width', False),
        ('modifiers["Bevel"].show_render', True),
        (f'constraints["{limit.name}"].max_x', True),
    ):
        told = rig.tool("blender_data__add_driver", of="Door", drives=drives, variables=reads)
        assert told["driver"]["works"] is told["verified"] is works, told
    limit.mute = True
    listed = rig.tool("blender_data__list_drivers", idle=True)["drivers"]
    assert {each["why"] for each in listed} == {
        "the modifier 'Bevel' is switched off",
        "the constraint 'Limit Location' is muted",
    }


def test_every_reason_why_a_driver_does_nothing_is_told(rig: Rig) -> None:
    door, handle = rig.cube("Door"), rig.cube("Handle")
    handle["open_rear"] = 0.5
    rigged = armature("Rig", "Arm")
    driver = _driven(door, handle, '["open"]')
    more = driver.variables.new()
    more.name, more.targets[0].id = "arm", rigged
    more.targets[0].data_path = 'pose.bones["Armm"].location.x'
    driver.variables.new().name = "lost"
    door.animation_data.drivers[0].mute = True
    (listed,) = rig.tool("blender_data__list_drivers")["drivers"]
    assert listed["why"].split("; ") == [
        "'Handle' has no '[\"open\"]', which drives 'rotation_euler[2]'"
        ' (did you mean ["open_rear"]?)',
        "'Rig' has no 'pose.bones[\"Armm\"].location.x', which drives 'rotation_euler[2]'"
        ' (did you mean pose.bones["Arm"].location.x?)',
        "the variable 'lost' of the driver of 'rotation_euler[2]' has no target",
        "the driver of 'rotation_euler[2]' is muted",
    ]
    bevel = door.modifiers.new("Bevel", "BEVEL")
    bevel.driver_add("width").driver.expression = "frame"
    bevel.name = "Round"
    door.driver_remove("rotation_euler")
    door.animation_data.drivers[0].data_path = 'modifiers["Bevl"].width'
    (listed,) = rig.tool("blender_data__list_drivers")["drivers"]
    assert listed["why"].startswith("'modifiers[\"Bevl\"].width[0]' is driven, but isn't there")
    (fault,) = rig.tool("check__run", rules=["broken_drivers"])["findings"]
    assert (fault["severity"], fault["why"]) == ("error", listed["why"])


def test_broken_drivers_of_scenes_that_were_never_shown_are_found(rig: Rig) -> None:
    import bpy

    _, other = _two_scenes()
    for name, path, expression in (
        ("Typo", "location", "frme * 2"),
        ("Cut", "location", "frame *"),
        ("Lost", '["mood"]', "frame"),
        ("Well", "location", "sum(each * frame for each in (1, 2)) + noise.random()"),
    ):
        obj = _object(name, scene=other)
        obj["mood"] = 0.0
        obj.driver_add(path, *([0] if path == "location" else [])).driver.expression = expression
    del bpy.data.objects["Lost"]["mood"]
    listed = rig.tool("blender_data__list_drivers", broken=True)["drivers"]
    why = {each["of"]: each["why"] for each in listed}
    assert sorted(why) == ["Cut", "Lost", "Typo"]
    assert "'frme', which is unknown here" in why["Typo"]
    assert "can't be read" in why["Cut"]
    assert "isn't there" in why["Lost"]


def test_the_expression_of_a_driver_can_t_be_code(rig: Rig) -> None:
    main, _ = _two_scenes()
    door, handle = _object("Door", scene=main), _object("Handle", scene=main)
    _driven(door, handle, "location.x")
    asked = {"of": "Door", "drives": "rotation_euler[2]"}
    for code in ("__import__('os').getpid()", "open.x", "wide * 2", "[0][0]", "9 ** 9"):
        why = refused(lambda code=code: rig.tool("blender_data__set_driver", **asked, formula=code))
        assert "isn't plain arithmetic" in why
        assert "open" in why
        (driver,) = rig.tool("blender_data__list_drivers")["drivers"]
        assert driver["expression"] == "open * 2"
    why = refused(lambda: rig.tool("blender_data__remove_driver", of="Door", drives="scale[0]"))
    assert "it has: rotation_euler[2]" in why


def test_a_variable_of_several_is_named_and_a_channel_is_set(rig: Rig) -> None:
    main, _ = _two_scenes()
    door, handle = _object("Door", scene=main), _object("Handle", scene=main)
    driver = _driven(door, handle, "location.x")
    second = driver.variables.new()
    second.name, second.type = "turn", "TRANSFORMS"
    asked = {"of": "Door", "drives": "rotation_euler[2]", "target": "Handle"}
    why = refused(lambda: rig.tool("blender_data__set_driver", **asked))
    assert "it has: open, turn" in why
    told = rig.tool("blender_data__set_driver", **asked, variable="turn", property="rot_z")
    assert told["driver"]["variables"][1] == {"name": "turn", "reads": ["Handle: rot_z"]}


def test_what_comes_from_another_file_keeps_its_driver_and_constraints(rig: Rig) -> None:
    import bpy

    def make() -> None:
        door = rig.cube("Door")
        target = rig.cube("Target")
        _driven(door, target, "location.x")
        door.constraints.new("COPY_LOCATION").target = target

    path = rig.library("door.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Door"]
    linked = bpy.data.objects["Door"]
    bpy.context.scene.collection.objects.link(linked)
    rig.cube("Handle")
    driver = {"drives": "rotation_euler[2]", "target": "Handle"}
    held = {"constraint": "Copy Location"}
    for name in ("Door [door.blend]", "Door"):
        if name == "Door":
            linked.override_create(remap_local_usages=True)
        why = refused(lambda name=name: rig.tool("blender_data__set_driver", of=name, **driver))
        assert "comes from another file" in why
        why = refused(
            lambda name=name: rig.tool("blender_data__remove_constraint", name=name, **held)
        )
        assert "linked" in why
    rig.tool("blender_data__set_constraint", name="Door", **held, target="Handle")
    rig.tool("blender_data__set_constraint", name="Door", kind="copy_scale", target="Handle")
    rig.reopened()
    bpy.ops.wm.open_mainfile(filepath=str(rig.folder / "saved.blend"))
    kept = bpy.data.objects["Door", None].constraints
    assert [(each.type, each.target.name_full) for each in kept] == [
        ("COPY_LOCATION", "Handle"),
        ("COPY_SCALE", "Handle"),
    ]


def test_a_constraint_without_a_target_is_flagged_everywhere(rig: Rig) -> None:
    import bpy

    main, other = _two_scenes()
    lamp = _object("Lamp", scene=main)
    gone = _object("Gone", scene=main)
    for kind in ("TRACK_TO", "PIVOT", "LIMIT_LOCATION"):
        lamp.constraints.new(kind)
    lamp.constraints["Track To"].target = gone
    far = _object("Far", scene=other)
    far.constraints.new("COPY_LOCATION")
    assert rig.tool("check__run", rules=["broken_constraints"])["findings"] == []
    bpy.data.objects.remove(gone)
    listed = rig.tool("blender_data__list_constraints", broken=True)
    assert (listed["total"], listed["broken"]) == (4, 2)
    told = {each["of"]: each for each in listed["constraints"]}
    assert {name: each["scenes"] for name, each in told.items()} == {
        "Lamp": ["Main"],
        "Far": ["Other"],
    }
    assert told["Lamp"]["why"] == "the constraint 'Track To' has no target"
    (lamp,) = rig.tool("scene__find", constraint="*")["objects"]
    assert [each["valid"] for each in lamp["constraints"]] == [False, True, True]
    (shown,) = rig.tool("scene__get_object", name="Lamp", detail=True)["constraints"][:1]
    assert "no target" in shown["why"]
    checked = rig.tool("check__run", rules=["broken_constraints"])
    (finding,) = checked["findings"]
    assert (finding["object"], finding["severity"]) == ("Lamp", "warning")
    rig.tool(finding["fix"]["tool"], **finding["fix"]["arguments"])
    assert [each.type for each in bpy.data.objects["Lamp"].constraints] == [
        "PIVOT",
        "LIMIT_LOCATION",
    ]
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert len(bpy.data.objects["Lamp"].constraints) == 3


def test_constraints_are_added_aimed_and_removed_in_any_scene(rig: Rig) -> None:
    import bpy

    main, _ = _two_scenes()
    hero = _object("Hero", scene=main)
    hero.location = (3, 0, 0)
    camera = _object("Camera", bpy.data.cameras.new("Camera"), main)
    told = rig.tool(
        "blender_data__set_constraint", name="Camera", kind="damped_track", target="Hero"
    )
    assert told["constraint"]["valid"] is True
    assert told["constraint"]["uses"] == ["Hero"]
    assert "others" not in told
    # A camera looks along its negative Z axis.
    assert tuple(round(-each, 3) for each in camera.matrix_world.col[2][:3]) == (1, 0, 0)
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert not bpy.data.objects["Camera"].constraints
    far = _object("Far", scene=bpy.data.scenes["Other"])
    far.constraints.new("TRACK_TO")
    driver = far.driver_add('constraints["Track To"].influence').driver
    driver.expression = "1"
    aimed = {"name": "Far", "constraint": "Track To"}
    rig.tool("blender_data__set_constraint", **aimed, target="Hero")
    assert bpy.data.objects["Far"].constraints[0].target.name == "Hero"
    told = rig.tool("blender_data__set_constraint", name="Far", kind="copy_scale", target="Hero")
    assert told["others"] == ["Track To"]
    rig.tool("blender_data__remove_constraint", name="Far", constraint="Copy Scale")
    rig.tool("blender_data__remove_constraint", **aimed)
    assert not bpy.data.objects["Far"].constraints
    assert rig.tool("blender_data__list_drivers")["total"] == 0
    for asked, reason in (
        ({**aimed, "target": "Hero"}, "'Far' has no constraint 'Track To'; it has none"),
        ({"name": "Far", "kind": "nonsense", "target": "Hero"}, "can't add"),
        ({"name": "Far", "kind": "limit_location", "target": "Hero"}, "no single target"),
        ({"name": "Far", "kind": "follow_path", "target": "Hero"}, "'Hero'"),
        ({"name": "Far", "kind": "track_to", "target": "Far"}, "its own"),
        ({"name": "Far", "kind": "track_to", "target": "Her"}, "Hero"),
    ):
        assert reason in refused(lambda a=asked: rig.tool("blender_data__set_constraint", **a))
        assert not bpy.data.objects["Far"].constraints


def test_a_bone_s_constraint_is_aimed_at_a_bone_and_removed(rig: Rig) -> None:
    import bpy

    main, _ = _two_scenes()
    data = bpy.data.armatures.new("Rig")
    obj = _object("Rig", data, main)
    add_bones(obj, "Hand", "Goal")
    aimed = {"name": "Rig", "of_bone": "Hand", "target": "Rig"}
    bone = {"target_bone": "Foot"}
    why = refused(lambda: rig.tool("blender_data__set_constraint", **aimed, **bone, kind="ik"))
    assert "names the bone 'Foot'" in why
    told = rig.tool("blender_data__set_constraint", **aimed, target_bone="Goal", kind="ik")
    assert (told["constraint"]["of_bone"], told["constraint"]["bone"]) == ("Hand", "Goal")
    why = refused(lambda: rig.tool("blender_data__remove_constraint", name="Rig", constraint="IK"))
    assert "of_bone, which is one of 'Hand'" in why
    rig.tool("blender_data__remove_constraint", name="Rig", constraint="IK", of_bone="Hand")
    assert not bpy.data.objects["Rig"].pose.bones["Hand"].constraints


def test_a_child_stays_where_it_is_when_its_constraint_gets_a_target(rig: Rig) -> None:
    rig.cube("Above", translate=[5, 0, 0])
    child = rig.cube("Child", translate=[1, 2, 3])
    rig.tool("blender_data__set_constraint", name="Child", kind="child_of", target="Above")
    assert tuple(round(each, 3) for each in child.matrix_world.translation) == (1, 2, 3)


def _messy(rig: Rig) -> None:
    """Make objects that are in no scene: unused, used by an object of a scene, or with a fake user;
    and materials and a collection to go with them."""
    import bpy

    main, other = _two_scenes()
    stray = _object("Stray", bpy.data.meshes.new("StrayMesh"))
    stray.data.materials.append(bpy.data.materials.new("StrayPaint"))
    stray.shape_key_add(name="Basis")
    _object("StrayChild").parent = stray
    lost = bpy.data.collections.new("Lost")
    trash = bpy.data.collections.new("Trash")
    trash.use_fake_user = True
    trash.objects.link(_object("InTrash"))
    lost.objects.link(_object("InLost"))
    wall = _object("Wall", bpy.data.meshes.new("Wall"), main)
    wall.modifiers.new("Hole", "BOOLEAN").object = _object("Cutter", bpy.data.meshes.new("Cutter"))
    _object("Far", bpy.data.meshes.new("Far"), other)
    _object("Kept").use_fake_user = True
    bpy.data.texts.new("Notes").use_fake_user = True
    bpy.data.materials.new("Asset").asset_mark()
    bpy.data.materials.new("KeptPaint").use_fake_user = True
    main.collection.children.link(bpy.data.collections.new("Empty"))


def test_a_dry_run_names_exactly_what_a_purge_then_removes(rig: Rig) -> None:
    import bpy

    _messy(rig)
    before = {each.name for each in bpy.data.objects}
    told = rig.tool("blender_data__purge", empty_collections=True, dry_run=True)
    assert {each.name for each in bpy.data.objects} == before
    assert told["would_remove"] == {
        "collections": ["Empty", "Lost"],
        "materials": ["StrayPaint"],
        "meshes": ["StrayMesh"],
        "objects": ["InLost", "Stray", "StrayChild"],
        "shape_keys": ["Key"],
    }
    assert told["kept"] == {
        "collections": ["Trash"],
        "materials": ["KeptPaint"],
        "objects": ["InTrash", "Kept"],
    }
    more = rig.tool("blender_data__purge", fake_users=True, dry_run=True)["would_remove"]
    assert more["objects"] == ["InLost", "InTrash", "Kept", "Stray", "StrayChild"]
    assert more["materials"] == ["KeptPaint", "StrayPaint"]
    done = rig.tool("blender_data__purge", empty_collections=True)
    assert (done["removed"], done["count"]) == (told["would_remove"], told["count"])
    assert {each.name for each in bpy.data.objects} == {"Wall", "Cutter", "Far", "InTrash", "Kept"}
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert {each.name for each in bpy.data.objects} == before


def test_a_purge_removes_what_blender_s_own_does_and_nothing_else(rig: Rig) -> None:
    import bpy

    path = rig.library("paint.blend", lambda: rig.tool("materials__create", name="Far") and None)
    for purge in (_own_purge, rig.tool):
        bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True)
        with bpy.data.libraries.load(path, link=True) as (_, wanted):
            wanted.materials = ["Far"]
        loose = _object("Loose", bpy.data.meshes.new("Loose"))
        loose.data.materials.append(wanted.materials[0])
        bpy.data.node_groups.new("Group", "ShaderNodeTree")
        bpy.data.images.new("Picture", 1, 1)
        bpy.data.objects["Cube"].animation_data_create().action = bpy.data.actions.new("Used")
        bpy.data.actions.new("Spare").use_fake_user = True
        purge("blender_data__purge")
        left = {
            prop.identifier: sorted(
                each.name for each in getattr(bpy.data, prop.identifier) if each.name[0] != "."
            )
            for prop in bpy.data.bl_rna.properties
            if prop.type == "COLLECTION"
        }
        if purge is _own_purge:
            expected = left
    assert left == expected
    assert "Cube" in left["objects"]


def _own_purge(_: str) -> None:
    import bpy

    bpy.data.orphans_purge(do_local_ids=True, do_linked_ids=True, do_recursive=True)


def test_objects_in_no_scene_are_listed_and_removed_by_name(rig: Rig) -> None:
    import bpy

    _messy(rig)
    listed = rig.tool("blender_data__list", kind="objects", unused=True)["data"]
    told = {each["name"]: each for each in listed}
    assert sorted(told) == ["Cutter", "InLost", "InTrash", "Kept", "Stray", "StrayChild"]
    assert told["Cutter"]["used_by"] == ["Wall"]
    assert told["InTrash"]["used_by"] == ["Trash"]
    assert told["Kept"]["fake_user"] is True
    everything = rig.tool("blender_data__list", kind="objects")["data"]
    for each in everything:
        data = bpy.data.objects[each["name"]].data
        assert each.get("data") == (data.name if data else None)
    assert {each["name"]: each["scenes"] for each in everything}["Far"] == ["Other"]
    why = refused(lambda: rig.tool("scene__get_object", name="Stray"))
    assert "in no scene of this file" in why
    for name, user in (("Cutter", "Wall"), ("Wall", "Main")):
        asked: Any = {"kind": "objects", "names": [name]}
        why = refused(lambda a=asked: rig.tool("blender_data__remove", **a))
        assert f"'{name}' is used by {user}" in why
    done = rig.tool("blender_data__remove", kind="objects", names=["InTrash", "Kept", "Stray*"])
    assert done["removed"] == ["InTrash", "Kept", "Stray", "StrayChild"]
    assert done["removed_with"] == {"meshes": ["StrayMesh"], "shape_keys": ["Key"]}
    assert "StrayMesh" not in bpy.data.meshes
    done = rig.tool("blender_data__remove", kind="materials", names=["KeptPaint"])
    assert done == {"removed": ["KeptPaint"], "verified": True}
    assert "KeptPaint" not in bpy.data.materials
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert "KeptPaint" in bpy.data.materials


def test_answers_say_which_scene_they_cover_if_there_are_several(rig: Rig) -> None:
    import bpy

    rig.cube("Crate")
    calls: Any = (
        ("scene__find", {}),
        ("scene__list_objects", {}),
        ("scene__list_objects", {"details": True}),
        ("check__run", {}),
        ("check__compare", {"objects": [{"name": "Crate"}]}),
        ("lights__list", {}),
        ("cameras__list", {}),
        ("structure__list_groups", {}),
        ("animation__list_keys", {}),
    )
    for tool, asked in calls:
        assert "covers" not in rig.tool(tool, **asked)
    bpy.context.scene.name = "Main"
    for number in range(12):
        bpy.data.scenes.new(f"Shot{number:02}")
    for tool, asked in calls:
        told = rig.tool(tool, **asked)["covers"]
        assert told.startswith("only the scene 'Main'; blender_data__show_scene shows another one")
        assert "'Shot09' and 2 more; blender_data__list" in told


def test_a_new_driver_reads_a_property_and_its_value_is_told(rig: Rig) -> None:
    import bpy

    main, _ = _two_scenes()
    handle = _object("Handle", scene=main)
    handle["open"] = 0.25
    rig.cube("Door")
    reads = {"name": "open", "target": "Handle", "property": '["open"]'}
    told = rig.tool(
        "blender_data__add_driver",
        of="Door",
        drives="rotation_euler[2]",
        variables=[reads],
        formula="open * 2",
    )
    assert near([told["value"]], [0.5])
    assert told["driver"]["valid"] is True
    assert abs(bpy.data.objects["Door"].rotation_euler.z - 0.5) < 1e-5
    assert rig.tool("blender_data__list_drivers")["total"] == 1
    again = {"of": "Door", "drives": "rotation_euler[2]", "variables": [reads]}
    why = refused(lambda: rig.tool("blender_data__add_driver", **again))
    assert "has a driver; change it with blender_data__set_driver" in why
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert rig.tool("blender_data__list_drivers")["total"] == 0
    for drives, words in (
        ("rotation_euler", "has 3 values"),
        ("rotation_euler[3]", "no number at"),
        ("size", "no number at"),
        ("parent", "no number at"),
    ):
        asked = {**again, "drives": drives}
        assert words in refused(lambda asked=asked: rig.tool("blender_data__add_driver", **asked))
    code = {**again, "formula": "__import__('os').getpid()"}
    assert "isn't plain arithmetic" in refused(lambda: rig.tool("blender_data__add_driver", **code))
    wrong = {**again, "variables": [{**reads, "property": '["shut"]'}]}
    assert "'Handle' has no '[\"shut\"]'" in refused(
        lambda: rig.tool("blender_data__add_driver", **wrong)
    )
    assert rig.tool("blender_data__list_drivers")["total"] == 0


def test_bones_shape_keys_modifiers_and_nodes_are_driven(rig: Rig) -> None:
    import bpy

    data = bpy.data.armatures.new("Rig")
    arm = _object("Rig", data, bpy.context.scene)
    add_bones(arm, "Jaw", "Lip")
    arm.pose.bones["Jaw"].location.x = 0.5
    arm.pose.bones["Lip"].constraints.new("LIMIT_SCALE")
    face = rig.cube("Face")
    face.shape_key_add(name="Basis")
    face.shape_key_add(name="Smile")
    face.modifiers.new("Bevel", "BEVEL")
    skin = bpy.data.materials.new("Skin")
    if skin.node_tree is None:
        skin.use_nodes = True
    face.data.materials.append(skin)
    jaw = {"name": "jaw", "reads": "transform", "target": "Rig", "bone": "Jaw", "space": "local"}
    jaw["property"] = "loc_x"
    smile = 'data.shape_keys.key_blocks["Smile"].value'

    def added(of: str, drives: str, **more: object) -> Any:
        asked = {"of": of, "drives": drives, "variables": [jaw], **more}
        return rig.tool("blender_data__add_driver", **asked)

    assert near([added("Face", smile)["value"]], [0.5])
    assert near([added("Face", 'modifiers["Bevel"].width')["value"]], [0.5])
    assert near([added("Rig", 'pose.bones["Lip"].location[1]')["value"]], [0.5])
    assert near(
        [added("Rig", 'pose.bones["Lip"].constraints["Limit Scale"].influence')["value"]], [0.5]
    )
    rough = 'node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value'
    told = added("Skin", rough, kind="materials")
    assert near([told["value"]], [0.5])
    assert told["changed"] == ["Skin"]
    assert told["used_by"] == ["Face"]
    reads = {"name": "smile", "target": "Face", "property": smile}
    told = added("Face", "location[0]", variables=[reads])
    assert near([told["value"]], [0.5])
    listed = rig.tool("blender_data__list_drivers")
    assert (listed["total"], listed["broken"]) == (6, 0)
    why = refused(lambda: added("Face", "location[1]", variables=[{**jaw, "bone": "Nose"}]))
    assert "it has: Jaw, Lip" in why
    why = refused(lambda: added("Face", "location[1]", variables=[{**jaw, "property": "size"}]))
    assert "loc_x, loc_y" in why
    rig.tool("blender_data__remove_driver", of="Skin", drives=f"{rough[10:]}[0]")
    assert rig.tool("blender_data__list_drivers")["total"] == 5


def test_a_driver_reads_a_distance_and_joins_variables(rig: Rig) -> None:
    import bpy

    for name, far in (("A", 0.0), ("B", 3.0), ("C", 0.0)):
        _object(name, scene=bpy.context.scene).location.x = far
    apart = {"name": "apart", "reads": "distance", "target": "A", "second": "B"}
    turned = {"name": "turned", "reads": "rotation", "target": "A", "second": "B"}
    asked = {"of": "C", "drives": "location[2]", "variables": [apart, turned]}
    told = rig.tool("blender_data__add_driver", **asked, type="sum")
    assert abs(told["value"] - 3) < 1e-5
    assert told["driver"]["type"] == "sum"
    alone = {**asked, "drives": "location[0]", "variables": [{**apart, "second": "Nobody"}]}
    assert "'Nobody'" in refused(lambda: rig.tool("blender_data__add_driver", **alone))
    bpy.data.objects["C"].keyframe_insert("location", index=1, frame=1)
    keyed = {**asked, "drives": "location[1]", "type": "sum"}
    assert "has keys" in refused(lambda: rig.tool("blender_data__add_driver", **keyed))


def test_every_constraint_that_does_nothing_says_why(rig: Rig) -> None:
    import bpy

    main, _ = _two_scenes()
    lamp, goal = _object("Lamp", scene=main), _object("Goal", scene=main)
    for kind in ("TRACK_TO", "COPY_LOCATION", "COPY_SCALE", "COPY_ROTATION", "LIMIT_LOCATION"):
        lamp.constraints.new(kind)
    lamp.constraints["Track To"].mute = True
    for name in ("Copy Location", "Copy Scale", "Copy Rotation"):
        lamp.constraints[name].target = goal
    lamp.constraints["Copy Location"].influence = 0
    driver = lamp.driver_add('constraints["Copy Scale"].influence').driver
    driver.expression = "0"
    lamp.constraints["Copy Scale"].influence = 0
    arm = _object("Rig", bpy.data.armatures.new("Rig"), main)
    add_bones(arm, "Hand")
    bpy.data.objects["Rig"].pose.bones["Hand"].constraints.new("COPY_LOCATION").target = goal
    told = rig.tool("blender_data__list_constraints", idle=True)
    assert (told["total"], told["broken"], told["idle"]) == (6, 1, 4)
    assert {each["name"]: each["why"] for each in told["constraints"]} == {
        "Track To": "the constraint 'Track To' has no target; it is muted",
        "Copy Location": "its influence is 0",
        "Copy Scale": "its influence is 0, by a driver",
        "Limit Location": "none of its axes is switched on",
    }
    (broken,) = rig.tool("blender_data__list_constraints", broken=True)["constraints"]
    assert broken["name"] == "Track To"
    bpy.data.objects["Rig"].data.pose_position = "REST"
    told = rig.tool("blender_data__list_constraints", idle=True)["constraints"]
    (bone,) = (each for each in told if each["of"] == "Rig")
    assert bone["why"] == "'Rig' is in its rest position"


def test_modifiers_of_all_objects_are_listed_and_set(rig: Rig) -> None:
    import bpy

    main, other = _two_scenes()
    for name, scene, levels in (("Here", main, 4), ("Far", other, 3), ("Loose", None, 5)):
        obj = _object(name, bpy.data.meshes.new(name), scene)
        each = obj.modifiers.new("Smooth", "SUBSURF")
        each.levels, each.render_levels = 1, levels
        obj.modifiers.new("Edge", "BEVEL")
    few = _object("Few", bpy.data.meshes.new("Few"), main).modifiers.new("Smooth", "SUBSURF")
    few.render_levels = 1
    driven = _object("Driven", bpy.data.meshes.new("Driven"), main)
    driven.modifiers.new("Smooth", "SUBSURF").render_levels = 3
    driven.driver_add('modifiers["Smooth"].render_levels').driver.expression = "3"
    high = {"type": "Subdivision Surface", "where": {"render_levels": {"above": 2}}}
    told = rig.tool("blender_data__list_modifiers", **high, values=["levels"])
    assert [(each["of"], each["values"], each["scenes"]) for each in told["modifiers"]] == [
        ("Driven", {"levels": 1, "render_levels": 3}, ["Main"]),
        ("Far", {"levels": 1, "render_levels": 3}, ["Other"]),
        ("Here", {"levels": 1, "render_levels": 4}, ["Main"]),
        ("Loose", {"levels": 1, "render_levels": 5}, []),
    ]
    assert rig.tool("blender_data__list_modifiers", modifier="edge")["total"] == 3
    changed = rig.tool("blender_data__set_modifiers", **high, values={"render_levels": 2})
    assert changed["changed"] == ["Far", "Here", "Loose"]
    assert [each["was"]["render_levels"] for each in changed["modifiers"]] == [3, 4, 5]
    assert changed["skipped"] == [
        {"of": "Driven", "modifier": "Smooth", "why": "a driver determines render_levels"}
    ]
    each = bpy.data.objects["Loose"].modifiers["Smooth"]
    assert (each.levels, each.render_levels) == (1, 2)
    assert bpy.data.objects["Few"].modifiers["Smooth"].render_levels == 1
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.data.objects["Loose"].modifiers["Smooth"].render_levels == 5
    wide = rig.tool(
        "blender_data__set_modifiers", objects=["Here", "Far"], values={"width": 0.3}, type="bevel"
    )
    assert (wide["count"], wide["already"]) == (2, 0)
    sure = {"show_render": True}
    told = rig.tool("blender_data__set_modifiers", modifier="Edge", values=sure)
    assert (told["count"], told["already"]) == (0, 3)


def test_modifiers_of_objects_that_are_not_ours_are_skipped(rig: Rig) -> None:
    import bpy

    def make() -> None:
        for name in ("Linked", "Overridden"):
            obj = _object(name, bpy.data.meshes.new(name), bpy.context.scene)
            obj.modifiers.new("Smooth", "SUBSURF").render_levels = 4

    path = rig.library("kit.blend", make)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Linked", "Overridden"]
    for obj in into.objects:
        bpy.context.scene.collection.objects.link(obj)
    made = bpy.data.objects["Overridden"].override_create(remap_local_usages=True)
    assert made.library is None
    own = _object("Own", bpy.data.meshes.new("Own"), bpy.context.scene)
    own.modifiers.new("Smooth", "SUBSURF").render_levels = 4
    asked = {"type": "subsurf", "values": {"render_levels": 2}}
    told = rig.tool("blender_data__set_modifiers", **asked)
    assert told["changed"] == ["Own"]
    why = {each["of"]: each["why"] for each in told["skipped"]}
    assert why["Overridden"] == "'Overridden' overrides a linked object"
    assert "linked from 'kit.blend'" in why["Linked [kit.blend]"]
    assert bpy.data.objects["Overridden", None].modifiers["Smooth"].render_levels == 4


def test_what_is_wrong_with_a_change_to_many_modifiers_is_said(rig: Rig) -> None:
    import bpy

    main, _ = _two_scenes()
    obj = _object("Here", bpy.data.meshes.new("Here"), main)
    obj.modifiers.new("Smooth", "SUBSURF").render_levels = 4
    _object("Loose", bpy.data.meshes.new("Loose"))
    subdivided = {"type": "subsurf", "values": {"render_levels": 2}}
    for asked, reason in (
        ({"values": {"show_render": False}}, "give type"),
        ({**subdivided, "type": "subsurff"}, "subsurf"),
        ({**subdivided, "values": {"render_level": 2}}, "render_levels"),
        ({**subdivided, "values": {"render_levels": "2"}}, "must be int"),
        ({**subdivided, "values": {"name": "Other"}}, "can't be set here"),
        ({**subdivided, "where": {"render_levels": {"over": 2}}}, "above or below"),
        ({**subdivided, "where": {"levels": {"above": 2}}}, "no modifier fits"),
        ({**subdivided, "objects": ["Nowhere"]}, "there is no 'Nowhere'"),
    ):
        assert reason in refused(lambda a=asked: rig.tool("blender_data__set_modifiers", **a))
        assert obj.modifiers["Smooth"].render_levels == 4
    why = refused(lambda: rig.tool("scene__get_object", name="Loose"))
    assert "blender_data__list_modifiers" in why


def test_a_list_says_how_many_users_it_leaves_out(rig: Rig) -> None:
    import bpy

    shared = bpy.data.meshes.new("Shared")
    for number in range(7):
        _object(f"User{number}", shared, bpy.context.scene)
    (told,) = rig.tool("blender_data__list", kind="meshes", pattern="Shared")["data"]
    assert (len(told["used_by"]), told["used_by_more"]) == (5, 2)


def test_armature_modifiers_of_meshes_are_listed_by_their_type(rig: Rig) -> None:
    body, bones = rig.cube("Body"), armature("Bones", "Arm")
    body.modifiers.new("Skin", "ARMATURE").object = bones
    asked: dict[str, Any] = {"values": ["object", "vertex_group"]}
    for word in ("armature", "Armature", "ARMATURE"):
        (told,) = rig.tool("blender_data__list_modifiers", type=word, **asked)["modifiers"]
        assert told["values"] == {"object": "Bones", "vertex_group": ""}
    body.modifiers.new("Pull", "LATTICE")
    assert rig.tool("blender_data__list_modifiers", type="lattice")["total"] == 1


def test_a_driven_value_that_is_one_number_has_no_index(rig: Rig) -> None:
    door = rig.cube("Door")
    door["mood"], door["moods"] = 1.0, [1.0, 2.0]
    for path, index in (("hide_viewport", -1), ('["mood"]', -1), ('["moods"]', 1), ("scale", 2)):
        door.driver_add(path, *([] if index < 0 else [index])).driver.expression = "1"
    named = {'["mood"]', '["moods"][1]', "hide_viewport", "scale[2]"}
    whole = rig.tool("scene__get_object", name="Door", detail=True)["drivers"]
    assert {each["drives"] for each in whole} == named
    listed = rig.tool("blender_data__list_drivers")["drivers"]
    assert {each["drives"] for each in listed} == named
    for drives in ("hide_viewport", '["mood"][0]'):
        rig.tool("blender_data__remove_driver", of="Door", drives=drives)
    assert rig.tool("blender_data__list_drivers")["total"] == 2

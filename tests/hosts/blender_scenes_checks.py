"""Cases in which faults are found, and fixed by the suggested call. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

import pytest

from hosts.blender_scenes import Rig, refused


def _run(rig: Rig, *rules: str) -> list[Any]:
    findings: list[Any] = rig.tool("check__run", rules=list(rules))["findings"]
    return findings


def _mend(rig: Rig, finding: Any) -> None:
    fix = finding["fix"]
    rig.call(fix["tool"], fix["arguments"])


def _mesh(name: str, points: list[Any], faces: list[Any]) -> None:
    import bpy

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))


_CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
_BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def test_each_fault_of_a_mesh_is_found_and_mended(rig: Rig) -> None:
    _mesh("Inside", _CORNERS, [face[::-1] for face in _BOX])
    _mesh("Flipped", _CORNERS, [_BOX[0][::-1], *_BOX[1:]])
    _mesh("Many", _CORNERS, [(0, 1, 3, 7, 6)])
    _mesh("Flat", [*_CORNERS, (0.0, 0.5, 0.0)], [*_BOX, (0, 2, 8)])
    _mesh("Wall", _CORNERS, [*_BOX, (0, 1, 7, 6)])
    rules = ("inside_out", "zero_faces", "ngons", "uvs_missing", "non_manifold")
    told = {(each["rule"], each["object"]): each for each in _run(rig, *rules[:3])}
    expected = {("inside_out", "Inside"), ("inside_out", "Flipped"), ("ngons", "Many")}
    assert set(told) == expected | {("zero_faces", "Flat")}, sorted(told)
    for each in told.values():
        if each["rule"] == "inside_out":
            assert each["fix"]["tool"] == "geometry__normals"
        _mend(rig, each)
    assert _run(rig, *rules[:2]) == []
    # The face without area was on an edge. The edge's other faces now have one more corner.
    (corners,) = _run(rig, "ngons")
    assert corners["object"] == "Flat"
    _mend(rig, corners)
    assert _run(rig, *rules[:3]) == []
    assert [each["object"] for each in _run(rig, "non_manifold")] == ["Wall"]


def test_uvs_and_scale_are_mended(rig: Rig) -> None:
    _mesh("Box", _CORNERS, _BOX)
    rig.tool("scene__transform", name="Box", scale=[1, 2, 1])
    missing, scaled = _run(rig, "uvs_missing", "scale")
    assert (missing["rule"], scaled["rule"]) == ("uvs_missing", "scale")
    before = rig.read.get("Box")["bounds"]
    assert missing["fix"]["tool"] == "geometry__unwrap"
    assert scaled["fix"]["tool"] == "geometry__apply_scale"
    _mend(rig, missing)
    _mend(rig, scaled)
    assert _run(rig, "uvs_missing", "uvs_overlap", "scale") == []
    assert rig.read.get("Box")["bounds"] == before


def test_a_file_that_is_missing_is_told(rig: Rig) -> None:
    import bpy

    _picture(rig, "Wood", bpy.data.materials.new("Floor"))
    rig.cube("Floor").data.materials.append(bpy.data.materials["Floor"])
    (told,) = _run(rig, "missing_files")
    assert (told["object"], told["severity"]) == ("Wood", "error")


def test_a_missing_file_that_nothing_uses_says_so(rig: Rig) -> None:
    """Pictures in materials without objects are reported as unused, even if the file keeps them. A
    picture in a group is considered used when an object's material uses the group."""
    import bpy

    spare, floor = bpy.data.materials.new("Spare"), bpy.data.materials.new("Floor")
    spare.use_fake_user = True
    _picture(rig, "Old", spare)
    group = bpy.data.node_groups.new("Grain", "ShaderNodeTree")
    group.nodes.new("ShaderNodeTexImage").image = _picture(rig, "Grain", None)
    floor.use_nodes = True
    floor.node_tree.nodes.new("ShaderNodeGroup").node_tree = group
    _picture(rig, "Alone", None)
    rig.cube("Floor").data.materials.append(floor)
    told = {each["object"]: each for each in _run(rig, "missing_files")}
    severities = {name: each["severity"] for name, each in told.items()}
    assert severities == {"Old": "hint", "Grain": "error", "Alone": "hint"}
    assert "nothing in the scene uses it" in told["Old"]["why"]
    bpy.data.objects["Floor"].data.materials.append(spare)
    told = {each["object"]: each for each in _run(rig, "missing_files")}
    assert told["Old"]["severity"] == "error"


def _picture(rig: Rig, name: str, material: Any) -> Any:
    """Return a new picture in the material. Its file is missing."""
    import bpy

    image = bpy.data.images.new(name, 4, 4)
    image.source = "FILE"
    image.filepath = str(rig.folder / f"{name}.png")
    if material is not None:
        material.use_nodes = True
        material.node_tree.nodes.new("ShaderNodeTexImage").image = image
    return image


def test_the_camera_and_materials_are_compared(rig: Rig) -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True)
    rig.cube("Behind", translate=[50, -50, 50])
    asked = [{"name": "Cube", "seen": True, "material": "Material"}]
    assert rig.tool("check__compare", objects=asked)["matches"]
    asked = [{"name": "Behind", "seen": True, "material": "Material"}]
    told = rig.tool("check__compare", objects=asked)["differences"]
    assert [each["what"] for each in told] == ["material", "seen"]
    _mend(rig, told[0])
    told = rig.tool("check__compare", objects=asked)["differences"]
    assert [each["what"] for each in told] == ["seen"]


def test_a_shared_mesh_is_counted_once(rig: Rig) -> None:
    import bpy

    first = rig.cube("First")
    for number in range(3):
        each = bpy.data.objects.new(f"Same {number}", first.data)
        bpy.context.scene.collection.objects.link(each)
    checks, counted = rig.port("check"), []
    reading = checks.mesh
    checks.mesh = lambda path: counted.append(path) or reading(path)
    told = rig.tool("check__run", rules=["uvs_missing"])
    assert told["total"] == 4, "each object must be reported"
    assert counted == ["First"]


def _rigged(rig: Rig) -> Any:
    """Return a mesh ``Body`` whose vertices have a weight for the bone of the armature ``Rig``."""
    import bpy

    body = rig.cube("Body")
    group = body.vertex_groups.new(name="Bone")
    group.add(range(len(body.data.vertices)), 1.0, "REPLACE")
    bpy.ops.object.armature_add()
    bpy.context.object.name = "Rig"
    return body


def test_a_mesh_that_its_armature_does_not_deform_is_bound(rig: Rig) -> None:
    import bpy

    _rigged(rig)
    (told,) = _run(rig, "not_deformed")
    assert (told["object"], told["severity"]) == ("Body", "error")
    before = rig.read.get("Body")["bounds"]
    _mend(rig, told)
    assert _run(rig, "not_deformed") == []
    assert rig.read.get("Body")["bounds"] == before
    bpy.data.objects["Rig"].pose.bones["Bone"].location.z = 2.0
    bpy.context.view_layer.update()
    seen = bpy.data.objects["Body"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert max(abs(each.co.y) for each in seen.data.vertices) > before["max"][1] + 1.0
    bpy.data.objects["Body"].modifiers[0].object = None
    _mend(rig, _run(rig, "not_deformed")[0])
    bpy.data.objects["Rig"].data.pose_position = "REST"
    (told,) = _run(rig, "not_deformed")
    assert "rest position" in told["why"]
    _mend(rig, told)
    assert _run(rig, "not_deformed") == []


def test_weights_are_made_where_a_mesh_has_none(rig: Rig) -> None:
    import bpy

    rig.cube("Body")
    bpy.ops.object.armature_add()
    bpy.context.object.name = "Rig"
    bound = {"name": "Body", "armature": "Rig"}
    assert "weights: automatic" in refused(
        lambda: rig.tool("blender_modelling__bind_to_armature", **bound)
    )
    answer = rig.tool("blender_modelling__bind_to_armature", **bound, weights="automatic")
    assert answer["groups"] == ["Bone"]
    assert _run(rig, "not_deformed") == []


def _armature(name: str, *bones: str) -> Any:
    """Return a new armature whose bones stand upright, one beside the other."""
    import bpy

    bpy.ops.object.armature_add()
    rig = bpy.context.object
    rig.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    edited = rig.data.edit_bones
    edited[0].name = bones[0]
    for number, bone in enumerate(bones[1:], 1):
        made = edited.new(bone)
        made.head, made.tail = (number, 0, 0), (number, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _body_of_two_rigs(rig: Rig) -> Any:
    """Return a mesh below ``Rig``, whose modifier names ``Old`` and whose group for the arm has a
    name from elsewhere."""
    body = rig.cube("Body")
    bones = ("spine", "upper_arm.L", "upper_arm.R")
    old = _armature("Old", *bones)
    body.parent = _armature("Rig", *bones)
    half = len(body.data.vertices) // 2
    body.vertex_groups.new(name="spine").add(range(half), 1.0, "REPLACE")
    body.vertex_groups.new(name="UpperArm_L").add(range(half, 2 * half), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = old
    return body


def test_a_mesh_bound_to_another_rig_is_repaired_by_one_call(rig: Rig) -> None:
    import bpy

    body = _body_of_two_rigs(rig)
    mask = body.modifiers.new("Mask", "MASK")
    mask.vertex_group, mask.show_viewport, mask.show_render = "UpperArm_L", True, True
    told = rig.tool("scene__get_object", name="Body", detail=True)
    assert told["unmatched_groups"] == []  # A modifier uses the group.
    body.modifiers.remove(mask)
    told = rig.tool("scene__get_object", name="Body", detail=True)
    assert told["unmatched_groups"] == [{"group": "UpperArm_L", "alike": "upper_arm.L"}]
    told = rig.tool("scene__get_object", name="Rig", detail=True)
    assert (told["bones"], told["bone_count"]) == (["spine", "upper_arm.L", "upper_arm.R"], 3)
    (told,) = _run(rig, "not_deformed")
    assert "'Old'" in told["why"]
    assert "'UpperArm_L'" in told["why"]
    _mend(rig, told)
    assert _run(rig, "not_deformed") == []
    assert [(each.name, each.object.name) for each in body.modifiers] == [("Armature", "Rig")]
    bpy.data.objects["Rig"].pose.bones["upper_arm.L"].location.z = 2.0
    bpy.context.view_layer.update()
    seen = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
    moved = [a for a, b in zip(seen, body.data.vertices, strict=True) if (a.co - b.co).length > 1.0]
    assert len(moved) == len(seen) // 2


def test_binding_says_what_it_changed_and_what_no_bone_moves(rig: Rig) -> None:
    body = _body_of_two_rigs(rig)
    bound = {"name": "Body", "armature": "Rig"}
    told = rig.tool("blender_modelling__bind_to_armature", **bound)
    assert told["was"] == "Old"
    assert told["unmatched_groups"] == [{"group": "UpperArm_L", "alike": "upper_arm.L"}]
    assert told["unbound_vertices"] == len(body.data.vertices) // 2
    (left,) = _run(rig, "not_deformed")
    assert left["fix"]["arguments"]["rename_groups"] == {"UpperArm_L": "upper_arm.L"}
    body.modifiers.new("Mask", "MASK").vertex_group = "UpperArm_L"
    names = {"UpperArm_L": "upper_arm.L"}
    told = rig.tool("blender_modelling__bind_to_armature", **bound, rename_groups=names)
    assert "was" not in told
    assert (told["groups"], told["unbound_vertices"]) == (["spine", "upper_arm.L"], 0)
    assert body.modifiers["Mask"].vertex_group == "upper_arm.L"
    assert _run(rig, "not_deformed") == []
    body.modifiers.remove(body.modifiers["Mask"])
    told = rig.tool("blender_modelling__bind_to_armature", **bound, weights="automatic")
    assert told["replaced_weights"] == ["spine", "upper_arm.L"]
    assert [each.type for each in body.modifiers] == ["ARMATURE"]


def test_several_armature_modifiers_are_repaired_only_where_it_is_clear(rig: Rig) -> None:
    import bpy

    body = _body_of_two_rigs(rig)
    second = body.modifiers.new("Second", "ARMATURE")
    second.object = _armature("Other", "spine")
    (told,) = _run(rig, "not_deformed")
    assert "fix" not in told
    bound = {"name": "Body", "armature": "Rig"}
    why = refused(lambda: rig.tool("blender_modelling__bind_to_armature", **bound))
    assert "'Armature' (Old), 'Second' (Other)" in why
    assert body.modifiers[0].object.name == "Old"
    second.object = None
    body.modifiers[0].object = bpy.data.objects["Rig"]
    (told,) = _run(rig, "not_deformed")
    assert told["fix"]["tool"] == "geometry__remove_modifier"
    _mend(rig, told)
    (told,) = _run(rig, "not_deformed")
    _mend(rig, told)
    assert _run(rig, "not_deformed") == []
    assert [each.name for each in body.modifiers] == ["Armature"]


def test_groups_of_linked_meshes_are_not_renamed(rig: Rig) -> None:
    import bpy

    path = rig.library("cast.blend", lambda: _body_of_two_rigs(rig))
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.objects = there.objects
    for each in wanted.objects:
        bpy.context.scene.collection.objects.link(each)
    body = bpy.data.objects["Body"].override_create(remap_local_usages=True)
    (told,) = [each for each in _run(rig, "not_deformed") if each["object"] == body.name_full]
    assert "rename_groups" not in told["fix"]["arguments"]
    bound = {"name": body.name_full, "armature": told["fix"]["arguments"]["armature"]}
    names = {"UpperArm_L": "upper_arm.L"}
    why = refused(
        lambda: rig.tool("blender_modelling__bind_to_armature", **bound, rename_groups=names)
    )
    assert "linked from 'cast.blend'" in why
    _mend(rig, told)
    assert body.modifiers[0].object.name == "Rig"


def test_names_that_a_group_cannot_have_are_refused(rig: Rig) -> None:
    from callboard.errors import WrongArgument

    body = _body_of_two_rigs(rig)
    for names, why in (
        ({"Arm": "upper_arm.L"}, "no vertex group 'Arm'"),
        ({"UpperArm_L": "hand.L"}, "isn't a deforming bone"),
        ({"UpperArm_L": "spine"}, "another group"),
        ({"UpperArm_L": "upper_arm.L", "spine": "upper_arm.L"}, "another group"),
    ):
        bound = {"name": "Body", "armature": "Rig", "rename_groups": names}
        with pytest.raises(WrongArgument, match=why):
            rig.tool("blender_modelling__bind_to_armature", **bound)
    assert [each.name for each in body.vertex_groups] == ["spine", "UpperArm_L"]
    assert body.modifiers[0].object.name == "Old"


def test_objects_that_are_shown_but_not_rendered_say_why(rig: Rig) -> None:
    import bpy

    rig.cube("Cutter").hide_render = True
    rig.tool("structure__create_group", name="Guides", objects=[rig.cube("Guide").name], move=True)
    rig.tool("cameras__create")
    bpy.data.collections["Guides"].hide_render = True
    told = {each["object"]: each for each in _run(rig, "not_rendered")}
    assert set(told) == {"Cutter", "Guide"}
    assert "'Guides'" in told["Guide"]["why"]
    for each in told.values():
        _mend(rig, each)
    assert _run(rig, "not_rendered") == []


def test_modifiers_without_effect_are_removed(rig: Rig) -> None:
    obj = rig.cube("Box")
    kinds = ("BOOLEAN", "MIRROR", "SUBSURF", "LATTICE", "BEVEL")
    made = {kind: obj.modifiers.new(kind.title(), kind) for kind in kinds}
    made["MIRROR"].use_axis = [False] * 3
    made["SUBSURF"].levels = made["SUBSURF"].render_levels = 0
    told = _run(rig, "no_effect")
    assert len(told) == 4, told
    for each in told:
        _mend(rig, each)
    assert [each.name for each in obj.modifiers] == ["Bevel"]


def test_drivers_are_listed_with_why_they_are_broken(rig: Rig) -> None:
    import bpy

    obj, other = rig.cube("Gear"), rig.cube("Other")
    other["there"] = 1.5
    other.update_tag()
    bpy.context.view_layer.update()
    for channel, key in ((0, "there"), (1, "gone")):
        driver = obj.driver_add("location", channel).driver
        variable = driver.variables.new()
        variable.name, variable.targets[0].id = "x", other
        variable.targets[0].data_path, driver.expression = f'["{key}"]', "x * 2"
    bpy.context.view_layer.update()
    answer = rig.tool("blender_data__list_drivers")
    assert (answer["total"], answer["broken"]) == (2, 1), answer
    (broken,) = rig.tool("blender_data__list_drivers", broken=True)["drivers"]
    assert (broken["of"], broken["drives"]) == ("Gear", "location[1]")
    assert "gone" in broken["why"]
    (told,) = _run(rig, "broken_drivers")
    assert told["object"] == "Gear"
    dependents = rig.tool("scene__get_object", name="Other", detail=True)["dependents"]
    assert any("driver" in each and "'Gear'" in each for each in dependents)


def test_a_checklist_tells_which_objects_fail(rig: Rig) -> None:
    import bpy

    plain = bpy.data.materials.new("Plain")
    for name in ("Barrel", "Lantern", "Wagon", "Crate"):
        obj = rig.cube(name)
        if name != "Lantern":
            obj.data.materials.append(plain)
    _mesh("Roof", _CORNERS, _BOX[1:])
    bpy.data.objects["Roof"].data.materials.append(plain)
    material = bpy.data.materials.new("Painted")
    _picture(rig, "Paint", material)
    bpy.data.objects["Wagon"].data.materials[0] = material
    rules = ["non_manifold", "open_edges", "no_material", "absolute_paths"]
    answer = rig.tool("check__run", rules=rules)
    assert answer["by_object"] == {
        "Wagon": ["absolute_paths"],
        "Roof": ["open_edges"],
        "Lantern": ["no_material"],
    }
    assert sorted(answer["objects"]) == ["Lantern", "Roof", "Wagon"]
    assert answer["passed"] == ["Barrel", "Crate"]
    some = rig.tool("check__run", rules=rules, objects=["Roof", "Crate"])
    assert (some["objects"], some["passed"]) == (["Roof"], ["Crate"])
    assert "passed" not in rig.tool("check__run")
    rig.tool("scene__select", names=answer["objects"])
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "list.blend"), relative_remap=False)
    (told,) = _run(rig, "absolute_paths")
    _mend(rig, told)
    assert bpy.data.images["Paint"].filepath == "//Paint.png"
    assert _run(rig, "absolute_paths") == []


def test_faces_that_use_an_empty_slot_have_no_material(rig: Rig) -> None:
    import bpy

    plain = bpy.data.materials.new("Plain")
    for name in ("Sign", "Spare", "Bare"):
        materials = rig.cube(name).data.materials
        materials.append(None if name == "Bare" else plain)
        materials.append(None)
    bpy.data.objects["Sign"].data.polygons[0].material_index = 1
    bpy.data.objects["Sign"].data.polygons[1].material_index = 7
    answer = rig.tool("check__run", rules=["no_material"])
    assert {each["object"]: each["why"] for each in answer["findings"]} == {
        "Sign": "its material slot 1 is empty; faces that use it: 2",
        "Bare": "it has no material",
    }
    assert answer["passed"] == ["Spare"]


def test_what_lies_wholly_below_the_ground_is_sunk_and_a_floor_is_not(rig: Rig) -> None:
    rig.cube("Rock", size=0.4, translate=[0, 0, -1])
    rig.cube("Box", size=0.4, translate=[2, 0, 0])
    rig.cube("Floor", size=0.4, translate=[4, 0, -0.2])
    sunk = {each["object"]: each for each in _run(rig, "sunk")}
    assert set(sunk) == {"Rock", "Box"}
    assert sunk["Rock"]["why"] == "all of it is up to 1.2 below the ground"
    assert sunk["Box"]["why"] == "it reaches 0.2 below the ground"
    _mend(rig, sunk["Rock"])
    assert [each["object"] for each in _run(rig, "sunk")] == ["Box"]


def test_what_is_hidden_but_rendered_is_found_and_hidden_in_both(rig: Rig) -> None:
    import bpy

    rig.cube("Eye").hide_set(True)
    rig.cube("Screen")
    rig.cube("Both")
    rig.cube("Neither")
    rig.tool("cameras__create")
    for name in ("Screen", "Both"):
        bpy.data.objects[name].hide_viewport = True
    bpy.data.objects["Both"].hide_render = True
    told = {each["object"]: each for each in _run(rig, "not_rendered")}
    assert set(told) == {"Eye", "Screen"}
    for each in told.values():
        assert each["severity"] == "hint"
        assert "hidden in the view" in each["why"]
        _mend(rig, each)
    assert _run(rig, "not_rendered") == []


def test_the_scale_of_a_shared_mesh_has_no_fix(rig: Rig) -> None:
    import bpy

    post = rig.cube("Post", scale=[1, 1, 2])
    twin = bpy.data.objects.new("Twin", post.data)
    bpy.context.scene.collection.objects.link(twin)
    (told,) = _run(rig, "scale")
    assert told["object"] == "Post"
    assert "fix" not in told
    assert "1 other object shares that mesh" in told["why"]


def test_a_fix_of_parent_and_child_can_be_called_in_order(rig: Rig) -> None:
    rig.cube("Child", scale=[4, 4, 4])
    rig.cube("Parent", scale=[2, 2, 2])
    rig.tool("scene__set_parent", name="Child", parent="Parent")
    told = _run(rig, "scale")
    assert [each["object"] for each in told] == ["Parent", "Child"]
    assert "its children take on" in told[0]["why"]
    for each in told:
        _mend(rig, each)
    assert _run(rig, "scale") == []
    rig.tool("scene__transform", name="Parent", scale=[2, 2, 2])
    rig.tool("scene__transform", name="Child", scale=[-1, 1, 1])
    child, parent = _run(rig, "scale")
    assert (child["object"], parent["object"]) == ("Child", "Parent")
    assert "apply that of 'Parent' first" in child["why"]
    _mend(rig, parent)
    _mend(rig, child)
    assert _run(rig, "scale") == []


def test_a_default_name_has_no_fix_because_the_caller_chooses_the_name(rig: Rig) -> None:
    rig.cube("Cube.003")
    (told,) = _run(rig, "default_names")
    assert told["object"] == "Cube.003"
    assert "scene__rename" in told["why"]
    assert "fix" not in told


def test_what_cannot_be_moved_by_a_call_has_no_fix(rig: Rig) -> None:
    """A call that would be refused, or that would move nothing, isn't a fix."""
    import bpy

    place = {"size": 1.0, "rotate": [0, 0, 0]}
    for number, name in enumerate(("Keyed", "Driven", "Locked", "Held", "Free")):
        rig.cube(name, translate=[3 * number, 0, 5], scale=[2, 1, 1], **place)
    rig.cube("Target", translate=[0, 9, 5], **place)
    things = bpy.data.objects
    for channel in ("location", "scale"):
        things["Keyed"].keyframe_insert(channel, frame=1)
        things["Driven"].driver_add(channel, 2).driver.expression = "5"
    things["Locked"].lock_location[2] = True
    things["Held"].constraints.new("COPY_LOCATION").target = things["Target"]
    things["Target"].location.y = 5
    bpy.context.view_layer.update()
    told = {each["object"]: each for each in _run(rig, "floating")}
    assert {"Keyed", "Locked", "Free"} <= set(told)
    fixed = {path for path, each in told.items() if "fix" in each}
    assert not fixed & {"Keyed", "Driven", "Locked", "Held"}, fixed
    assert "Free" in fixed
    scaled = {each["object"]: each for each in _run(rig, "scale")}
    fixed = {path for path, each in scaled.items() if "fix" in each}
    assert fixed == {"Locked", "Held", "Free"}
    wanted = [{"name": "Keyed", "translate": [0, 0, 1]}, {"name": "Free", "translate": [0, 0, 1]}]
    keyed, free = rig.tool("check__compare", objects=wanted)["differences"]
    assert "fix" not in keyed
    assert free["fix"]["tool"] == "scene__transform"


def test_what_floats_is_set_down_on_what_is_below_it(rig: Rig) -> None:
    rig.tool("scene__create_primitive", kind="cube", name="Table", translate=[0, 0, 0.5], size=1.0)
    for name, height in (("Plate", 1.1), ("Cup", 1.6)):
        rig.tool(
            "scene__create_primitive", kind="cube", name=name, translate=[0, 0, height], size=0.1
        )
    rig.tool("scene__create_primitive", kind="cube", name="Stone", translate=[5, 0, 2], size=1.0)
    told = {each["object"]: each for each in _run(rig, "floating")}
    assert told["Plate"]["why"] == "it touches nothing, 0.05 above 'Table'"
    assert told["Stone"]["why"] == "it touches nothing, 1.5 above the ground"
    for each in told.values():
        _mend(rig, each)
    assert _run(rig, "floating", "sunk", "interpenetrating") == []
    heights = {name: rig.read.get(name)["bounds"]["min"][2] for name in told}
    wanted = {"Plate": 1.0, "Cup": 1.1, "Stone": 0.0}
    assert all(abs(heights[name] - low) < 1e-4 for name, low in wanted.items()), heights


def test_everything_that_renders_needs_a_material(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    collection, made = bpy.context.scene.collection, {}
    kinds = {"Sign": "FONT", "Pipe": "CURVE", "Path": "CURVE", "Drop": "META", "Drop.001": "META"}
    for name, kind in kinds.items():
        of = bpy.data.metaballs if kind == "META" else bpy.data.curves
        shape = of.new(name) if kind == "META" else of.new(name, kind)
        made[name] = bpy.data.objects.new(name, shape)
        collection.objects.link(made[name])
    made["Path"].data.dimensions = made["Pipe"].data.dimensions = "3D"
    made["Pipe"].data.bevel_depth = 0.1
    lacking = {each["object"] for each in _run(rig, "no_material")}
    assert lacking == {"Box", "Sign", "Pipe", "Drop"}
    made["Sign"].data.materials.append(bpy.data.materials.new("Paint"))
    assert "Sign" not in {each["object"] for each in _run(rig, "no_material")}


def test_a_scene_without_a_camera_is_told(rig: Rig) -> None:
    import bpy

    assert _run(rig, "not_rendered") == []
    rig.cube("Box")
    (told,) = _run(rig, "not_rendered")
    assert "no camera" in told["why"]
    _mend(rig, told)
    assert _run(rig, "not_rendered") == []
    bpy.context.scene.camera = None
    (told,) = _run(rig, "not_rendered")
    _mend(rig, told)
    assert bpy.context.scene.camera is not None
    assert _run(rig, "not_rendered") == []


def test_empty_meshes_and_loose_parts_are_reported(rig: Rig) -> None:
    import bpy

    _mesh("Whole", _CORNERS, _BOX)
    _mesh("Nothing", [], [])
    _mesh("Points", _CORNERS, [])
    _mesh("Stray", [*_CORNERS, (3.0, 0.0, 0.0), (4.0, 0.0, 0.0), (5.0, 0.0, 0.0)], _BOX)
    mesh = bpy.data.objects["Stray"].data
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (9, 10)
    mesh.update()
    bpy.data.objects["Points"].modifiers.new("Skin", "SKIN")
    _mesh("Wire", _CORNERS, [])
    told = {each["object"]: each["why"] for each in _run(rig, "empty_mesh")}
    assert told == {
        "Nothing": "its mesh has no vertices, so it isn't rendered",
        "Wire": "its mesh has no faces (vertices: 8), so it isn't rendered",
    }
    (stray,) = _run(rig, "loose")
    assert stray["object"] == "Stray"
    assert stray["why"] == "vertices that belong to no edge: 1; edges of no face: 1"


def test_a_group_of_a_bone_that_does_not_deform_says_so(rig: Rig) -> None:
    import bpy

    body = _body_of_two_rigs(rig)
    body.modifiers["Armature"].object = bpy.data.objects["Rig"]
    bpy.data.objects["Rig"].data.bones["spine"].use_deform = False
    told = rig.tool("scene__get_object", name="Body", detail=True)["unmatched_groups"]
    assert told[0] == {"group": "UpperArm_L", "alike": "upper_arm.L"}
    assert told[1]["group"] == "spine"
    assert told[1]["why"] == "the bone 'spine' doesn't deform (use_deform is off)"

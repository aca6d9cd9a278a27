"""Cases in which a whole file is surveyed and tidied: constraints, keys, empty collections,
visibility, and the resolution. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, armature, refused


def test_a_subdivision_has_levels_for_views_and_for_renders(rig: Rig) -> None:
    obj = rig.cube("Lamp")
    obj.modifiers.new("Round", "SUBSURF").render_levels = 4
    rig.cube("Plain")
    (listed,) = rig.tool("scene__find", modifier="subsurf")["objects"]
    (there,) = listed["modifiers"]
    assert (there["settings"]["levels"], there["settings"]["render_levels"]) == (1, 4)
    (listed,) = rig.tool("scene__list_objects", pattern="Lamp", details=True)["objects"]
    assert listed["modifiers"][0]["render_levels"] == 4
    done = rig.tool("geometry__modify", name="Lamp", modifier="Round", render_levels=2)
    assert done["verified"] is True
    (entry,) = done["shape"]["modifiers"]
    assert entry["kind"] == "subdivide"
    assert (entry["levels"], entry["render_levels"]) == (1, 2)
    made = rig.tool("geometry__modify", name="Plain", kind="subdivide", levels=3)
    (entry,) = made["shape"]["modifiers"]
    assert (entry["levels"], entry["render_levels"]) == (3, 3)
    assert made["shape"]["result"]["faces"] == 6 * 4**3
    dense = rig.cube("Dense")
    dense.modifiers.new("Fine", "SUBSURF").levels = 6
    dense.modifiers.new("Finer", "SUBSURF").levels = 0
    why = refused(
        lambda: rig.tool("geometry__modify", name="Dense", modifier="Finer", render_levels=6)
    )
    assert "vertices" in why


def test_constraints_are_found_and_switched(rig: Rig) -> None:
    import bpy

    cube, target = rig.cube("Eye"), rig.cube("Target")
    rig.cube("Plain")
    cube = bpy.data.objects["Eye"]
    cube.constraints.new("TRACK_TO").target = target
    obj = armature("Rig", "Hand")
    obj.pose.bones["Hand"].constraints.new("COPY_LOCATION").target = bpy.data.objects["Target"]
    objects = rig.tool("scene__find", constraint="*")["objects"]
    listed = {each["path"]: each["constraints"] for each in objects}
    assert {path: [(c["type"], c["uses"]) for c in held] for path, held in listed.items()} == {
        "Eye": [("track_to", ["Target"])],
        "Rig": [("copy_location", ["Target"])],
    }
    assert listed["Rig"][0]["of_bone"] == "Hand"
    for path, (entry,) in listed.items():
        done = rig.tool("attributes__set", name=path, attribute=entry["switch"], value=True)
        assert done["verified"] is True
    assert bpy.data.objects["Eye"].constraints[0].mute
    assert bpy.data.objects["Rig"].pose.bones["Hand"].constraints[0].mute
    (only,) = rig.tool("scene__find", constraint="TRACK_TO")["objects"]
    assert (only["path"], only["constraints"][0]["enabled"]) == ("Eye", False)
    attribute = 'pose.bones["Foot"].constraints["IK"].mute'
    why = refused(lambda: rig.tool("attributes__set", name="Rig", attribute=attribute, value=True))
    assert "'Rig' has no 'Foot' among its bones; it has: " in why


def test_everything_with_keys_is_listed(rig: Rig) -> None:
    import bpy

    assert rig.tool("animation__list_keys") == {"animated": [], "total": 0}
    rig.cube("Still")
    rig.cube("Mover")
    keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in (1, 5, 12)]
    rig.tool("animation__set_keys", name="Mover", keys=keys)
    lamp = bpy.data.lights.new("Glow", "POINT")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Lamp", lamp))
    for frame, power in ((10, 1.0), (20, 9.0)):
        lamp.energy = power
        lamp.keyframe_insert("energy", frame=frame)
    bpy.data.worlds.new("Sky").color = (0, 0, 0)
    bpy.data.worlds["Sky"].keyframe_insert("color", frame=7)
    walker = rig.cube("Walker")
    action = bpy.data.objects["Mover"].animation_data.action
    walker.animation_data_create().nla_tracks.new().strips.new("Walk", 30, action)
    listed = rig.tool("animation__list_keys")
    told = {each["path"]: each for each in listed["animated"]}
    assert {path: (each["start"], each["end"]) for path, each in told.items()} == {
        **{"Mover": (1, 12), "Lamp": (10, 20), "Walker": (30, 41), "Sky": (7, 7)},
    }
    assert told["Mover"]["keys"] == 3
    assert told["Mover"]["of"] == ["location"]
    assert told["Lamp"]["of"] == ["Glow: energy"]
    page = rig.tool("animation__list_keys", limit=1)
    assert (len(page["animated"]), page["total"], page["next_offset"]) == (1, 4, 1)


def _collections() -> set[str]:
    import bpy

    return {each.name for each in bpy.data.collections}


def test_empty_collections_are_removed_and_others_stay(rig: Rig) -> None:
    import bpy

    rig.cube("Crate")
    rig.tool("structure__create_group", name="Full", objects=["Crate"])
    rig.tool("structure__create_group", name="Empty")
    outer = bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(bpy.data.collections.new("Inner"))
    shown = bpy.data.objects.new("Shows", None)
    bpy.context.scene.collection.objects.link(shown)
    shown.instance_type, shown.instance_collection = "COLLECTION", bpy.data.collections.new("Used")
    kept = bpy.data.collections.new("Kept")
    kept.use_fake_user = True
    assert "collections" not in rig.tool("blender_data__purge")["removed"]
    why = refused(lambda: rig.tool("structure__remove_from_group", name="Outer", delete_empty=True))
    assert "1 collections" in why
    done = rig.tool("structure__remove_from_group", name="Empty", delete_empty=True)
    assert done["group"]["deleted"] is True
    assert _collections() == {"Full", "Outer", "Inner", "Used", "Kept"}
    removed = rig.tool("blender_data__purge", empty_collections=True)["removed"]
    assert removed["collections"] == ["Inner", "Outer"]
    assert _collections() == {"Full", "Used", "Kept"}
    left = rig.tool("structure__remove_from_group", name="Full", objects=["Crate"])
    assert "deleted" not in left["group"]
    assert "Full" in _collections()


def test_a_deleted_collection_and_a_resolution_are_undone(rig: Rig) -> None:
    rig.tool("structure__create_group", name="Empty")
    rig.tool("scene__create_primitive", kind="cube", name="Crate")
    before = _told()
    for tool, asked in (
        ("structure__remove_from_group", {"name": "Empty", "delete_empty": True}),
        ("blender_data__purge", {"empty_collections": True}),
        ("cameras__set_resolution", {"width": 1280, "height": 720}),
        ("geometry__modify", {"name": "Crate", "kind": "subdivide", "levels": 2}),
        ("structure__set_visibility", {"objects": ["Crate"], "visible": False}),
    ):
        rig.tool(tool, **asked)
        assert _told() != before, tool
        assert rig.host.undo.undo(rig.call.undo_id) is True, tool
        assert _told() == before, tool


def _told() -> Any:
    import bpy

    crate, render = bpy.data.objects["Crate"], bpy.context.scene.render
    size = (render.resolution_x, render.resolution_y)
    return _collections(), size, len(crate.modifiers), crate.hide_render


def test_all_but_some_are_hidden_and_linked_ones_in_views(rig: Rig) -> None:
    import bpy

    path = rig.library("chairs.blend", lambda: rig.cube("Chair") and None)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Chair"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Chair"])
    for name in ("Crate", "Lamp", "Blinker"):
        rig.cube(name)
    blinker = bpy.data.objects["Blinker"]
    blinker.keyframe_insert("hide_render", frame=1)
    asked: Any = {"objects": ["Crate"], "visible": False, "others": True}
    done = rig.tool("structure__set_visibility", **asked)
    assert sorted(done["changed"]) == ["Chair [chairs.blend]", "Lamp"]
    assert "linked" in done["doubt"]
    assert done["verified"] is False
    ((only),) = done["refused"]
    assert only["path"] == "Blinker"
    assert "keys" in only["why"]
    saved = rig.reopened()
    seen = {path: each["visible"] for path, each in saved.items()}
    assert seen == {
        "Crate": True,
        "Blinker": True,
        "Lamp": False,
        "Chair [chairs.blend]": False,
    }
    hide = {"objects": ["Blinker"], "visible": False}
    assert "keys" in refused(lambda: rig.tool("structure__set_visibility", **hide))


def test_what_is_above_a_kept_object_stays(rig: Rig) -> None:
    rig.cube("Above")
    rig.cube("Kept")
    rig.cube("Other")
    rig.tool("scene__set_parent", name="Kept", parent="Above")
    done = rig.tool("structure__set_visibility", objects=["Kept"], visible=False, others=True)
    assert done["changed"] == ["Other"]


def test_the_resolution_is_the_scene_s_own(rig: Rig) -> None:
    import bpy

    rig.tool("cameras__set_resolution", width=1280, height=720)
    render = bpy.context.scene.render
    assert (render.resolution_x, render.resolution_y) == (1280, 720)
    assert render.resolution_percentage == 100
    (scene,) = rig.tool("file__overview")["scenes"]
    assert scene["resolution"] == [1280, 720, 100]


def test_all_objects_that_can_t_be_selected_are_named(rig: Rig) -> None:
    import bpy

    for name in ("Seen", "Hidden", "Gone", "Locked"):
        rig.cube(name)
    for name in ("Hidden", "Gone"):
        bpy.data.objects[name].hide_set(True)
    bpy.data.objects["Locked"].hide_select = True
    rig.tool("scene__select", name="Seen")
    wanted = ["Hidden", "Seen", "Gone", "Locked"]
    why = refused(lambda: rig.tool("scene__select", names=wanted))
    assert "'Hidden', 'Gone' are hidden" in why
    assert "'Locked' can't be selected" in why
    assert "Seen" not in why
    assert rig.tool("scene__scene_info")["selection"] == ["Seen"]


def test_faces_are_said_to_be_counted_before_modifiers(rig: Rig) -> None:
    rig.cube("Plain")
    assert "doubt" not in rig.tool("scene__find", sort="faces")
    rig.cube("Round").modifiers.new("Fine", "SUBSURF").levels = 3
    for asked in ({"sort": "faces"}, {"min_faces": 6}):
        doubt = rig.tool("scene__find", **asked)["doubt"]
        assert "before modifiers" in doubt
        assert "Round" in doubt
        assert "Plain" not in doubt
        assert "geometry__info" in doubt
    assert "doubt" not in rig.tool("scene__find", pattern="*")
    assert "before modifiers" in rig.tool("file__overview")["faces_counted"]


def test_objects_are_sorted_by_the_faces_after_modifiers(rig: Rig) -> None:
    import bpy

    grid = rig.cube("Plain")
    grid.data.clear_geometry()
    grid.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)] * 20, [], [(0, 1, 2)] * 20)
    fine = rig.cube("Fine").modifiers.new("Fine", "SUBSURF")
    fine.levels, fine.render_levels = 2, 3
    away = rig.cube("Away")
    away.modifiers.new("Fine", "SUBSURF")
    put_away = bpy.data.collections.new("Put away")
    bpy.context.scene.collection.children.link(put_away)
    put_away.objects.link(away)
    bpy.context.scene.collection.objects.unlink(away)
    bpy.context.view_layer.layer_collection.children["Put away"].exclude = True
    answer = rig.tool("scene__find", sort="shown_faces")
    counts = [(each["name"], each["faces"], each["shown_faces"]) for each in answer["objects"]]
    assert counts == [("Fine", 6, 96), ("Plain", 20, 20)], answer
    assert "so not counted: Away" in answer["doubt"]
    both = rig.tool("scene__find", sort="shown_faces", min_faces=6)["doubt"]
    assert "before modifiers" in both
    assert "so not counted: Away" in both


def test_materials_are_listed_with_their_color(rig: Rig) -> None:
    import bpy

    rig.cube("Crate")
    rig.tool("materials__create", name="Red", color=[0.8, 0.02, 0.02], objects=["Crate"])
    made = rig.tool("materials__create", name="Wood")["material"]["path"]
    nodes = bpy.data.materials[made].node_tree
    picture = nodes.nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.new("wood", 1, 1)
    shader = next(each for each in nodes.nodes if each.type == "BSDF_PRINCIPLED")
    nodes.links.new(picture.outputs[0], shader.inputs["Base Color"])
    listed = {each["name"]: each for each in rig.tool("materials__list")["materials"]}
    assert listed["Red"]["color"] == [0.8, 0.02, 0.02]
    assert "color" not in listed["Wood"]


def _weathered(name: str, amount: float) -> Any:
    """Return a material whose color comes out of the node group Weathering, which takes an
    amount."""
    import bpy

    group = bpy.data.node_groups.get("Weathering")
    if group is None:
        group = bpy.data.node_groups.new("Weathering", "ShaderNodeTree")
        for kind, socket, way in (
            ("NodeSocketFloat", "Amount", "INPUT"),
            ("NodeSocketColor", "Paint", "INPUT"),
            ("NodeSocketColor", "Result", "OUTPUT"),
        ):
            if hasattr(group, "interface"):
                group.interface.new_socket(socket, in_out=way, socket_type=kind)
            else:
                getattr(group, f"{way.lower()}s").new(kind, socket)
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    tree = material.node_tree
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = group
    node.inputs["Amount"].default_value = amount
    shader = next(each for each in tree.nodes if each.type == "BSDF_PRINCIPLED")
    tree.links.new(node.outputs[0], shader.inputs["Base Color"])
    return material


def test_materials_that_differ_only_in_a_group_s_input_are_told_apart(rig: Rig) -> None:
    import bpy

    tree = _weathered("Wood", 0.7).node_tree
    picture = tree.nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.new("grain", 1, 1)
    group = next(each for each in tree.nodes if each.type == "GROUP")
    tree.links.new(picture.outputs[0], group.inputs["Paint"])
    _weathered("Wood.001", 0.4)
    told = rig.tool("materials__get", name="Wood")
    nearest, behind = told["driven_by"]["color"]
    assert told["color"] is None
    assert nearest["uses"] == ["Weathering"]
    assert nearest["inputs"] == {"Amount": 0.7, "Paint": f"from {picture.name}"}
    assert (behind["node"], behind["uses"]) == (picture.name, ["grain"])
    (only,) = rig.tool("materials__get", name="Wood.001")["driven_by"]["color"]
    assert only["inputs"]["Amount"] == 0.4
    rig.tool("materials__create", name="Plain", color=[1, 0, 0])
    assert "driven_by" not in rig.tool("materials__get", name="Plain")


def test_a_material_without_the_usual_shader_names_its_own(rig: Rig) -> None:
    material = _weathered("Glowing", 0.5)
    glow = material.node_tree.nodes.new("ShaderNodeEmission")
    glow.inputs["Strength"].default_value = 3
    surface = material.node_tree.get_output_node("ALL").inputs["Surface"]
    material.node_tree.links.new(glow.outputs[0], surface)
    (only,) = rig.tool("materials__get", name="Glowing")["driven_by"]["surface"]
    assert (only["node"], only["inputs"]["Strength"]) == (glow.name, 3)


def test_a_replacement_says_how_what_it_replaces_was_different(rig: Rig) -> None:
    _weathered("Wood", 0.7)
    _weathered("Wood.001", 0.4)
    _weathered("Wood.002", 0.7)
    asked: Any = {"kind": "materials", "by": "Wood"}
    equal = rig.tool("blender_data__replace", names=["Wood.002"], **asked)
    assert "differs" not in equal
    done = rig.tool("blender_data__replace", names=["Wood.*"], **asked)
    assert done["removed"] == ["Wood.001"]
    (only,) = done["differs"]
    assert (only["of"], only["was"], only["now"]) == ("Wood.001", 0.4, 0.7)
    assert only["what"].endswith('inputs["Amount"].default_value')


def test_identical_copies_are_merged_at_once_and_others_stay(rig: Rig) -> None:
    import bpy

    made = ("Wood", "Wood.001", "Wood.002", "Wood.001.001", "Iron", "Iron.001", "Lost.001")
    for name in made:
        _weathered(name, 0.4 if name == "Wood.002" else 0.7)
        rig.cube(f"Box {name}").data.materials.append(bpy.data.materials[name])
    asked: Any = {"kind": "materials", "names": ["*.0*"], "only_identical": True}
    told = rig.tool("blender_data__replace", **asked)
    assert sorted(told["removed"]) == ["Iron.001", "Wood.001", "Wood.001.001"]
    users = {bpy.data.objects[f"Box {name}"].data.name for name in told["removed"]}
    assert set(told["changed"]) == users
    kept = {each["name"]: each["why"] for each in told["kept"]}
    assert (sorted(kept), told["kept_count"]) == (["Lost.001", "Wood.002"], 2)
    assert "differs from 'Wood' in node_tree.nodes" in kept["Wood.002"]
    assert bpy.data.objects["Box Wood.001.001"].data.materials[0].name == "Wood"
    assert bpy.data.objects["Box Iron.001"].data.materials[0].name == "Iron"
    merged = rig.call.undo_id
    told = rig.tool("blender_data__replace", **{**asked, "names": ["Wood.*"]})
    assert (told["removed"], told["changed"]) == ([], [])
    assert merged is not None
    assert rig.host.undo.undo(merged) is True
    assert set(made) <= set(bpy.data.materials.keys())
    why = refused(lambda: rig.tool("blender_data__replace", kind="materials", names=["Wood"]))
    assert "give by" in why


def test_kinds_may_be_named_in_the_singular(rig: Rig) -> None:
    import bpy

    _weathered("Wood", 0.7)
    _weathered("Wood.001", 0.7)
    rig.cube("Box").data.materials.append(bpy.data.materials["Wood.001"])
    asked: Any = {"kind": "material"}
    listed = rig.tool("blender_data__list", **asked)
    assert [each["name"] for each in listed["data"]] == ["Wood", "Wood.001"]
    told = rig.tool("blender_data__compare", **asked, name="Wood", other="Wood.001")
    assert told["identical"] is True
    told = rig.tool("blender_data__replace", **asked, names=["Wood.001"], by="Wood")
    assert told["removed"] == ["Wood.001"]
    rig.tool("blender_data__rename", **asked, name="Wood", new_name="Oak")
    told = rig.tool("blender_data__set_values", **asked, of="Oak", values={"pass_index": 3})
    assert told["values"][0]["value"] == 3
    told = rig.tool("blender_data__get_values", **asked, of="Oak", pattern="pass_index")
    assert (told["kind"], told["values"][0]["value"]) == ("materials", 3)
    bpy.data.materials.new("Spare").use_fake_user = True
    assert rig.tool("blender_data__remove", **asked, names=["Spare"])["removed"] == ["Spare"]
    reads: Any = [{"name": "x", "target": "Oak", "target_kind": "material", "property": "metallic"}]
    driven: Any = {"of": "Box", "drives": "location[0]", "variables": reads}
    assert rig.tool("blender_data__add_driver", kind="object", **driven)["verified"] is True
    for kind in ("text", "Texts"):
        asked = {"of": "Oak", "values": {"x": 1}, "kind": kind}
        why = refused(lambda asked=asked: rig.tool("blender_data__set_values", **asked))
        assert "a text can be code" in why
    why = refused(lambda: rig.tool("blender_data__replace", kind="object", names=["Box"], by="B"))
    assert "objects can't be replaced here; these can: materials" in why
    assert "only objects, scenes" in refused(
        lambda: rig.tool("blender_data__add_driver", kind="sound", **driven)
    )


def test_two_materials_are_compared_by_all_their_settings(rig: Rig) -> None:
    import bpy

    _weathered("Wood", 0.7)
    other = bpy.data.materials["Wood"].copy()
    other.node_tree.nodes["Principled BSDF"].location = (900, 900)

    def compared(**asked: Any) -> Any:
        return rig.tool("blender_data__compare", kind="materials", **asked)

    two: Any = {"name": "Wood", "other": other.name}
    told = compared(**two)
    assert (told["identical"], told["differences"]) == (True, [])
    assert [each["names"] for each in compared(pattern="*")["groups"]] == [["Wood", "Wood.001"]]
    other.use_backface_culling, other["grain"] = True, "fine"
    shader = other.node_tree.nodes["Principled BSDF"]
    shader.inputs["Metallic"].default_value = 1
    other.node_tree.links.remove(shader.inputs["Base Color"].links[0])
    told = compared(**two)
    assert not told["identical"]
    differing = {each["what"]: (each["first"], each["second"]) for each in told["differences"]}
    inputs = 'node_tree.nodes["Principled BSDF"].inputs'
    (link,) = differing.pop(f'{inputs}["Base Color"].links')[0]
    assert "Group" in link
    assert differing == {
        "use_backface_culling": (False, True),
        '["grain"]': (None, "fine"),
        f'{inputs}["Metallic"].default_value': (0, 1),
    }
    told = compared(pattern="*")
    assert (told["groups"], told["compared"], told["alone"]) == ([], 2, 2)
    wood, copy = told["alone_are"]
    assert wood == {"name": "Wood"}
    assert (copy["name"], copy["original"], copy["differing"]) == ("Wood.001", "Wood", 4)
    culling = {"what": "use_backface_culling", "first": False, "second": True}
    assert culling in copy["differences"]
    other.copy().name = "Lost.001"
    told = compared(pattern="*.001")
    (group,) = told["groups"]
    assert (group["names"], group["original"]) == (["Lost.001", "Wood.001"], None)
    assert "itself" in refused(lambda: compared(name="Wood", other="Wood"))


def test_copies_of_all_kinds_are_identical_and_a_small_change_is_found(rig: Rig) -> None:
    import bpy

    cube = rig.cube("Cube")
    cube.shape_key_add(name="Basis")
    cube.modifiers.new("Bevel", "BEVEL")
    cube.modifiers.new("Array", "ARRAY")
    cube.vertex_groups.new(name="top").add([0], 0.5, "REPLACE")
    cube.keyframe_insert("location", frame=1)
    rigged = armature("Rig", "foot.L", "foot.R")
    rigged.pose.bones["foot.L"].constraints.new("IK").target = rigged
    kinds = {
        **{"objects": cube, "meshes": cube.data, "armatures": rigged.data},
        **{"actions": cube.animation_data.action, "images": bpy.data.images.new("dirt", 4, 4)},
        **{"worlds": bpy.data.worlds.new("Sky"), "cameras": bpy.data.cameras.new("Lens")},
        **{"node_groups": bpy.data.node_groups.new("Group", "GeometryNodeTree")},
        **{"lights": bpy.data.lights.new("Lamp", "AREA"), "scenes": bpy.context.scene},
    }

    def compared(kind: str, **asked: Any) -> Any:
        return rig.tool("blender_data__compare", kind=kind, name=kinds[kind].name, **asked)

    copies = {kind: each.copy() for kind, each in kinds.items()}
    for kind, copy in copies.items():
        told = compared(kind, other=copy.name)
        assert (kind, told["identical"], told["differences"]) == (kind, True, [])
    copies["meshes"].vertices[0].co.x += 0.25
    copies["meshes"].vertices[0].groups[0].weight = 0.75
    copies["objects"].modifiers.move(0, 1)
    told = compared("meshes", other=copies["meshes"].name)
    assert {each["what"] for each in told["differences"]} == {
        'attributes["position"].data',
        "vertex weights",
    }
    (only,) = compared("objects", other=copies["objects"].name)["differences"]
    assert (only["what"], only["first"]) == ("modifiers", ['"Bevel"', '"Array"'])
    kinds["objects"] = rigged
    left, right = (f'pose.bones["foot.{side}"]' for side in "LR")
    told = compared("objects", part=left, other_part=right)
    assert [each["what"] for each in told["differences"]] == ["constraints"]
    rigged.pose.bones["foot.R"].constraints.new("IK").target = rigged
    assert compared("objects", part=left, other_part=right)["identical"] is True
    rigged.driver_add(f"{left}.lock_ik_x")
    told = compared("objects", part=left, other_part=right)
    assert told["identical"] is None
    assert "drivers and keys" in told["not_compared"][0]
    told = refused(lambda: compared("objects", part='modifiers["No"]', other=cube.name))
    assert "modifiers" in told


def test_bones_are_compared_with_their_mirrored_ones(rig: Rig) -> None:
    rigged = armature("Rig", "foot.L", "foot.R", "pole_knee.L", "pole_knee.R", "spine")
    for side in "LR":
        ik = rigged.pose.bones[f"foot.{side}"].constraints.new("IK")
        ik.name, ik.target, ik.pole_target = f"Reach.{side}", rigged, rigged
        ik.subtarget, ik.pole_subtarget = "spine", f"pole_knee.{side}"
    asked: Any = {"kind": "objects", "name": "Rig", "part": 'pose.bones["foot.L"]'}
    assert rig.tool("blender_data__compare", mirror=True, **asked)["identical"] is True
    left = rigged.pose.bones["foot.L"].constraints[0]
    left.pole_subtarget, left.mute = "pole_knee.R", True
    told = rig.tool("blender_data__compare", mirror=True, **asked)
    assert told["compared"] == [f'Rig: pose.bones["foot.{side}"]' for side in "LR"]
    of = 'constraints["Reach.R"]'
    side = {"first": "pole_knee.R", "second": "pole_knee.R", "expected": "pole_knee.L"}
    assert told["differences"] == [
        {"what": f"{of}.mute", "first": True, "second": False},
        {"what": f"{of}.pole_subtarget", **side},
    ]


def test_comparing_bones_leaves_out_other_bones_of_their_collections(rig: Rig) -> None:
    import bpy

    if bpy.app.version < (4, 0):
        return
    rigged = armature("Rig", "foot.L", "foot.R", *(f"bone{at}" for at in range(20)))
    collection = rigged.data.collections.new("DEF")
    for bone in rigged.data.bones:
        collection.assign(bone)
    left, right = (f'data.bones["foot.{side}"]' for side in "LR")
    asked: Any = {"kind": "objects", "name": "Rig", "part": left, "other_part": right}
    told = rig.tool("blender_data__compare", **asked)
    assert (told["differences"], told["values"] < 100) == ([], True)
    collection.unassign(rigged.data.bones["foot.R"])
    (only,) = rig.tool("blender_data__compare", **asked)["differences"]
    assert only == {"what": "collections", "first": ["DEF"], "second": []}


def test_the_users_of_node_groups_are_named(rig: Rig) -> None:
    import bpy

    _weathered("Wood", 0.7)
    outer = bpy.data.node_groups.new("Outer", "ShaderNodeTree")
    outer.nodes.new("ShaderNodeGroup").node_tree = bpy.data.node_groups["Weathering"]
    listed = rig.tool("blender_data__list", kind="node_groups")["data"]
    users = {each["name"]: each["used_by"] for each in listed}
    assert users == {"Weathering": ["Outer", "Wood"], "Outer": []}
    listed = rig.tool("blender_data__list", kind="node_groups", users_limit=1)["data"]
    (cut,) = (each for each in listed if each["name"] == "Weathering")
    assert (cut["used_by"], cut["used_by_more"]) == (["Outer"], 1)


def test_keys_of_bones_are_listed_with_their_armature(rig: Rig) -> None:
    import bpy

    obj = armature("Hero", "Hand", "Gone")
    for name, frames in (("Hand", (1, 10)), ("Gone", (5,))):
        for frame in frames:
            obj.pose.bones[name].keyframe_insert("location", frame=frame)
    obj.animation_data.action.name = "Walk"
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones.remove(obj.data.edit_bones["Gone"])
    bpy.ops.object.mode_set(mode="OBJECT")
    hand, gone = (f'pose.bones["{name}"].location' for name in ("Hand", "Gone"))
    (entry,) = rig.tool("animation__list_keys")["animated"]
    assert (entry["of"], entry["broken"], entry["actions"]) == ([hand, gone], [gone], ["Walk"])
    told = rig.tool("animation__list_keys", name="Hero")
    assert (told["keys"], told["action"], told["others_total"]) == ([], "Walk", 2)
    there, missing = told["others"]
    assert there == {"of": hand, "keys": 2, "frames": [1, 10], "action": "Walk"}
    assert (missing["of"], missing["frames"]) == (gone, [5])
    assert "isn't there" in missing["why"]
    rig.tool("animation__set_keys", name="Hero", keys=[{"frame": 3, "translate": [1, 0, 0]}])
    told = rig.tool("animation__list_keys", name="Hero")
    assert ([each["frame"] for each in told["keys"]], told["others_total"]) == ([3], 2)

"""Cases with values of materials, lights and cameras. A value that is reported as set must be
visible, and still be set after the next load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard_testing.checks import cameras as check_cameras
from callboard_testing.checks import lights as check_lights
from callboard_testing.checks import materials as check_materials
from hosts.blender_scenes import near, refused

if TYPE_CHECKING:
    from hosts.blender_scenes import Rig


def _alike(a: Any, b: Any) -> bool:
    """Return whether two processes' entries agree, given that a file keeps single precision."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, float):
        return near([a], [b])
    return bool(a == b)


def test_values_are_there_after_the_next_load(rig: Rig) -> None:
    rig.cube("Box")
    rig.cube("Keyed")
    told: dict[tuple[str, str], Any] = {}
    for kind, own in check_lights.KINDS.items():
        (path,) = rig.tool("lights__create", kind=kind, name=kind)["created"]
        rig.tool("lights__set", name=path, color=[1, 0.5, 0.25], power=50, **own)
        told[path, "lights"] = rig.port("lights").get(path)
    (path,) = rig.tool("cameras__create", name="Hero", translate=[5, -5, 5])["created"]
    rig.tool("cameras__set", name=path, **check_cameras.VALUES)
    rig.tool("cameras__look_at", name=path, target="Box")
    told[path, "cameras"] = rig.port("cameras").get(path)
    (material,) = rig.tool("materials__create", name="Paint")["created"]
    rig.tool("materials__set", name=material, **check_materials.VALUES)
    picture = check_materials.picture(rig.folder)
    rig.tool("materials__set_texture", name=material, slot="roughness", path=picture)
    rig.tool("materials__assign", name=material, objects=["Box"])
    keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in (1, 5, 9)]
    rig.tool("animation__set_keys", name="Keyed", keys=keys)
    rig.tool("animation__delete_keys", name="Keyed", start=4, end=6)
    places = {path: rig.read.get(path) for path, _ in told}
    entry = rig.port("materials").get(material)
    saved = rig.reopened()
    for (path, kind), value in told.items():
        assert _alike(saved[path][kind], value), (value, saved[path][kind])
        for key in ("translate", "rotate", "scale"):
            assert near(saved[path][key], places[path][key]), (path, key)
    assert _alike(saved["Box"]["materials"], {material: entry}), (entry, saved["Box"]["materials"])
    assert [key["frame"] for key in saved["Keyed"]["keys"]] == [1, 9]


def test_a_shader_that_is_not_shown_takes_no_colour(rig: Rig) -> None:
    """The material shows a different shader, so the object gets its own, visible material."""
    import bpy

    box = rig.cube("Box")
    material = bpy.data.materials.new("Odd")
    if material.node_tree is None:
        material.use_nodes = True
    box.data.materials.append(material)
    tree = material.node_tree
    unseen = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    before = list(unseen.inputs["Base Color"].default_value)
    output = tree.get_output_node("ALL")
    glow = tree.nodes.new("ShaderNodeEmission")
    tree.links.new(glow.outputs[0], output.inputs["Surface"])
    assert "its surface output" in refused(
        lambda: rig.tool("materials__set", name="Odd", color=[1, 0, 0])
    )
    answer = rig.tool("scene__set_material_color", name="Box", color=[1, 0, 0])
    assert answer["verified"]
    assert near(answer["object"]["color"], [1, 0, 0])
    assert bpy.data.objects["Box"].material_slots[0].material.name != "Odd"
    assert list(unseen.inputs["Base Color"].default_value) == before
    # The same shader is visible behind another one.
    mix = tree.nodes.new("ShaderNodeMixShader")
    bend = tree.nodes.new("NodeReroute")
    tree.links.new(unseen.outputs[0], bend.inputs[0])
    tree.links.new(bend.outputs[0], mix.inputs[2])
    tree.links.new(glow.outputs[0], mix.inputs[1])
    tree.links.new(mix.outputs[0], output.inputs["Surface"])
    assert rig.tool("materials__set", name="Odd", color=[0, 1, 0])["verified"]
    assert near(list(unseen.inputs["Base Color"].default_value)[:3], [0, 1, 0])


def test_what_refers_to_other_data_is_set_by_name_and_cleared(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    camera = rig.tool("cameras__create", name="Eye")["camera"]["path"]
    empty = rig.tool("structure__create_empty", name="Spot")["object"]["path"]

    def put(name: str, attribute: str, value: object) -> Any:
        return rig.tool("attributes__set", name=name, attribute=attribute, value=value)

    told = put(camera, "data.dof.focus_object", "Box")
    assert told["attribute"]["value"] == "Box"
    assert told["attribute"]["refers_to"] == "objects"
    focus = bpy.data.objects[camera].data.dof
    assert focus.focus_object == bpy.data.objects["Box"]
    put(camera, "data.dof.focus_object", None)
    assert bpy.data.objects[camera].data.dof.focus_object is None
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.data.objects[camera].data.dof.focus_object == bpy.data.objects["Box"]
    bpy.data.images.new("Plan", 2, 2)
    assert put(empty, "data", "Plan")["attribute"]["refers_to"] == "images"
    assert bpy.data.objects["Spot"].data == bpy.data.images["Plan"]
    mirror = bpy.data.objects["Box"].modifiers.new("Mirror", "MIRROR")
    put("Box", 'modifiers["Mirror"].mirror_object', "Spot")
    assert mirror.mirror_object == bpy.data.objects["Spot"]
    listed = rig.tool("attributes__list", name="Box", pattern="*mirror_object")["attributes"]
    assert [each["value"] for each in listed] == ["Spot"]
    group = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(group)
    group.objects.link(bpy.data.objects["Spot"])

    def why(attribute: str, value: object, name: str = camera) -> str:
        return refused(lambda: put(name, attribute, value))

    assert "no 'Bax' among the objects" in why("data.dof.focus_object", "Bax")
    assert "give a name, or null" in why("data.dof.focus_object", 3)
    assert "can't show itself" in why("instance_collection", "Set", "Spot")
    assert "doesn't take nothing as 'data'" in why("data", None, "Box")
    assert "scene__set_parent sets it" in why("parent", "Box")
    bpy.data.objects[camera].constraints.new("TRACK_TO")
    told = why('constraints["Track To"].target', "Box")
    assert "blender_data__set_constraint sets it" in told
    assert "name a value inside it" in why("data.dof", "Box")
    assert "has no bone 'Arm'" in why("parent_bone", "Arm")

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


def test_what_refers_to_an_object_is_not_said_to_have_values_inside(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    camera = rig.tool("cameras__create", name="Eye")["camera"]["path"]

    def told(attribute: str) -> str:
        asked: Any = {"name": camera, "attribute": attribute, "value": "Box"}
        return refused(lambda: rig.tool("attributes__set", **asked))

    focus = told("data.dof.focus_object")
    assert "refers to other data (object, now none)" in focus
    assert "name a value inside it" not in focus
    bpy.data.objects[camera].data.dof.focus_object = bpy.data.objects["Box"]
    assert "now 'Box'" in told("data.dof.focus_object")
    assert "scene__set_parent sets it" in told("parent")
    bpy.data.objects[camera].constraints.new("TRACK_TO")
    assert "blender_data__set_constraint sets it" in told('constraints["Track To"].target')
    assert "name a value inside it" in told("data.dof")

"""Makes a .blend file with the kinds of content that artists' files have, and a file that the first
one links. Run it as ``corpus_blends.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(sys.argv[1])


def empty() -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


def mesh(name: str) -> Any:
    made = bpy.data.meshes.new(name)
    made.from_pydata(
        [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)],
        [],
        [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
    )
    made["note"] = {"by": "the artist", "at": [1, 2.5]}
    return made


def put(name: str, data: Any, scene: Any) -> Any:
    made = bpy.data.objects.new(name, data)
    scene.collection.objects.link(made)
    return made


def rigged(scene: Any) -> Any:
    """Add a mesh that bones move, with keys in an NLA strip, shape keys, weights and a driver."""
    rig, skin = put("Rig", bpy.data.armatures.new("Rig"), scene), put("Skin", mesh("Skin"), scene)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Arm")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["Arm"].constraints.new("LIMIT_ROTATION")
    skin.vertex_groups.new(name="Arm").add(range(8), 0.5, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    skin.shape_key_add(name="Basis")
    skin.shape_key_add(name="Wide").data[0].co.x -= 1
    put("Hat", mesh("Hat"), scene).parent = rig
    bpy.data.objects["Hat"].parent_type, bpy.data.objects["Hat"].parent_bone = "BONE", "Arm"
    for frame in (1, 20):
        rig.location.x = frame
        rig.keyframe_insert("location", frame=frame)
    strip = rig.animation_data.nla_tracks.new().strips.new("Walk", 1, rig.animation_data.action)
    rig.animation_data.action = None
    strip.repeat = 2
    driver = skin.driver_add("location", 2).driver
    driver.expression = "frame / 10"
    return rig


def drawn(scene: Any) -> None:
    """Add a grease pencil drawing."""
    kinds = "grease_pencils_v3" if hasattr(bpy.data, "grease_pencils_v3") else "grease_pencils"
    drawing = put("Drawing", getattr(bpy.data, kinds).new("Drawing"), scene)
    layer = drawing.data.layers.new("Ink")
    frame = layer.frames.new(1)
    if hasattr(frame, "drawing"):
        frame.drawing.add_strokes([3])
    else:
        frame.strokes.new().points.add(3)


def offered(group: Any, name: str, direction: str, kind: str) -> None:
    """Add a socket to a node group."""
    if hasattr(group, "interface"):
        group.interface.new_socket(name, in_out=direction, socket_type=f"NodeSocket{kind}")
    else:
        getattr(group, f"{direction.lower()}s").new(f"NodeSocket{kind}", name)


def grouped(name: str, tree: str, through: str) -> Any:
    """Return a node group with an amount, which lets ``through`` pass."""
    made = bpy.data.node_groups.new(name, tree)
    offered(made, through, "INPUT", through)
    offered(made, "Amount", "INPUT", "Float")
    offered(made, through, "OUTPUT", through)
    before, after = made.nodes.new("NodeGroupInput"), made.nodes.new("NodeGroupOutput")
    made.links.new(before.outputs[0], after.inputs[0])
    return made


def with_nodes(material: Any, obj: Any) -> None:
    """Add node groups, used by a material and an object, and a muted node."""
    tree = material.node_tree
    worn = tree.nodes.new("ShaderNodeGroup")
    worn.node_tree = grouped("Wear", "ShaderNodeTree", "Color")
    grouped("Wear 2", "ShaderNodeTree", "Color").use_fake_user = True
    noise, bump = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("ShaderNodeBump")
    noise.name, bump.name, bump.mute = "Noise", "Bump", True
    shader = next(each for each in tree.nodes if each.type == "BSDF_PRINCIPLED")
    tree.links.new(noise.outputs[1], worn.inputs[0])
    tree.links.new(worn.outputs[0], shader.inputs["Base Color"])
    tree.links.new(bump.outputs[0], shader.inputs["Normal"])
    worn.inputs["Amount"].keyframe_insert("default_value", frame=1)
    obj.modifiers.new("Scatter", "NODES").node_group = grouped(
        "Scatter", "GeometryNodeTree", "Geometry"
    )


library = empty()
prop = put("Prop", mesh("Prop"), library)
kept = bpy.data.collections.new("Kit")
kept.objects.link(prop)
prop.data.materials.append(bpy.data.materials.new("Paint"))
kept.use_fake_user = True
bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "library.blend"))

scene = empty()
rigged(scene)
drawn(scene)
with bpy.data.libraries.load(str(FOLDER / "library.blend"), link=True) as (_, wanted):
    wanted.objects, wanted.collections = ["Prop"], ["Kit"]
linked = bpy.data.objects["Prop"]
scene.collection.objects.link(linked)
override = linked.override_create(remap_local_usages=True)
override.location.x = 3
instance = put("Instance", None, scene)
instance.instance_type, instance.instance_collection = "COLLECTION", bpy.data.collections["Kit"]
box = put("Box", mesh("Box"), scene)
box.data.use_fake_user = True
box.asset_mark()
box.data.uv_layers.new(name="Map")
box.data.color_attributes.new("Tint", "FLOAT_COLOR", "POINT")
box.modifiers.new("Bevel", "BEVEL")
box.modifiers.new("Hair", "PARTICLE_SYSTEM")
material = bpy.data.materials.new("Look")
material.use_nodes = True
box.data.materials.append(material)
with_nodes(material, box)
twin = put("Twin", box.data, scene)
twin.constraints.new("COPY_LOCATION").target = box
group = bpy.data.collections.new("Group")
scene.collection.children.link(group)
group.objects.link(twin)
put("Sun", bpy.data.lights.new("Sun", "SUN"), scene)
scene.camera = put("View", bpy.data.cameras.new("View"), scene)
other = bpy.data.scenes.new("Other")
apart = put("Apart", mesh("Apart"), other)
apart.parent = box
other.collection.objects.link(twin)
other.collection.children.link(group)
bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "show.blend"))

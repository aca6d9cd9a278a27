"""Cases in which two datablocks with lists of different lengths are compared. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig


def _differing(rig: Rig, **asked: Any) -> dict[str, Any]:
    told = rig.tool("blender_data__compare", **asked)
    assert told["total"] == len(told["differences"])
    return {each.pop("what"): each for each in told["differences"]}


def test_nodes_of_the_same_name_are_compared_beside_an_extra_one(rig: Rig) -> None:
    import bpy

    group = bpy.data.node_groups.new("Mud", "ShaderNodeTree")
    noise, ramp, mix = (
        group.nodes.new(f"ShaderNode{kind}") for kind in ("TexNoise", "ValToRGB", "BsdfPrincipled")
    )
    group.links.new(noise.outputs["Fac" if "Fac" in noise.outputs else 0], ramp.inputs[0])
    group.links.new(ramp.outputs["Color"], mix.inputs["Base Color"])
    other = group.copy()
    other.name = "Dirt"
    asked = {"kind": "node_groups", "name": "Mud", "other": "Dirt"}
    other.nodes.new("ShaderNodeValue").name = "Loose"
    (only,) = _differing(rig, **asked).items()
    assert only == ("nodes", {"only_in_first": [], "only_in_second": ['"Loose"']})
    nodes = other.nodes
    nodes[mix.name].inputs["Metallic"].default_value = 1
    other.links.new(nodes[ramp.name].outputs["Alpha"], nodes[mix.name].inputs["Base Color"])
    nodes[ramp.name].color_ramp.elements.new(0.5)
    told = _differing(rig, **asked)
    inputs = f'nodes["{mix.name}"].inputs'
    assert told.pop("nodes")["only_in_second"] == ['"Loose"']
    link = told.pop(f'{inputs}["Base Color"].links')
    assert (link["first"], link["second"]) == (["Color Ramp: Color"], ["Color Ramp: Alpha"])
    assert told.pop(f'{inputs}["Metallic"].default_value') == {"first": 0, "second": 1}
    ((what, stops),) = told.items()
    assert what == f'nodes["{ramp.name}"].color_ramp.elements'
    assert (stops["first"], stops["second"]) == ("2 entries", "3 entries")
    assert "no names" in stops["not_compared"]
    nodes.remove(nodes[noise.name])
    nodes.new("ShaderNodeMath").name = noise.name
    told = _differing(rig, **asked)
    assert "types differ" in told[f'nodes["{noise.name}"]']["not_compared"]


def test_curves_of_two_actions_are_paired_by_what_they_move(rig: Rig) -> None:
    cubes = [rig.cube(name) for name in ("Left", "Right")]
    for cube in cubes:
        cube.keyframe_insert("location", frame=1)
        cube.keyframe_insert("location", frame=20)
        cube.keyframe_insert("rotation_euler", index=2, frame=1)
    left, right = (cube.animation_data.action for cube in cubes)
    asked = {"kind": "actions", "name": left.name, "other": right.name}
    same = _differing(rig, **asked)
    assert set(same) <= {"slots"}
    cubes[0].keyframe_delete("location", index=0, frame=1)
    cubes[0].keyframe_delete("location", index=0, frame=20)
    cubes[1].keyframe_delete("rotation_euler", index=2, frame=1)
    cubes[1].location.z = 5
    cubes[1].keyframe_insert("location", index=2, frame=20)
    cubes[1].keyframe_insert("location", index=1, frame=30)
    told = {
        what.rpartition("fcurves")[2]: each
        for what, each in _differing(rig, **asked).items()
        if what != "slots"
    }
    only = told.pop("")
    assert only["only_in_first"] == ["rotation_euler[2]"]
    assert only["only_in_second"] == ["location[0]"]
    keys = told.pop("[location[1]].keyframe_points")
    assert keys == {"only_in_first": [], "only_in_second": ["frame 30"]}
    height = told.pop("[location[2]].keyframe_points[frame 20].co")
    assert (height["first"], height["second"]) == ([20, 0], [20, 5])
    handles = "[location[1]].keyframe_points[frame 20].", "[location[2]].keyframe_points[frame 20]."
    assert all(what.startswith(handles) for what in told), told

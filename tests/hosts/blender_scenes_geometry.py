"""Cases with shapes that are shared, hidden, linked or keyed. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _counts(obj: Any) -> tuple[int, int]:
    return len(obj.data.vertices), len(obj.data.polygons)


def test_what_shares_a_mesh_keeps_it(rig: Rig) -> None:
    import bpy

    first = rig.cube("First")
    second = bpy.data.objects.new("Second", first.data)
    bpy.context.scene.collection.objects.link(second)
    for tool, asked in (
        ("triangulate", {}),
        ("extrude", {"faces": "top", "distance": 1}),
        ("shade", {"smooth": True}),
        ("unwrap", {}),
    ):
        rig.tool(f"geometry__{tool}", name="First", **asked)
    assert _counts(bpy.data.objects["Second"]) == (8, 6)
    assert not len(bpy.data.objects["Second"].data.uv_layers)
    rig.tool("geometry__modify", name="Second", kind="array", count=2, offset=[3, 0, 0])
    rig.tool("geometry__apply", name="Second")
    assert _counts(bpy.data.objects["Second"]) == (16, 12)
    alone = rig.cube("Alone").data
    alone.use_fake_user = True
    rig.tool("geometry__triangulate", name="Alone")
    assert bpy.data.objects["Alone"].data == alone


def test_hidden_faces_are_unwrapped_and_stay_hidden(rig: Rig) -> None:
    obj = rig.cube("Box")
    obj.data.polygons[2].hide = True
    facts = rig.tool("geometry__unwrap", name="Box")["uvs"]
    import bpy

    hidden = [face.hide for face in bpy.data.objects["Box"].data.polygons]
    assert hidden == [False, False, True, False, False, False]
    assert facts["overlap"] < 0.02
    bpy.data.objects["Box"].hide_set(True)
    why = refused(lambda: rig.tool("geometry__unwrap", name="Box", replace=True))
    assert "show it first" in why


def test_shape_keys_are_not_lost(rig: Rig) -> None:
    obj = rig.cube("Face")
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile")
    rig.tool("geometry__modify", name="Face", kind="bevel")
    for tool, asked in (
        ("triangulate", {}),
        ("merge", {"distance": 0.1}),
        ("extrude", {"faces": [0], "distance": 1}),
    ):
        why = refused(lambda t=tool, a=asked: rig.tool(f"geometry__{t}", name="Face", **a))
        assert "shape keys" in why
    rig.tool("geometry__normals", name="Face", side="flip")
    import bpy

    assert len(bpy.data.objects["Face"].data.shape_keys.key_blocks) == 2


def test_a_modifier_that_is_switched_off_stays(rig: Rig) -> None:
    import bpy

    obj = rig.cube("Box")
    rig.tool("geometry__modify", name="Box", kind="array", count=2, offset=[3, 0, 0])
    rig.tool("geometry__modify", name="Box", kind="solidify")
    obj = bpy.data.objects["Box"]
    obj.modifiers["Array"].show_viewport = False
    rig.tool("geometry__apply", name="Box")
    assert [each.name for each in bpy.data.objects["Box"].modifiers] == ["Array"]


def test_faces_of_a_turned_object_look_where_the_world_has_it(rig: Rig) -> None:
    obj = rig.cube("Box", rotate=[0, 90, 0], scale=[1, 1, 4])
    assert obj.type == "MESH"
    rig.tool("geometry__extrude", name="Box", faces="top", distance=1)
    assert rig.read.get("Box")["bounds"]["max"][2] > 1.9


def test_what_is_linked_is_refused(rig: Rig) -> None:
    import bpy

    path = rig.library("shapes.blend", lambda: rig.cube("Prop") and None)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Prop"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    (name,) = rig.read.names()
    for tool, asked in (
        ("modify", {"kind": "bevel"}),
        ("subdivide", {}),
        ("triangulate", {}),
        ("unwrap", {}),
        ("shade", {"smooth": True}),
    ):
        why = refused(lambda t=tool, a=asked: rig.tool(f"geometry__{t}", name=name, **a))
        assert "linked from" in why, tool
    assert "linked from" in refused(lambda: rig.port("modelling").apply_modifiers(name))


def test_modifiers_and_text_are_there_when_the_file_is_opened_again(rig: Rig) -> None:
    rig.cube("Box")
    made = rig.tool("geometry__modify", name="Box", kind="bevel", width=0.2)["modifier"]
    width = {"name": "Box", "attribute": f'modifiers["{made}"].width'}
    assert near([rig.tool("attributes__get", **width)["value"]], [0.2])
    assert rig.tool("attributes__set", **width, value=0.3)["verified"]
    rig.tool("geometry__create_text", text="Hello", name="Sign", depth=0.1)
    rig.tool("geometry__create_curve", points=[[0, 0, 0], [1, 1, 1]], name="Wire", radius=0.1)
    before = {each: rig.tool("geometry__info", name=each) for each in ("Box", "Sign", "Wire")}
    saved = rig.tool("scene__save_file", path=str(rig.folder / "shapes.blend"))["path"]
    rig.tool("scene__open_file", path=saved, discard_changes=True)
    assert {each: rig.tool("geometry__info", name=each) for each in before} == before


def _nodes(realized: bool) -> Any:
    """Return a node group that shows a cube on each point, and only the cubes."""
    import bpy

    group = bpy.data.node_groups.new("Cubes", "GeometryNodeTree")
    group.interface.new_socket("In", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Out", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    into, out, cube, on, real = (
        group.nodes.new(kind)
        for kind in (
            "NodeGroupInput",
            "NodeGroupOutput",
            "GeometryNodeMeshCube",
            "GeometryNodeInstanceOnPoints",
            "GeometryNodeRealizeInstances",
        )
    )
    group.links.new(into.outputs[0], on.inputs["Points"])
    group.links.new(cube.outputs[0], on.inputs["Instance"])
    group.links.new(on.outputs[0], real.inputs[0])
    group.links.new((real if realized else on).outputs[0], out.inputs[0])
    return group


def test_instances_that_nodes_make_are_counted_and_not_erased(rig: Rig) -> None:
    for realized in (False, True):
        obj = rig.cube(f"Many {realized}")
        obj.modifiers.new("Nodes", "NODES").node_group = _nodes(realized)
        shown = {"vertices": 64, "edges": 96, "faces": 48, "triangles": 96}
        assert rig.tool("geometry__info", name=obj.name)["result"] == shown
        for tool in ("geometry__apply", "blender_modelling__apply_modifiers"):
            if not realized:
                assert "instances" in refused(lambda t=tool, n=obj.name: rig.tool(t, name=n))
                assert obj.modifiers.keys() == ["Nodes"]
    rig.tool("geometry__apply", name="Many True")
    assert _counts(obj) == (64, 48)


def test_applying_keeps_what_belongs_to_the_mesh(rig: Rig) -> None:
    import bpy

    for tool in ("geometry__apply", "blender_modelling__apply_modifiers"):
        obj = rig.cube(tool)
        mesh = obj.data
        mesh["note"], mesh.use_fake_user = "keep", True
        mesh.asset_mark()
        mesh.animation_data_create().action = bpy.data.actions.new("Moves")
        obj.modifiers.new("Hair", "PARTICLE_SYSTEM")
        obj.modifiers.new("Hit", "COLLISION")
        off = obj.modifiers.new("Off", "BEVEL")
        off.show_viewport = False
        obj.modifiers.new("Round", "SUBSURF").levels = 1
        rig.tool(tool, name=tool)
        obj = bpy.data.objects[tool]
        assert obj.data == mesh, "the mesh must stay the same datablock"
        assert (mesh["note"], mesh.use_fake_user, mesh.animation_data.action.name[:5]) == (
            "keep",
            True,
            "Moves",
        )
        assert mesh.asset_data is not None
        assert len(obj.particle_systems) == 1
        assert obj.modifiers.keys() == ["Hair", "Hit", "Off"]
        assert _counts(obj) == (26, 24)
        assert "switched on" in refused(lambda t=tool: rig.tool(t, name=t))


def test_applying_refuses_what_the_application_refuses(rig: Rig) -> None:
    import bpy

    rig_object = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig_object)
    for tool in ("geometry__apply", "blender_modelling__apply_modifiers"):
        skin = rig.cube(f"Skin {tool}")
        skin.modifiers.new("Bones", "ARMATURE").object = rig_object
        cut = rig.cube(f"Cut {tool}")
        cut.modifiers.new("Without other", "BOOLEAN")
        for obj, why in ((skin, "armature"), (cut, "disabled")):
            name = obj.name
            refusal = refused(lambda t=tool, n=name: rig.tool(t, name=n))
            assert why in refusal, refusal
            assert len(bpy.data.objects[name].modifiers) == 1


def test_refusals_say_what_is_in_the_way(rig: Rig) -> None:
    import bpy

    bones = bpy.data.objects.new("Bones", bpy.data.armatures.new("Bones"))
    bpy.context.scene.collection.objects.link(bones)
    assert "is an armature" in refused(lambda: rig.tool("geometry__info", name="Bones"))
    rig.cube("Stuck").hide_select = True
    assert "switched selection off" in refused(lambda: rig.tool("scene__select", names=["Stuck"]))


def test_edges_alone_have_nothing_to_shade(rig: Rig) -> None:
    import bpy

    mesh = bpy.data.meshes.new("Wire")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Wire", mesh))
    for smooth in (True, False):
        shade = {"name": "Wire", "smooth": smooth}
        assert "no faces" in refused(lambda shade=shade: rig.tool("geometry__shade", **shade))


def test_faces_that_cleaning_leaves_flat_are_removed_too(rig: Rig) -> None:
    import bpy

    # These lie on one line, and share their edges.
    mesh = bpy.data.meshes.new("Flat")
    mesh.from_pydata(
        [(x, 0, 0) for x in (0, 1, 3, 4, 7)] + [(0, 9, 0)],
        [],
        [(0, 1, 2), (1, 3, 2), (2, 3, 4), (0, 2, 4), (0, 4, 5)],
    )
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Flat", mesh))
    assert rig.tool("geometry__clean", name="Flat", fault="zero_faces")["verified"]
    assert len(bpy.data.objects["Flat"].data.polygons) == 1


def test_the_outside_of_a_shape_that_crosses_itself_is_in_doubt(rig: Rig) -> None:
    rig.cube("Box")
    rig.tool("geometry__inset", name="Box", faces=[4], thickness=5, depth=-0.4)
    done = rig.tool("geometry__normals", name="Box")
    assert done["verified"] is False
    assert "crosses itself" in done["doubt"]


def test_the_outside_of_a_strip_with_one_side_is_in_doubt(rig: Rig) -> None:
    import bpy

    mesh = bpy.data.meshes.new("Strip")
    mesh.from_pydata(
        [(x, x * x, z) for x in range(4) for z in (0, 1)],
        [],
        [(0, 1, 3, 2), (2, 3, 5, 4), (4, 5, 7, 6), (6, 7, 0, 1)],
    )
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Strip", mesh))
    done = rig.tool("geometry__normals", name="Strip")
    assert done["verified"] is False
    assert "opposite sides" in done["doubt"]


def test_detail_counts_faces_of_slots_and_what_shape_keys_move(rig: Rig) -> None:
    import bpy

    face = rig.cube("Face")
    for name in ("Skin", "Spare", "Teeth"):
        face.data.materials.append(bpy.data.materials.new(name))
    face.data.polygons[0].material_index = 2
    face.data.polygons[1].material_index = 9  # Blender shows the last slot.
    for name in ("Basis", "Still", "Smile", "Left", "Idle"):
        face.shape_key_add(name=name)
    keys = face.data.shape_keys.key_blocks
    for name in ("Smile", "Left", "Idle"):
        keys[name].data[0].co.z += 2
        keys[name].data[7].co.x += 1
    keys["Still"].data[3].co.x += 1e-7
    face.vertex_groups.new(name="Half").add([0], 0.5, "REPLACE")
    face.vertex_groups.new(name="Nowhere")
    keys["Left"].vertex_group, keys["Idle"].vertex_group = "Half", "Nowhere"
    told = rig.tool("scene__get_object", name="Face", detail=True)
    slots = {each["material"]: each["faces"] for each in told["slots"]}
    assert slots == {"Skin": len(face.data.polygons) - 2, "Spare": 0, "Teeth": 2}
    moves = told["shape_key_moves"]
    assert list(moves) == ["Still", "Smile", "Left", "Idle"]
    assert moves["Still"] == {"points": 0, "farthest": 0.0, "why": "it moves nothing"}
    assert (moves["Smile"]["points"], round(moves["Smile"]["farthest"], 4)) == (2, 2)
    assert moves["Left"]["vertex_group"] == "Half"
    assert (moves["Left"]["points"], round(moves["Left"]["farthest"], 4)) == (1, 1)
    assert moves["Idle"]["points"] == 0
    assert "no weight in 'Nowhere'" in moves["Idle"]["why"]
    told = rig.tool("scene__get_object", name=rig.cube("Plain").name, detail=True)
    assert told["slots"] == []
    assert "shape_key_moves" not in told

"""Cases with files from other programs. See ``blender_scenes``."""

from __future__ import annotations

import json
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.ground.png import Picture, encode
from callboard.host_kit.exchange_files import gltf_parts
from callboard_testing.checks.objects import close, raised
from hosts.blender_scenes import Rig

SUFFIXES = (".glb", ".gltf", ".fbx", ".obj", ".stl", ".ply", ".abc")
PLAIN = "o Plain\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"


def _emptied(rig: Rig, unit: float = 1.0) -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.unit_settings.scale_length = unit


def _high(rig: Rig) -> float:
    tops = [rig.read.get(name)["bounds"] for name in rig.read.names()]
    return max(box["max"][2] for box in tops if box is not None)


def test_a_scene_in_centimetres_is_as_large_in_one_in_metres(rig: Rig) -> None:
    for suffix in SUFFIXES:
        path = str(rig.folder / f"large{suffix}")
        _emptied(rig, 0.01)
        rig.tool("scene__create_primitive", kind="cube", size=200)
        rig.tool("exchange__export", path=path)
        _emptied(rig, 1.0)
        rig.tool("exchange__import", path=path)
        assert close([_high(rig)], [1.0], 0.01), suffix
        _emptied(rig, 0.01)
        rig.tool("exchange__import", path=path)
        assert close([_high(rig)], [100.0], 0.01), suffix


def test_what_modifiers_make_is_exported(rig: Rig) -> None:
    import bpy

    for suffix in SUFFIXES:
        path = str(rig.folder / f"tall{suffix}")
        _emptied(rig)
        made = rig.tool("scene__create_primitive", kind="cube")["object"]["path"]
        array = bpy.data.objects[made].modifiers.new("Array", "ARRAY")
        array.relative_offset_displace, array.count = (0, 0, 1), 3
        rig.tool("exchange__export", path=path)
        _emptied(rig)
        rig.tool("exchange__import", path=path)
        assert close([_high(rig)], [5.0], 0.01), suffix


def test_motion_is_exported_and_the_timeline_stays(rig: Rig) -> None:
    import bpy

    for suffix in (".glb", ".fbx", ".abc"):
        path = str(rig.folder / f"moving{suffix}")
        _emptied(rig)
        made = rig.tool("scene__create_primitive", kind="cube")["object"]["path"]
        keys = [{"frame": 1, "translate": [0, 0, 0]}, {"frame": 11, "translate": [10, 0, 0]}]
        rig.tool("animation__set_keys", name=made, keys=keys)
        rig.tool("animation__set_timeline", start=1, end=11, current=4)
        rig.tool("exchange__export", path=path)
        assert bpy.context.scene.frame_current == 4
        _emptied(rig)
        shown = bpy.context.scene
        before = (shown.frame_start, shown.frame_end, shown.render.fps, shown.frame_current)
        rig.tool("exchange__import", path=path)
        after = (shown.frame_start, shown.frame_end, shown.render.fps, shown.frame_current)
        assert after == before, suffix
        shown.frame_set(11)
        (name,) = rig.read.names()
        world = bpy.data.objects[name].matrix_world
        assert close([world.translation.x], [10.0], 0.5), suffix


def test_files_that_a_file_names_stay_inside(rig: Rig) -> None:
    root, out = rig.folder / "inside", rig.folder / "outside"
    root.mkdir()
    out.mkdir()
    (out / "secret.bin").write_bytes(bytes(36))
    (out / "secret.mtl").write_text("newmtl Secret\n", encoding="utf-8")
    described = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "../outside/secret%2Ebin", "byteLength": 36}],
    }
    (root / "leads.gltf").write_text(json.dumps(described), encoding="utf-8")
    (root / "leads.obj").write_text(f"mtllib ../outside/secret.mtl\n{PLAIN}", encoding="utf-8")
    (root / "own.mtl").write_text("newmtl A\nmap_Kd -bm 1 ../outside/x.png\n", encoding="utf-8")
    (root / "further.obj").write_text(f"mtllib own.mtl\n{PLAIN}", encoding="utf-8")
    (root / "fine.obj").write_text(PLAIN, encoding="utf-8")
    before = rig.read.names()
    held = may_use.set(lambda path, write: root in Path(path).resolve().parents)
    try:
        for name in ("leads.gltf", "leads.obj", "further.obj"):
            error = raised(HostError, rig.call, "exchange__import", {"path": str(root / name)})
            assert "outside of the workspace" in str(error), name
            assert rig.read.names() == before, name
        rig.tool("exchange__import", path=str(root / "fine.obj"))
    finally:
        may_use.reset(held)


def test_a_picture_of_somebody_else_is_not_replaced(rig: Rig) -> None:
    _emptied(rig)
    source = rig.folder / "paint.png"
    source.write_bytes(encode(Picture(1, 1, bytes((255, 0, 0)))))
    (rig.folder / "plain.obj").write_text(PLAIN, encoding="utf-8")
    (plain,) = rig.tool("exchange__import", path=str(rig.folder / "plain.obj"))["created"]
    (paint,) = rig.tool("materials__create", name="Paint", objects=[plain])["created"]
    rig.tool("materials__set_texture", name=paint, slot="color", path=str(source))
    target = rig.folder / "model"
    target.mkdir()
    path = str(target / "model.obj")
    files = rig.tool("exchange__export", path=path)["files"]
    assert sorted(Path(each).name for each in files) == ["model.mtl", "model.obj", "paint.png"]
    assert "paint.png" in (target / "model.mtl").read_text("utf-8")
    assert str(rig.folder) not in (target / "model.mtl").read_text("utf-8")
    rig.tool("exchange__export", path=path)
    (target / "paint.png").write_bytes(b"another one")
    (target / "model.obj").write_text("kept", encoding="utf-8")
    raised(HostError, rig.call, "exchange__export", {"path": path})
    assert (target / "paint.png").read_bytes() == b"another one"
    assert (target / "model.obj").read_text("utf-8") == "kept"


def test_an_add_on_that_is_off_is_told(rig: Rig) -> None:
    import addon_utils

    _emptied(rig)
    rig.tool("scene__create_primitive", kind="cube")
    path = str(rig.folder / "cube.glb")
    addon_utils.disable("io_scene_gltf2")
    try:
        told = {each["format"]: each for each in rig.tool("exchange__formats")["formats"]}
        assert told["gltf"]["export"] == []
        assert "Preferences" in told["gltf"]["missing"]
        error = raised(HostError, rig.call, "exchange__export", {"path": path})
        assert "Preferences" in str(error)
    finally:
        addon_utils.enable("io_scene_gltf2")
    rig.tool("exchange__export", path=path)
    described, binary = gltf_parts(Path(path).read_bytes(), path)
    assert described["meshes"]
    assert binary


def test_a_gltf_export_leaves_no_notes_on_nodes(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    rig.tool("scene__set_material_color", name="Box", color=[1, 0, 0])
    nodes = bpy.data.objects["Box"].material_slots[0].material.node_tree.nodes
    nodes[0]["used"] = "the artist's"
    rig.tool("exchange__export", path=str(rig.folder / "box.glb"))
    assert [node.name for node in nodes if "used" in node] == [nodes[0].name]
    assert len(nodes) > 1


def test_a_gltf_export_leaves_the_frame(rig: Rig) -> None:
    import bpy

    rig.cube("Still")
    bpy.context.scene.frame_set(2, subframe=0.5)
    rig.tool("exchange__export", path=str(rig.folder / "still.glb"))
    assert bpy.context.scene.frame_float == 2.5


def test_an_export_that_plays_actions_leaves_poses_as_they_were(rig: Rig) -> None:
    import bpy

    cube = rig.cube("Box")
    for frame in (1, 20):
        cube.location.x = frame
        cube.keyframe_insert("location", frame=frame)
    played = cube.animation_data
    played.nla_tracks.new().strips.new("Walk", 1, played.action)
    played.action, played.last_slot_identifier = None, ""
    bpy.context.view_layer.update()  # This plays the strip.
    cube.location = (0.5, 7, 0)
    rig.tool("exchange__export", path=str(rig.folder / "walk.glb"))
    assert [*cube.location] == [0.5, 7, 0]
    assert played.action is None
    assert played.last_slot_identifier == ""


def test_a_curve_without_splines_is_refused_where_blender_would_crash(rig: Rig) -> None:
    import bpy

    data = bpy.data.curves.new("Drawn", "CURVE")
    shown = bpy.context.scene.collection.objects
    inside = bpy.data.collections.new("Inside")
    inside.objects.link(bpy.data.objects.new("Line", data))
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", inside
    shown.link(instance)
    rig.cube("Box")
    files = [str(rig.folder / f"line{suffix}") for suffix in (".abc", ".usda")]
    if "usd" not in rig.host.ports:
        files.pop()
    for file in files:
        why = raised(HostError, rig.port("exchange").export_file, file, None, None)
        assert "'Line'" in str(why)
        rig.tool("exchange__export", path=file, objects=["Box"])
    data.splines.new("BEZIER")
    for file in files:
        rig.tool("exchange__export", path=file)

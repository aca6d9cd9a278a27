"""Cases with pictures, USD files, and scripts that make their own undo steps. See
``blender_scenes``."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _camera(rig: Rig, name: str, y: float) -> Any:
    """Return a camera that looks along Y from the given position."""
    import bpy
    from mathutils import Euler

    camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    camera.location, camera.rotation_euler = (0, y, 0), Euler((1.5707963, 0, 0))
    bpy.context.scene.collection.objects.link(camera)
    return camera


def _lit(color: tuple[float, float, float]) -> None:
    import bpy

    world = bpy.data.worlds.new("World")
    bpy.context.scene.world = world
    if world.node_tree is None:
        world.use_nodes = True
    next(n for n in world.node_tree.nodes if n.type == "BACKGROUND").inputs[0].default_value = (
        *color,
        1,
    )


def _pixels(path: str) -> list[float]:
    import bpy

    image = bpy.data.images.load(path)
    pixels = list(image.pixels)
    bpy.data.images.remove(image)
    return pixels


def simple_settings() -> dict[str, Any]:
    """Return all simple render settings of the scene."""
    import bpy

    render = bpy.context.scene.render
    told: dict[str, Any] = {}
    image = render.image_settings
    for owner in (render, image, image.linear_colorspace_settings, render.ffmpeg):
        for each in owner.bl_rna.properties:
            if each.type in ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"):
                value = getattr(owner, each.identifier)
                told[f"{owner.bl_rna.identifier}.{each.identifier}"] = (
                    list(value) if getattr(each, "is_array", False) else value
                )
    return told


def test_a_camera_bound_to_a_marker_does_not_take_the_turntable(rig: Rig) -> None:
    import bpy

    rig.cube("Box", translate=[0.5, 0, 0])
    rig.tool("scene__set_material_color", name="Box", color=[1, 0, 0])
    _lit((0.2, 0.2, 0.2))
    # A camera that looks away from everything.
    away = _camera(rig, "Away", 500)
    shown = bpy.context.scene
    marker = shown.timeline_markers.new("Cut", frame=shown.frame_current)
    marker.camera = away
    shown.camera = away
    pattern = str(rig.folder / "turn.#.png")
    done = rig.tool("render__turntable", path=pattern, frames=4, width=16, height=16)
    first, second = (_pixels(path) for path in done["paths"][:2])
    assert first != second
    assert max(first[0::4]) > max(first[2::4])
    assert bpy.context.scene.timeline_markers[0].camera == bpy.data.objects["Away"]
    assert bpy.context.scene.camera == bpy.data.objects["Away"]


def test_what_the_artist_writes_stays_set(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    shown = bpy.context.scene
    shown.camera = _camera(rig, "Camera", -8)
    image = shown.render.image_settings
    formats = [("IMAGE", "OPEN_EXR", "RGBA", "16"), ("IMAGE", "TIFF", "RGBA", "16")]
    formats += [("MULTI_LAYER_IMAGE", "OPEN_EXR_MULTILAYER", "RGBA", "32")]
    formats += [("VIDEO", "FFMPEG", "RGB", "8"), ("IMAGE", "PNG", "BW", "16")]
    for media, kind, mode, depth in formats:
        if hasattr(image, "media_type"):
            image.media_type = media
        image.file_format, image.color_mode, image.color_depth = kind, mode, depth
        before = simple_settings()
        rig.tool("render__still", path=str(rig.folder / f"{kind}.png"), width=16, height=16)
        after = simple_settings()
        changed = {key: (before[key], after[key]) for key in before if before[key] != after[key]}
        assert changed == {}, kind


def test_a_picture_leaves_every_output_setting_and_says_what_rendered_it(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    shown = bpy.context.scene
    shown.camera = _camera(rig, "Camera", -8)
    before = simple_settings()
    eevee = shown.render.engine
    rig.tool("viewport__look", camera="Camera", width=32, height=32)
    still = rig.tool("render__still", path=str(rig.folder / "a.png"), width=16, height=16)
    assert simple_settings() == before
    assert still["engine"] == "CYCLES"
    assert still["why_engine"] == f"without a window, Cycles stands in for the scene's {eevee}"
    shown.render.engine = "CYCLES"
    still = rig.tool("render__still", path=str(rig.folder / "b.png"), width=16, height=16)
    assert "why_engine" not in still


def test_the_scene_is_rendered_and_not_its_cut(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    _lit((0, 0, 1))
    shown = bpy.context.scene
    shown.camera = _camera(rig, "Camera", -20)
    editor = shown.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    arguments = {"name": "Red", "type": "COLOR", "channel": 1, "frame_start": 1}
    ending = "length" if bpy.app.version >= (5, 0) else "frame_end"
    strips.new_effect(**arguments, **{ending: 50}).color = (1, 0, 0)
    path = str(rig.folder / "a.png")
    rig.tool("render__still", path=path, width=16, height=16)
    pixels = _pixels(path)
    assert pixels[2] > pixels[0]
    assert shown.render.use_sequencer is True


def test_between_two_frames_it_stays_between_them(rig: Rig) -> None:
    import bpy

    shown = bpy.context.scene
    rig.cube("Box")
    shown.camera = _camera(rig, "Camera", -8)
    shown.frame_set(3, subframe=0.25)
    rig.tool("render__still", path=str(rig.folder / "a.png"), width=16, height=16, frame=7)
    assert (shown.frame_current, shown.frame_subframe) == (3, 0.25)


def test_an_import_below_an_object_leaves_instances(rig: Rig) -> None:
    if "usd" not in rig.host.ports:
        return
    import bpy

    file = rig.folder / "instances.usda"
    file.write_text(
        """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 1
)
def Xform "Proto" {
    def Cube "Shape" {
        double size = 2
    }
}
def Xform "A" (
    instanceable = true
    references = </Proto>
) {
    double3 xformOp:translate = (5, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Xform "B" (
    instanceable = true
    references = </Proto>
) {
    double3 xformOp:translate = (9, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
""",
        encoding="utf-8",
    )
    rig.cube("Above", translate=[100, 0, 0])
    rig.tool("usd__import_usd", path=str(file), parent="Above")
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    places = [
        round(each.matrix_world.translation.x, 3)
        for each in graph.object_instances
        if each.object.type == "MESH" and each.object.name != "Above"
    ]
    assert {105.0, 109.0} <= set(places), places
    assert all(place >= 100 for place in places), places


_SET = """#usda 1.0
(
    upAxis = "Y"
    metersPerUnit = 0.01
    timeCodesPerSecond = 24
    startTimeCode = 1
    endTimeCode = 9
)
def Xform "Set" {
    def Cube "Box" {
        double size = 200
        double3 xformOp:translate = (100, 200, 300)
        float3 xformOp:rotateXYZ = (10, 20, 30)
        float3 xformOp:scale = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
        def Sphere "Ball" {
        }
    }
    def Cube "Runner" {
        double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 9: (800, 0, 0) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Camera "Eye" {
        double3 xformOp:translate = (0, 150, 500)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


def test_what_is_imported_is_there_after_the_next_load(rig: Rig) -> None:
    if "usd" not in rig.host.ports:
        return
    (rig.folder / "set.usda").write_text(_SET, encoding="utf-8")
    rig.cube("Above", translate=[7, 0, 0], rotate=[0, 0, 90])
    kept = rig.read.get("Above")
    answer = rig.tool("usd__import_usd", path=str(rig.folder / "set.usda"), parent="Above")
    assert answer["verified"]
    rig.tool("animation__set_timeline", current=5)
    told = {path: rig.read.get(path) for path in rig.read.names()}
    assert set(answer["created"]) < set(told)
    saved = rig.reopened()
    assert saved.keys() == told.keys()
    for path, there in saved.items():
        for key in ("type", "parent", "children", "visible"):
            assert there[key] == told[path][key], (path, key)
        for key in ("translate", "rotate", "scale"):
            assert near(there[key], told[path][key]), (path, key)
        assert (there["bounds"] is None) is (told[path]["bounds"] is None)
        for corner in there["bounds"] or ():
            assert near(there["bounds"][corner], told[path]["bounds"][corner]), path
    box, runner = saved["Box"]["bounds"], saved["Runner"]["bounds"]
    # In the file, one unit is a meter and Y is up, so everything is rotated by 90 degrees.
    assert near(saved["Above"]["translate"], kept["translate"])
    assert abs((box["min"][2] + box["max"][2]) / 2 - 2) < 1
    assert near([(runner["min"][1] + runner["max"][1]) / 2], [4])


def test_units_and_animation_are_exported(rig: Rig) -> None:
    if "usd" not in rig.host.ports:
        return
    import bpy

    shown = bpy.context.scene
    shown.unit_settings.scale_length = 0.01
    shown.frame_start, shown.frame_end = 1, 5
    rig.cube("Still", translate=[3, 0, 0])
    rig.cube("Mover")
    path = str(rig.folder / "out.usda")
    rig.tool("usd__export_usd", path=path)
    told = rig.tool("usd__read_stage_metadata", path=path)
    assert near([told["meters_per_unit"]], [0.01])
    assert told["start_frame"] is None
    keys = [{"frame": 1, "translate": [0, 0, 0]}, {"frame": 5, "translate": [4, 0, 0]}]
    rig.tool("animation__set_keys", name="Mover", keys=keys)
    shown.frame_set(2, subframe=0.5)
    rig.tool("usd__export_usd", path=path)
    assert (shown.frame_current, shown.frame_subframe) == (2, 0.5)
    told = rig.tool("usd__read_stage_metadata", path=path)
    assert (told["start_frame"], told["end_frame"]) == (1, 5)
    rig.tool("scene__delete", names=rig.read.names())
    created = rig.tool("usd__import_usd", path=path)["created"]
    sizes = []
    for frame, moved in ((1, 0), (5, 4)):
        shown.frame_set(frame)
        box = rig.read.get(next(name for name in created if name.startswith("Mover")))["bounds"]
        sizes.append(box["max"][0] - box["min"][0])
        assert near([(box["max"][0] + box["min"][0]) / 2], [moved])
    assert near(sizes, [2, 2])


def test_an_exported_file_carries_the_artists_properties_and_none_of_ours(rig: Rig) -> None:
    if "usd" not in rig.host.ports:
        return
    import bpy

    rig.cube("Tagged")
    bpy.data.objects["Tagged"].data["shot"] = "sc010"
    path = rig.folder / "tagged.usda"
    rig.tool("usd__export_usd", path=str(path))
    written = path.read_text("utf-8")
    assert "userProperties:shot" in written
    assert "callboard" not in written
    # The object in the scene still has its type.
    assert rig.read.get("Tagged")["type"] == "cube"


def test_what_the_artist_exports_himself_carries_nothing_of_ours(rig: Rig) -> None:
    import addon_utils
    import bpy

    wm, scenes = bpy.ops.wm, bpy.ops.export_scene
    known = {
        ".usda": (wm, "usd_export", {}),
        ".abc": (wm, "alembic_export", {}),
        ".obj": (wm, "obj_export", {}),
        ".ply": (wm, "ply_export", {"export_attributes": True}),
        ".stl": (wm, "stl_export", {}),
        ".fbx": (scenes, "fbx", {"use_custom_props": True}),
        ".gltf": (
            scenes,
            "gltf",
            {"export_extras": True, "export_attributes": True, "export_format": "GLTF_SEPARATE"},
        ),
    }
    rig.cube("Box")
    rig.tool("scene__create_primitive", kind="torus", name="Ring")
    bpy.data.objects["Box"].data["shot"] = "sc010"
    for suffix, (operators, name, options) in known.items():
        if name in ("fbx", "gltf"):
            addon_utils.enable("io_scene_fbx" if name == "fbx" else "io_scene_gltf2")
        file = rig.folder / f"by_hand{suffix}"
        assert getattr(operators, name)(filepath=str(file), **options) == {"FINISHED"}, suffix
        written = _unpacked(file.read_bytes())
        assert b"Box" in written or suffix in (".ply", ".stl"), suffix
        assert (b"shot" in written) == (suffix in (".usda", ".abc", ".fbx", ".gltf")), suffix
        assert b"callboard" not in written.lower(), suffix


def _unpacked(data: bytes) -> bytes:
    """Return the data with its packed parts, such as FBX arrays, unpacked."""
    texts = [data]
    for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        with suppress(zlib.error):
            texts.append(zlib.decompressobj().decompress(data[start.start() :]))
    return b"".join(texts)


_INNER = """
bpy.data.objects["Kept"].location.x = 1
bpy.ops.ed.undo_push(message="inner")
bpy.data.objects["Kept"].location.y = 2
bpy.ops.ed.undo_push(message="inner")
bpy.data.objects["Kept"].location.z = 3
"""


def test_steps_that_a_script_pushes_are_undone_with_it(rig: Rig) -> None:
    import bpy

    rig.cube("Kept")
    texts = len(bpy.data.texts)
    undo = rig.host.undo
    token = undo.begin("failing")
    _run(rig, _INNER)
    assert undo.rollback(token) is True
    assert near(rig.read.get("Kept")["translate"], [0, 0, 0])
    token = undo.begin("working")
    _run(rig, _INNER)
    step = undo.commit(token)
    assert near(rig.read.get("Kept")["translate"], [1, 2, 3])
    assert undo.undo(step) is True
    assert near(rig.read.get("Kept")["translate"], [0, 0, 0])
    assert len(bpy.data.texts) == texts
    assert rig.reopened().keys() == {"Kept"}


def _run(rig: Rig, code: str) -> Any:
    return rig.port("script.execute").execute(code, "python")


def test_a_script_that_undoes_is_not_said_to_be_put_back(rig: Rig) -> None:
    rig.cube("Kept")
    rig.cube("Second")
    undo = rig.host.undo
    token = undo.begin("undoing")
    _run(rig, "bpy.ops.ed.undo()")
    assert undo.rollback(token) is False
    assert rig.read.names() == ["Kept"]
    token = undo.begin("after it")
    rig.edit.create("cube", "Third", {"size": 1})
    step = undo.commit(token)
    assert undo.undo(step) is True
    assert rig.read.names() == ["Kept"]


def test_a_saved_file_keeps_its_mode_and_its_links(rig: Rig) -> None:
    import os
    import stat

    if os.name == "nt":
        return
    rig.cube("Kept")
    real, link = rig.folder / "real.blend", rig.folder / "link.blend"
    rig.tool("scene__save_file", path=str(real))
    real.chmod(0o600)
    link.symlink_to(real.name)
    done = rig.tool("scene__save_file", path=str(link))
    assert done["path"] == str(real.resolve())
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    real.chmod(0o444)
    before = real.read_bytes()
    assert "read-only" in refused(lambda: rig.tool("scene__save_file", path=str(real)))
    assert "read-only" in refused(lambda: rig.tool("scene__save_file"))
    assert real.read_bytes() == before

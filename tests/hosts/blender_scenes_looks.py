"""Cases: what an agent sees of a Blender without a window. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig
from hosts.known_looks import MODES, SIZE, assert_known, make


def _seen(rig: Rig, **asked: Any) -> tuple[Any, bytes]:
    answer = rig.tool("viewport__look", **{**SIZE, **asked})
    block: Any = rig.call.content[-1]
    return answer, block.data


def _scene(rig: Rig) -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True)
    make(rig.call)


def test_each_kind_of_picture_is_as_it_was(rig: Rig) -> None:
    _scene(rig)
    failed = []
    for name, asked in MODES.items():
        if name == "overlays":
            continue  # there are none
        try:
            assert_known(f"headless-{name}", _seen(rig, **asked)[1])
        except AssertionError as different:
            failed.append(str(different))
    assert failed == []


def test_what_changed_since_an_earlier_look_is_as_it_was(rig: Rig) -> None:
    _scene(rig)
    asked = {"shading": "solid", "camera": "Camera"}
    before = _seen(rig, **asked)[0]["id"]
    rig.tool("scene__transform", name="Box", translate=[0, 0, 1.5])
    answer, picture = _seen(rig, **asked, before=before)
    assert 0.01 < answer["compared"]["changed"] < 0.2
    assert_known("headless-before", picture)


def test_what_stands_behind_the_framed_objects_is_seen(rig: Rig) -> None:
    rig.cube("Near")
    asked = {"frame": ["Near"], "angles": ["front"], "shading": "solid"}
    alone = _seen(rig, **asked)[0]["mean"]
    rig.cube("Wall", translate=[0, 60, 0], scale=[60, 1, 60])
    assert _seen(rig, **asked)[0]["mean"] > alone + 0.1


def test_a_look_leaves_the_scene_its_settings_and_its_file(rig: Rig) -> None:
    import bpy

    from hosts.blender_scenes_output import simple_settings

    _scene(rig)
    shown = bpy.context.scene
    shown.frame_set(3)
    bpy.ops.wm.save_as_mainfile(filepath=str(rig.folder / "kept.blend"))
    kept = [
        bpy.data.cameras,
        bpy.data.materials,
        bpy.data.worlds,
        bpy.data.objects,
        bpy.data.images,
    ]

    def state() -> list[Any]:
        layer = bpy.context.view_layer
        view = shown.view_settings
        return [
            simple_settings(),
            [len(each) for each in kept],
            (shown.frame_current, shown.camera, shown.world, layer.material_override),
            (view.view_transform, view.look, shown.cycles.samples, shown.cycles.use_denoising),
            [obj.hide_render for obj in bpy.data.objects],
            rig.read.info(),
        ]

    before = state()
    for shading in ("solid", "wireframe", "xray", "material", "rendered"):
        _seen(rig, shading=shading, angles=["top"], frames=[1, 5])
    assert state() == before


def test_a_camera_that_is_asked_for_is_looked_through(rig: Rig) -> None:
    import bpy

    _scene(rig)
    away = bpy.data.objects.new("Away", bpy.data.cameras.new("Away"))
    away.location = (0, 0, 500)
    away.rotation_euler = (3.14159, 0, 0)
    bpy.context.scene.collection.objects.link(away)
    marker = bpy.context.scene.timeline_markers.new("Cut", frame=1)
    marker.camera = bpy.data.objects["Camera"]
    answer, _ = _seen(rig, camera="Away", shading="solid")
    assert answer["empty"] == 1
    assert _seen(rig, camera="Camera", shading="solid")[0]["empty"] < 0.95
    assert marker.camera.name == "Camera"


def test_a_scene_without_light_says_why_it_is_dark(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    answer, _ = _seen(rig, shading="rendered")
    assert answer["dark"] == 1
    assert "light" in answer["doubt"]
    bpy.context.scene.world = bpy.data.worlds.new("World")
    assert "doubt" not in _seen(rig, shading="rendered")[0]


def test_a_still_is_shown_no_larger_than_asked(rig: Rig) -> None:
    from callboard.hosting.png import png_size

    _scene(rig)
    for name in ("large.png", "large.jpg"):
        path = str(rig.folder / name)
        answer = rig.tool("render__still", path=path, width=1100, height=20)
        assert (answer["width"], answer["engine"], answer["camera"]) == (1100, "CYCLES", "Camera")
        block: Any = rig.call.content[-1]
        assert block.mime_type == ("image/png" if name.endswith("png") else "image/jpeg")
        if name.endswith("png"):
            assert png_size(block.data) == (1024, 19)

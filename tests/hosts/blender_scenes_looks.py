"""Cases with pictures that an agent receives from a headless Blender. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused
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
            continue  # This Blender has no overlays.
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
    from callboard.ground.png import png_size

    _scene(rig)
    for name in ("large.png", "large.jpg"):
        path = str(rig.folder / name)
        answer = rig.tool("render__still", path=path, width=1100, height=20)
        assert (answer["width"], answer["engine"], answer["camera"]) == (1100, "CYCLES", "Camera")
        block: Any = rig.call.content[-1]
        assert block.mime_type == ("image/png" if name.endswith("png") else "image/jpeg")
        if name.endswith("png"):
            assert png_size(block.data) == (1024, 19)


def test_a_point_of_a_picture_is_the_object_that_is_seen_there(rig: Rig) -> None:
    import bpy

    rig.cube("Near")
    rig.cube("Wall", translate=[0, 60, 0], scale=[60, 1, 60])
    asked = {"frame": ["Near"], "angles": ["front"], **SIZE}

    def at(x: float, y: float, **more: Any) -> Any:
        return rig.tool("viewport__pick", x=x, y=y, **{**asked, **more})

    middle = at(0.5, 0.5)
    assert middle["path"] == "Near"
    assert abs(middle["point"][0]) < 0.01
    assert -1.01 < middle["point"][1] < -0.4
    assert at(0.02, 0.5)["path"] == "Wall"
    bpy.data.objects["Near"].hide_render = True
    assert at(0.5, 0.5)["path"] == "Wall"
    rig.tool("scene__delete", names=["Near", "Wall"])
    rig.cube("Left", translate=[-3, 0, 0])
    rig.cube("High", translate=[0, 0, 3])
    camera = rig.tool("cameras__create", name="Eye")["camera"]["path"]
    rig.tool("scene__transform", name=camera, translate=[0, -20, 0], rotate=[90, 0, 0])
    eye = {"camera": camera, "width": 192, "height": 192}
    for kind in ("PERSP", "ORTHO"):
        data = bpy.data.objects[camera].data
        data.type, data.ortho_scale, data.lens, data.sensor_width = kind, 10, 72, 36
        paths = [
            rig.tool("viewport__pick", x=x, y=y, **eye)["path"]
            for x, y in ((0.2, 0.5), (0.5, 0.2), (0.5, 0.5), (0.8, 0.5))
        ]
        assert paths == ["Left", "High", None, None], kind


def test_an_environment_of_one_color_has_nothing_to_turn(rig: Rig) -> None:
    for given in ({"rotate": 30}, {"color": [1, 0, 0], "rotate": 30}):
        why = refused(lambda given=given: rig.tool("lights__set_environment", **given))
        assert "leave rotate out" in why
    turned = rig.tool("lights__set_environment", sun_elevation=20, rotate=30)
    assert round(turned["environment"]["rotate"]) == 30


def test_an_artists_environment_is_turned_whatever_places_its_picture(rig: Rig) -> None:
    import bpy

    world = bpy.context.scene.world = bpy.data.worlds.new("Artist's")
    world.use_nodes = True
    tree = world.node_tree
    picture = tree.nodes.new("ShaderNodeTexEnvironment")
    picture.image = bpy.data.images.new("Sky", 4, 4)
    tree.links.new(picture.outputs["Color"], tree.nodes["Background"].inputs["Color"])
    turned = rig.tool("lights__set_environment", rotate=40)
    assert round(turned["environment"]["rotate"]) == 40
    mapping = bpy.context.scene.world.node_tree.nodes["Mapping"]
    driver = mapping.id_data.nodes.new("ShaderNodeCombineXYZ")
    mapping.id_data.links.new(driver.outputs["Vector"], mapping.inputs["Rotation"])
    assert rig.tool("lights__list")["environment"]["rotate"] is None
    turned = rig.tool("lights__set_environment", rotate=50)
    assert round(turned["environment"]["rotate"]) == 50
    rig.tool("lights__set_environment", strength=2)
    assert not picture.inputs["Vector"].is_linked, "the artist's own world was changed"


def test_a_focused_camera_tells_the_distance_to_its_object(rig: Rig) -> None:
    import bpy

    camera = rig.tool("cameras__create", name="Eye")["camera"]["path"]
    rig.tool("scene__transform", name=camera, translate=[0, -10, 0], rotate=[90, 0, 0])
    bpy.data.objects[camera].data.dof.focus_object = rig.cube("Box", translate=[3, 0, 0])
    set = rig.tool("cameras__set", name=camera, lens=50)
    assert set["verified"]
    assert round(set["camera"]["focus_distance"], 4) == 10
    assert rig.tool("cameras__set", name=camera, focus_distance=4)["camera"]["focus_distance"] == 4


def test_a_stronger_glow_keeps_its_picture(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    picture = bpy.data.images.new("Glow", 4, 4)
    picture.filepath_raw, picture.file_format = str(rig.folder / "glow.png"), "PNG"
    picture.save()
    made = rig.tool("materials__create", name="Lit", objects=["Box"])["material"]["path"]
    rig.tool("materials__set_texture", name=made, slot="emission", path=picture.filepath_raw)
    glowing = rig.tool("materials__set", name=made, emission_strength=3)["material"]
    assert glowing["emission_strength"] == 3
    assert glowing["textures"]["emission"]["path"] == picture.filepath_raw


def test_objects_that_share_a_mesh_keep_their_own_materials(rig: Rig) -> None:
    import bpy

    rig.cube("Crate")
    twin = bpy.data.objects.new("Twin", bpy.data.objects["Crate"].data)
    bpy.context.scene.collection.objects.link(twin)
    for name, material in (("Crate", "Oak"), ("Twin", "Pine")):
        rig.tool("materials__create", name=material)
        rig.tool("materials__assign", name=material, objects=[name])
    assert list(rig.port("materials").assigned("Crate")) == ["Oak"]
    assert list(rig.port("materials").assigned("Twin")) == ["Pine"]


def test_a_drawing_of_strokes_is_refused_a_surface(rig: Rig) -> None:
    import bpy

    kinds = "grease_pencils_v3" if hasattr(bpy.data, "grease_pencils_v3") else "grease_pencils"
    drawing = bpy.data.objects.new("Drawing", getattr(bpy.data, kinds).new("Drawing"))
    bpy.context.scene.collection.objects.link(drawing)
    rig.tool("materials__create", name="Oak")
    told = refused(lambda: rig.tool("materials__assign", name="Oak", objects=["Drawing"]))
    assert "can't have materials" in told
    told = refused(lambda: rig.tool("scene__set_material_color", name="Drawing", color=[1, 0, 0]))
    assert "no color" in told
    assert not bpy.data.objects["Drawing"].material_slots

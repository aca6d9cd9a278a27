"""Cases with several scenes in one file: showing another one, and setting how each renders. See
``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, refused


def _three_scenes(rig: Rig) -> None:
    """Make the scenes Main, Turntable and Lookdev, each with a light named after it."""
    import bpy

    bpy.context.scene.name = "Main"
    for name in ("Main", "Turntable", "Lookdev"):
        scene = bpy.data.scenes.get(name) or bpy.data.scenes.new(name)
        lamp = bpy.data.objects.new(f"{name}Lamp", bpy.data.lights.new(name, "POINT"))
        scene.collection.objects.link(lamp)


def _shown(rig: Rig) -> Any:
    return rig.tool("scene__scene_info")["scene"]


def test_another_scene_is_shown_and_an_undo_shows_the_first_again(rig: Rig) -> None:
    _three_scenes(rig)
    told = rig.tool("blender_data__show_scene", name="Turntable")
    assert told == {"scene": "Turntable", "before": "Main", "objects": 1, "verified": True}
    assert [each["name"] for each in rig.tool("lights__list")["lights"]] == ["TurntableLamp"]
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert _shown(rig) == "Main"
    assert rig.host.undo.redo(rig.call.undo_id) is True
    assert _shown(rig) == "Turntable"
    assert "Lookdev" in refused(lambda: rig.tool("blender_data__show_scene", name="Look"))


def test_an_object_of_another_scene_is_said_to_be_there(rig: Rig) -> None:
    _three_scenes(rig)
    why = refused(lambda: rig.tool("scene__get_object", name="TurntableLamp"))
    assert "'TurntableLamp' isn't in the scene 'Main', but in 'Turntable'" in why
    assert "blender_data__show_scene" in why
    why = refused(lambda: rig.tool("scene__get_object", name="Lookdev"))
    assert "is a scene" in why
    assert "no object named" in refused(lambda: rig.tool("scene__get_object", name="Nobody"))


def test_the_way_to_other_scenes_is_named_if_there_are_any(rig: Rig) -> None:
    assert "other_scenes" not in rig.tool("scene__scene_info")
    assert "to_show_another" not in rig.tool("file__overview")["shown"]
    _three_scenes(rig)
    info = rig.tool("scene__scene_info")
    assert info["other_scenes"] == ["Lookdev", "Turntable"]
    assert info["to_show_another"] == "blender_data__show_scene"
    assert rig.tool("file__overview")["shown"]["to_show_another"] == "blender_data__show_scene"


def test_each_scene_has_its_own_output_and_resolution(rig: Rig) -> None:
    import bpy

    _three_scenes(rig)
    rig.tool("scene__save_file", path=str(rig.folder / "shot.blend"))
    for name in ("Main", "Turntable", "Lookdev"):
        rig.tool("blender_data__show_scene", name=name)
        rig.tool("cameras__set_resolution", width=1920, height=1080)
        rig.tool("animation__set_timeline", fps=24)
        told = rig.tool("blender_data__set_output", path=str(rig.folder / "render" / f"{name}_"))
        assert told == {"scene": name, "path": f"//render/{name}_", "verified": True}
    for scene in bpy.data.scenes:
        render = scene.render
        assert (render.resolution_x, render.resolution_y, render.fps) == (1920, 1080, 24)
        assert render.filepath == f"//render/{scene.name}_"
    elsewhere = str(rig.folder.parent / "other_")
    assert rig.tool("blender_data__set_output", path=elsewhere)["path"] == elsewhere
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.context.scene.render.filepath == "//render/Lookdev_"


def test_objects_of_other_scenes_count_as_users_of_a_material(rig: Rig) -> None:
    import bpy

    from callboard.errors import WrongArgument

    _three_scenes(rig)
    rig.cube("Crate")
    rig.tool("materials__create", name="Paint", objects=["Crate"], color=[1, 0, 0])
    far = bpy.data.objects.new("Far", bpy.data.objects["Crate"].data)
    bpy.data.scenes["Lookdev"].collection.objects.link(far)
    told = rig.tool("materials__get", name="Paint")
    assert told["users"] == ["Crate", "Far"]
    paint = {"name": "Paint", "color": [0, 1, 0]}
    try:
        why = str(rig.tool("materials__set", **paint))
    except WrongArgument as error:
        why = str(error)
    assert "is on 2 objects: Crate, Far" in why
    told = rig.tool("materials__set", **paint, shared=True)
    assert told["material"]["users"] == ["Crate", "Far"]


def test_a_new_path_below_the_file_is_kept_relative(rig: Rig) -> None:
    import bpy

    # Saving would make the paths relative.
    rig.tool("scene__save_file", path=str(rig.folder / "shot.blend"))
    for name in ("brick", "wood"):
        picture = bpy.data.images.new(name, 1, 1)
        picture.source, picture.filepath = "FILE", f"/gone/{name}.png"
    here = str(rig.folder / "tex" / "brick.png")
    told = rig.tool("blender_data__set_file", path="/gone/brick.png", new_path=here)
    assert told["path"] == bpy.data.images["brick"].filepath == "//tex/brick.png"
    elsewhere = str(rig.folder.parent / "wood.png")
    told = rig.tool("blender_data__set_file", path="/gone/wood.png", new_path=elsewhere)
    assert told["path"] == elsewhere

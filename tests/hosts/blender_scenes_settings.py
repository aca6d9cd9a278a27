"""Cases in which the settings of scenes are read and set: how each renders, its view layers, and
its units. See ``blender_scenes``."""

from __future__ import annotations

from typing import Any

from hosts.blender_scenes import Rig, near, refused


def _scenes(*names: str) -> None:
    import bpy

    bpy.context.scene.name = names[0]
    for name in names[1:]:
        bpy.data.scenes.new(name)


def _eevee() -> str:
    """Return what this Blender calls EEVEE."""
    import bpy

    return str(bpy.data.scenes.new("New").render.engine)


def test_how_a_scene_renders_is_set_and_read(rig: Rig) -> None:
    import bpy

    _scenes("Main", "Other")
    wanted = {
        "engine": "CYCLES",
        "samples": 64,
        "viewport_samples": 8,
        "denoise": False,
        "resolution_percentage": 150,
        "film_transparent": True,
        "file_format": "OPEN_EXR",
        "color_mode": "RGBA",
        "color_depth": "16",
        "exr_codec": "ZIPS",
        "view_transform": "Standard",
        "exposure": 1.5,
        "frame_step": 2,
    }
    told = rig.tool("blender_settings__set_render", **wanted)
    scene = bpy.data.scenes["Main"]
    assert told["changed"] == ["Main"]
    assert told["others"] == ["Other"]
    assert {**told["scenes"][0], "also": ""} == {"scene": "Main", **wanted, "also": ""}
    assert (scene.render.engine, scene.cycles.samples, scene.frame_step) == ("CYCLES", 64, 2)
    assert scene.render.image_settings.color_depth == "16"
    (read,) = rig.tool("blender_settings__get", scenes=["Main"])["scenes"]
    assert wanted.items() <= read.items()
    assert read["device"] == "cpu"
    assert bpy.data.scenes["Other"].render.film_transparent is False
    assert rig.host.undo.undo(rig.call.undo_id) is True
    (read,) = rig.tool("blender_settings__get", scenes=["Main"])["scenes"]
    assert (read["engine"], read["film_transparent"], read["frame_step"]) == (_eevee(), False, 1)


def test_samples_belong_to_the_scene_s_engine_and_all_scenes_are_set_at_once(rig: Rig) -> None:
    import bpy

    _scenes("Main", "Other")
    bpy.data.scenes["Other"].render.engine = "CYCLES"
    told = rig.tool("blender_settings__set_render", scenes=["*"], samples=32, viewport_samples=4)
    assert told["changed"] == ["Main", "Other"]
    main, other = bpy.data.scenes["Main"], bpy.data.scenes["Other"]
    assert (main.eevee.taa_render_samples, other.cycles.samples) == (32, 32)
    assert (main.eevee.taa_samples, other.cycles.preview_samples) == (4, 4)
    why = refused(lambda: rig.tool("blender_settings__set_render", scenes=["*"], denoise=True))
    assert f"'Main' renders with {_eevee()}, which has no denoise" in why
    assert "samples, viewport_samples" in why
    why = refused(
        lambda: rig.tool("blender_settings__set_render", engine="BLENDER_WORKBENCH", samples=4)
    )
    assert "no samples" in why
    assert bpy.data.scenes["Main"].render.engine == _eevee()


def test_what_this_blender_doesn_t_have_is_refused_with_its_choices(rig: Rig) -> None:
    import bpy

    def why(**wanted: Any) -> str:
        return refused(lambda: rig.tool("blender_settings__set_render", **wanted))

    assert "BLENDER_WORKBENCH, CYCLES" in why(engine="ARNOLD")
    assert "it can be: 8, 16" in why(file_format="PNG", color_depth="32")
    assert "it can be: BW, RGB" in why(file_format="JPEG", color_mode="RGBA")
    assert "Standard" in why(view_transform="ACES")
    assert bpy.context.scene.render.image_settings.file_format == "PNG"
    told = rig.tool("blender_settings__set_render", file_format="JPEG")
    assert told["scenes"][0]["also"] == {"color_mode": "RGB"}
    (read,) = rig.tool("blender_settings__get", choices=True)["scenes"]
    assert read["choices"]["color_mode"] == ["BW", "RGB"]
    assert "OPEN_EXR_MULTILAYER" in read["choices"]["file_format"]
    assert "mist" in read["choices"]["passes"]
    contrast = read["choices"]["look"][-1]
    rig.tool("blender_settings__set_render", look=contrast)
    assert bpy.context.scene.view_settings.look == contrast
    told = rig.tool("blender_settings__set_render", view_transform="Raw")
    assert bpy.context.scene.view_settings.view_transform == "Raw"


def test_a_view_layer_is_switched_off_and_its_passes_are_set(rig: Rig) -> None:
    import bpy

    _scenes("Main", "Other")
    scene = bpy.data.scenes["Other"]
    scene.view_layers[0].name = "Beauty"
    scene.view_layers.new("Masks")
    asked = {"scene": "Other", "view_layer": "Masks"}
    told = rig.tool(
        "blender_settings__set_view_layer", **asked, use=False, passes={"mist": True, "z": True}
    )
    assert told["view_layer"]["use"] is False
    assert {"mist", "z"} <= set(told["view_layer"]["passes"])
    assert told["others"] == ["Beauty"]
    assert scene.view_layers["Masks"].use_pass_mist is True
    assert scene.view_layers["Beauty"].use_pass_mist is False
    why = refused(lambda: rig.tool("blender_settings__set_view_layer", scene="Other", use=True))
    assert "'Other' has: Beauty, Masks" in why
    sampled = {"debug_sample_count": True}
    why = refused(lambda: rig.tool("blender_settings__set_view_layer", **asked, passes=sampled))
    assert "has no pass 'debug_sample_count'" in why
    rig.tool("blender_settings__set_render", scenes=["Other"], engine="CYCLES")
    rig.tool("blender_settings__set_view_layer", **asked, passes=sampled)
    told = rig.tool("blender_settings__get", scenes=["Other"])["scenes"][0]["view_layers"]
    assert {each["name"]: each["use"] for each in told} == {"Beauty": True, "Masks": False}
    assert "debug_sample_count" in told[1]["passes"]


def test_what_a_view_layer_overrides_is_read(rig: Rig) -> None:
    import bpy

    def told() -> list[Any]:
        (layer,) = rig.tool("blender_settings__get")["scenes"][0]["view_layers"]
        return [layer[f"{each}_override"] for each in ("material", "world", "samples")]

    assert told() == [None, None, None]
    layer = bpy.context.view_layer
    layer.material_override = bpy.data.materials.new("Clay")
    layer.samples = 16
    wanted = ["Clay", None, 16]
    if hasattr(layer, "world_override"):
        layer.world_override = bpy.data.worlds.new("Studio")
        wanted[1] = "Studio"
    assert told() == wanted


def test_units_are_set_without_scaling_anything(rig: Rig) -> None:
    import bpy

    rig.cube("Box")
    told = rig.tool("blender_settings__set_units", length_unit="CENTIMETERS", scale_length=0.01)
    assert "Objects keep their coordinates" in told["note"]
    units = bpy.context.scene.unit_settings
    assert units.length_unit == "CENTIMETERS"
    assert near([units.scale_length], [0.01])
    assert list(bpy.data.objects["Box"].scale) == [1, 1, 1]
    why = refused(lambda: rig.tool("blender_settings__set_units", length_unit="FEET"))
    assert "METERS" in why
    told = rig.tool("blender_settings__set_units", system="IMPERIAL", length_unit="FEET")
    assert told["scenes"][0]["length_unit"] == "FEET"
    assert rig.host.undo.undo(rig.call.undo_id) is True
    assert bpy.context.scene.unit_settings.system == "METRIC"

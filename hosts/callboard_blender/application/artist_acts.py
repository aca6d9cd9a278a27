"""Actions that the self-test performs as the artist would, in Blender's window."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import bpy

from callboard_blender.application.main_thread import window_is_gone
from callboard_blender.application.views import in_a_window

#: The menus in which the adapter selects an entry, by type. Some of them are missing in some
#: versions of Blender.
_MENUS = {
    "AreaLight": "shape",
    "BevelModifier": "limit_method",
    "BooleanModifier": "operation operand_type solver",
    "Camera": "type sensor_fit",
    "Curve": "dimensions twist_mode",
    "FCurve": "extrapolation",
    "ImageFormatSettings": "media_type file_format color_mode color_depth",
    "Keyframe": "interpolation",
    "Modifier": "type",
    "Light": "type",
    "RenderSettings": "engine",
    "SubsurfModifier": "subdivision_type",
    "TextCurve": "align_x",
    "View3DShading": "type light color_type",
}
#: Number of samples for rendering a plain gray picture.
_SAMPLES = 8


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them."""
    return {
        "undo": _undo,
        "play": _play,
        "dialog": _dialog,
        "renderers": _renderers,
        "use_renderer": _use_renderer,
        "menus": _menus,
        "toolkit": _toolkit,
    }


def _undo() -> None:
    with in_a_window():
        bpy.ops.ed.undo()


def _play(seconds: float) -> None:
    def end() -> None:
        for window in bpy.context.window_manager.windows:
            if window.screen.is_animation_playing:
                with bpy.context.temp_override(window=window):
                    bpy.ops.screen.animation_cancel(restore_frame=True)

    with in_a_window():
        bpy.ops.screen.animation_play()
    _later(end, seconds)


def _dialog(title: str, seconds: float) -> None:
    """Open a pop-up. It blocks changes, as a dialog does in other applications."""

    def draw(menu: Any, context: Any) -> None:
        menu.layout.label(text="This closes by itself")

    def end() -> None:
        for window in bpy.context.window_manager.windows:
            window.screen = window.screen  # This closes the window's pop-ups.

    with in_a_window():
        bpy.context.window_manager.popup_menu(draw, title=title)
    _later(end, seconds)


def _later(act: Callable[[], None], seconds: float) -> None:
    def once() -> float | None:
        if window_is_gone():
            return 0.1
        act()
        return None

    bpy.app.timers.register(once, first_interval=seconds)


def _renderers() -> list[str]:
    """Return the names of this Blender's render engines. Blender lists them only in its error
    message about an unknown engine."""
    try:
        bpy.context.scene.render.engine = "callboard"
    except TypeError as error:
        engines = re.findall(r"'([A-Z][A-Z0-9_]*)'", str(error))
        # Without a graphics card, Eevee in Blender 4.2 and later may take minutes, so it is tested
        # last.
        return sorted(engines, key=lambda engine: "EEVEE" in engine)
    return []


def _use_renderer(name: str) -> None:
    scene = bpy.context.scene
    scene.render.engine = name
    scene.eevee.taa_render_samples = _SAMPLES
    if name == "CYCLES":
        scene.cycles.samples, scene.cycles.use_denoising = _SAMPLES, False


def _menus() -> dict[str, dict[str, list[str]]]:
    menus = {}
    for name, properties in _MENUS.items():
        known = getattr(bpy.types, name).bl_rna.properties
        menus[name] = {
            each: [item.identifier for item in known[each].enum_items]
            for each in properties.split()
            if each in known
        }
    return menus


def _toolkit() -> str:
    import gpu  # type: ignore[import-not-found,unused-ignore]

    return f"Blender, on {gpu.platform.renderer_get()} ({gpu.platform.version_get()})"

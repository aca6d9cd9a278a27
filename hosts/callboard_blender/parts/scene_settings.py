"""The settings of scenes: how each renders, what its view layers render, and its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, scene, view_layer
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.property_values import choices

#: The settings that every scene has, by name. Each limits the choices of those after it.
_RENDER = {
    "engine": "render.engine",
    "resolution_percentage": "render.resolution_percentage",
    "film_transparent": "render.film_transparent",
    "frame_step": "frame_step",
    "file_format": "render.image_settings.file_format",
    "color_mode": "render.image_settings.color_mode",
    "color_depth": "render.image_settings.color_depth",
    "compression": "render.image_settings.compression",
    "quality": "render.image_settings.quality",
    "exr_codec": "render.image_settings.exr_codec",
    "view_transform": "view_settings.view_transform",
    "look": "view_settings.look",
    "exposure": "view_settings.exposure",
    "gamma": "view_settings.gamma",
}
#: The settings that depend on the engine, by name and then by engine.
_OF_ENGINE = {
    "samples": {"CYCLES": "cycles.samples", "EEVEE": "eevee.taa_render_samples"},
    "viewport_samples": {"CYCLES": "cycles.preview_samples", "EEVEE": "eevee.taa_samples"},
    "denoise": {"CYCLES": "cycles.use_denoising"},
    "denoiser": {"CYCLES": "cycles.denoiser"},
    "viewport_denoise": {"CYCLES": "cycles.use_preview_denoising"},
    "viewport_denoiser": {"CYCLES": "cycles.preview_denoiser"},
}
_UNITS = {
    "system": "unit_settings.system",
    "length_unit": "unit_settings.length_unit",
    "scale_length": "unit_settings.scale_length",
}
#: The media types of Blender 5, of the formats that aren't for pictures with one layer.
_MEDIA = {"FFMPEG": "VIDEO", "OPEN_EXR_MULTILAYER": "MULTI_LAYER_IMAGE"}


class SceneSettings:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def scenes(self, names: Sequence[str]) -> list[bpy.types.Scene]:
        """Return the scenes with these names or patterns, or the shown scene if there are none."""
        named = [each for name in names for each in self._blocks.matching("scenes", name)]
        return list(dict.fromkeys(named)) if names else [scene()]

    def set(self, names: Sequence[str], wanted: Mapping[str, Any]) -> list[Json]:
        """Set the values in these scenes. Return ``{scene, …, also?}`` for each scene, with the
        values as they are now. ``also`` has the settings that Blender changed with them."""
        chosen = self._own(names)
        self._changes.touch()
        answers = []
        for each in chosen:
            before = values_of(each)
            for name in sorted(wanted, key=list({**_UNITS, **_RENDER, **_OF_ENGINE}).index):
                _set(each, name, wanted[name])
            now = values_of(each)
            also = {
                key: now[key] for key in now if key not in wanted and before.get(key) != now[key]
            }
            told = {"scene": each.name_full, **{name: now[name] for name in wanted}}
            answers.append({**told, "also": also} if also else told)
        self._changed()
        return answers

    def set_view_layer(
        self,
        name: str | None,
        layer: str | None,
        use: bool | None,
        passes: Mapping[str, bool],
    ) -> tuple[str, Json]:
        """Set whether a view layer is rendered, and which passes. Return the scene's name and the
        view layer as :func:`layer_json` describes it."""
        (shown,) = self._own([name] if name else [])
        layers = shown.view_layers
        if (layer or "") not in layers and (layer or len(layers) > 1):
            raise HostError(f"give view_layer; '{shown.name}' has: {', '.join(layers.keys())}")
        chosen = layers[layer] if layer is not None else layers[0]
        known = passes_of(shown, chosen)
        if unknown := [each for each in passes if each not in known]:
            raise HostError(
                f"{shown.render.engine} has no pass '{unknown[0]}'; it has: {', '.join(known)}"
            )
        self._changes.touch()
        if use is not None:
            chosen.use = use
        for each, on in passes.items():
            setattr(*known[each], on)
        self._changed()
        return str(shown.name_full), layer_json(shown, chosen)

    def _own(self, names: Sequence[str]) -> list[bpy.types.Scene]:
        chosen = self.scenes(names)
        for each in chosen:
            if each.library is not None:
                raise HostError(f"'{each.name_full}' is linked from another file; set it there")
        return chosen

    def _changed(self) -> None:
        view_layer().update()
        forget()


def scene_json(each: Any, with_choices: bool) -> Json:
    """Return the settings of a scene, and on demand the ``choices`` of those that have some."""
    render = each.render
    told = {
        "scene": each.name_full,
        **values_of(each),
        **({"device": each.cycles.device.lower()} if render.engine == "CYCLES" else {}),
        "resolution": [render.resolution_x, render.resolution_y],
        "frame_range": [each.frame_start, each.frame_end],
        "output": render.filepath,
        "display": each.display_settings.display_device,
        "view_layers": [layer_json(each, layer) for layer in each.view_layers],
    }
    if not with_choices:
        return told
    places = {name: _place(each, name) for name in values_of(each)}
    words = {
        name: _choices(*place)
        for name, place in places.items()
        if place is not None and place[0].bl_rna.properties[place[1]].type == "ENUM"
    }
    passes = [*passes_of(each, each.view_layers[0])]
    return {**told, "choices": {**words, "passes": passes}}


def values_of(each: Any) -> Json:
    """Return every setting that the scene has, by name. One that has no choices is None."""
    places = {name: _place(each, name) for name in (*_RENDER, *_OF_ENGINE, *_UNITS)}
    return {name: _value(*place) for name, place in places.items() if place is not None}


def layer_json(shown: Any, layer: Any) -> Json:
    """Return ``{name, use, passes, …}``. ``passes`` are those that are on. The others replace the
    materials, the world and the samples in this view layer, or are None."""
    on = [name for name, place in passes_of(shown, layer).items() if getattr(*place)]
    world = getattr(layer, "world_override", None)  # Blender 3.4 has none.
    return {
        "name": layer.name,
        "use": layer.use,
        "passes": on,
        "material_override": layer.material_override and layer.material_override.name_full,
        "world_override": world and world.name_full,
        "samples_override": layer.samples or None,
    }


def passes_of(shown: Any, layer: Any) -> dict[str, tuple[Any, str]]:
    """Return where the passes of the scene's engine are switched on, by name."""
    inside = getattr(layer, _kind(shown).lower(), None)
    return {
        prop.identifier.removeprefix("use_").removeprefix("pass_"): (owner, prop.identifier)
        for owner in (layer, inside)
        if owner is not None
        for prop in owner.bl_rna.properties
        if prop.type == "BOOLEAN" and prop.identifier.startswith(("use_pass_", "pass_"))
    }


def _kind(shown: Any) -> str:
    # Blender 4.2 to 4.5 call EEVEE something else.
    engine = str(shown.render.engine)
    return "EEVEE" if "EEVEE" in engine else engine


def _place(shown: Any, name: str) -> tuple[Any, str] | None:
    """Return the owner of the setting, and its property's name. It is None if the scene's engine
    has no such setting."""
    path = {**_RENDER, **_UNITS}.get(name) or _OF_ENGINE[name].get(_kind(shown))
    if path is None:
        return None
    *steps, key = path.split(".")
    return reduce(getattr, steps, shown), key


def _value(owner: Any, key: str) -> Any:
    if owner.bl_rna.properties[key].type == "ENUM" and not _choices(owner, key):
        return None
    return getattr(owner, key)


def _choices(owner: Any, key: str) -> list[str]:
    if key == "file_format" and hasattr(owner, "media_type"):
        # Blender 5 offers only those of the present media type.
        return [each.identifier for each in owner.bl_rna.properties[key].enum_items_static]
    return choices(owner, key)


def _set(shown: Any, name: str, value: Any) -> None:
    place = _place(shown, name)
    if place is None:
        has = ", ".join(each for each, of in _OF_ENGINE.items() if _kind(shown) in of) or "none"
        raise HostError(
            f"'{shown.name}' renders with {shown.render.engine}, which has no {name}; of such"
            f" settings it has: {has}"
        )
    owner, key = place
    if owner.bl_rna.properties[key].type == "ENUM":
        known = _choices(owner, key)
        if value not in known:
            raise HostError(
                f"{name} of '{shown.name}' can't be '{value}' here; "
                + (f"it can be: {', '.join(known)}" if known else "this Blender has none")
            )
    if key == "file_format" and hasattr(owner, "media_type"):
        owner.media_type = _MEDIA.get(value, "IMAGE")
    try:
        setattr(owner, key, value)
    except (TypeError, ValueError) as error:
        raise HostError(f"Blender can't set {name} of '{shown.name}': {error}") from None

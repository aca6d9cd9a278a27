"""The tools of the ``blender-settings`` skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import alike, expect
from callboard_blender.parts.scene_settings import scene_json

_NOTE = (
    "scale_length says how long one of Blender's units is. Objects keep their coordinates, so that"
    " they are now of another length in meters; scale them if they should keep it."
)


def get(ctx: Any, scenes: Sequence[str] = ("*",), choices: bool = False) -> Json:
    chosen = ctx.port("structure").settings.scenes(scenes)
    return {"scenes": [scene_json(each, choices) for each in chosen]}


def set_render(ctx: Any, scenes: Sequence[str] = (), **wanted: Any) -> Json:
    return _set(ctx, scenes, wanted)


def set_units(ctx: Any, scenes: Sequence[str] = (), **wanted: Any) -> Json:
    answer = _set(ctx, scenes, wanted)
    return {**answer, "note": _NOTE} if "scale_length" in wanted else answer


def set_view_layer(
    ctx: Any,
    scene: str | None = None,
    view_layer: str | None = None,
    use: bool | None = None,
    passes: Mapping[str, bool] | None = None,
) -> Json:
    ctx.port("scene.mutate")
    if use is None and passes is None:
        raise WrongArgument("give use, passes or both")
    settings = ctx.port("structure").settings
    name, told = settings.set_view_layer(scene, view_layer, use, passes or {})
    expect(use in (None, told["use"]), "use", use, told["use"])
    for each, on in (passes or {}).items():
        expect((each in told["passes"]) is on, each, on, not on)
    answer: Json = {"changed": [name], "scene": name, "view_layer": told, "verified": True}
    others = [
        each.name for each in settings.scenes([name])[0].view_layers if each.name != told["name"]
    ]
    return {**answer, "others": others} if others else answer


def _set(ctx: Any, scenes: Sequence[str], wanted: Mapping[str, Any]) -> Json:
    ctx.port("scene.mutate")
    if not wanted:
        raise WrongArgument("give at least one setting")
    told = ctx.port("structure").settings.set(scenes, wanted)
    for each in told:
        for name, asked in wanted.items():
            number = isinstance(asked, float)
            right = alike(asked, each[name]) if number else asked == each[name]
            expect(right, f"{name} of '{each['scene']}'", asked, each[name])
    changed = [each["scene"] for each in told]
    others = [each.name_full for each in bpy.data.scenes if each.name_full not in changed]
    answer: Json = {"changed": changed, "scenes": told, "verified": True}
    return {**answer, "others": others} if others else answer

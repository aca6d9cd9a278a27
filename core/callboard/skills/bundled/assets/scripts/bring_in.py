"""Imports an asset as one undo step, and checks the result. Runs on the main thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import (
    Texture,
    assign_material,
    import_checked,
    new_material,
    put_texture,
    space_of,
    surround,
)

from ._asset import Asset
from ._folder import asset, library

#: The slots that each map drives, and the channel of the map for each slot: in an ARM map, green is
#: roughness and blue is metalness.
_SLOTS = {
    "color": (("color", None),),
    "arm": (("roughness", "g"), ("metalness", "b")),
    "roughness": (("roughness", "r"),),
    "metalness": (("metalness", "r"),),
    "normal": (("normal", None),),
    "opacity": (("opacity", "r"),),
    "emission": (("emission", None),),
}
_WHY_NOT = {
    "normal_dx": "it is made for DirectX, whose green points the other way",
    "ao": "no slot takes it; renderers compute it",
    "displacement": "no slot takes it",
    "specular": "it belongs to another kind of shader",
}
#: Factor by which a model may differ from the size that its provider states. Beyond that, the
#: import is reported as doubtful.
_TOLERANCE = 1.5
#: Arguments that apply only to assets of one kind.
_ABOUT = {"parent": "model", "objects": "textures", "uv_scale": "textures"} | dict.fromkeys(
    ("strength", "rotate"), "hdri"
)


def import_asset(
    ctx: Any, id: str, folder: str | None = None, _workspace_roots: Any = None, **given: Any
) -> Json:
    one = _asked_for(ctx, id, folder, _workspace_roots)
    for name in given:
        if _ABOUT[name] != one.kind:
            raise WrongArgument(
                f"{name} applies only to assets of the kind {_ABOUT[name]}, not {one.kind}"
            )
    if one.kind == "model":
        return _model(ctx, one, **given)
    return _textures(ctx, one, **given) if one.kind == "textures" else _hdri(ctx, one, **given)


def import_model(
    ctx: Any, id: str, folder: str | None = None, _workspace_roots: Any = None, **given: Any
) -> Json:
    return _model(ctx, _asked_for(ctx, id, folder, _workspace_roots, "model"), **given)


def import_textures(
    ctx: Any, id: str, folder: str | None = None, _workspace_roots: Any = None, **given: Any
) -> Json:
    return _textures(ctx, _asked_for(ctx, id, folder, _workspace_roots, "textures"), **given)


def import_hdri(
    ctx: Any, id: str, folder: str | None = None, _workspace_roots: Any = None, **given: Any
) -> Json:
    return _hdri(ctx, _asked_for(ctx, id, folder, _workspace_roots, "hdri"), **given)


def _asked_for(ctx: Any, id: str, folder: str | None, roots: Any, kind: str | None = None) -> Asset:
    """Return the asset. Raises WrongArgument if it isn't of the requested kind."""
    ctx.port("filesystem.read")
    one = asset(library(folder, roots), id)
    if kind not in (None, one.kind):
        raise WrongArgument(
            f"'{id}' is of the kind {one.kind}; import it with assets__import_{one.kind}"
        )
    ctx.port("scene.mutate")
    return one


def _model(ctx: Any, one: Asset, parent: str | None = None) -> Json:
    reader = ctx.port("scene.read")
    path = str(one.path("model"))
    answer = import_checked(
        ctx.port("exchange"), reader, path, parent, one.meters_per_unit, one.up_axis
    )
    kept = ("changed", "created", "created_count", "without_uvs", "verified", "doubt")
    reported: Json = {"asset": one.as_json(), **{key: answer[key] for key in kept if key in answer}}
    measured = _measured(reader, answer["created"])
    if measured is None:
        return reported
    reported["measured"] = measured
    if one.size is not None and len(one.size) == 3:
        times = max(measured) / max(one.size)
        if not 1 / _TOLERANCE < times < _TOLERANCE:
            reported["verified"] = False
            reported["doubt"] = (
                f"it is {times:.3g} times as large as its provider says, {max(one.size):g} m along"
                " its longest side; scale it with scene__transform, or give meters_per_unit"
            )
    return reported


def _measured(reader: Any, created: Sequence[str]) -> list[float] | None:
    """Return the size of the box around the objects, in meters along the scene's axes."""
    unit = 1 / reader.info()["units_per_meter"]
    boxes = [box for path in created if (box := reader.get(path)["bounds"]) is not None]
    if not boxes:
        return None
    return [
        round((max(box["max"][n] for box in boxes) - min(box["min"][n] for box in boxes)) * unit, 6)
        for n in range(3)
    ]


def _textures(
    ctx: Any, one: Asset, objects: Sequence[str] = (), uv_scale: Sequence[float] = (1.0, 1.0)
) -> Json:
    port, reader = ctx.port("materials"), ctx.port("scene.read")
    targets = list(dict.fromkeys(reader.get(each)["path"] for each in objects))
    driven = {
        slot: (name, part) for name in _SLOTS if name in one.files for slot, part in _SLOTS[name]
    }
    if not driven:
        raise WrongArgument(
            f"'{one.id}' has no map that a material can use: {', '.join(one.files)}"
        )
    glows = {"emission": [1.0, 1.0, 1.0], "emission_strength": 1.0} if "emission" in driven else {}
    material = new_material(port, _named(one.name), glows)
    repeats = (float(uv_scale[0]), float(uv_scale[1]))
    for slot, (name, part) in driven.items():
        path = str(one.path(name))
        put_texture(port, material, slot, Texture(path, space_of(slot), repeats, part))
    assign_material(port, material, targets, None)
    doubt = port.get(material).get("doubt")
    used = {name for name, _ in driven.values()}
    left_out = {name: _WHY_NOT.get(name, "another map sets the same values") for name in one.files}
    return {
        "asset": one.as_json(),
        "changed": targets,
        "created": [material],
        "textures": {slot: name for slot, (name, _) in driven.items()},
        "left_out": {name: why for name, why in left_out.items() if name not in used},
        "verified": doubt is None,
        **({} if doubt is None else {"doubt": doubt}),
    }


def _named(name: str) -> str | None:
    """Return a name that every host accepts for a material, or None when nothing is left of it."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:62]
    return f"_{plain}" if plain[:1].isdigit() else plain or None


def _hdri(ctx: Any, one: Asset, **given: float) -> Json:
    environment = surround(ctx.port("lights"), {"path": str(one.path("hdri")), **given})
    doubt = environment.get("doubt")
    return {
        "asset": one.as_json(),
        "changed": [],
        "created": [],
        "environment": environment,
        "verified": doubt is None,
        **({} if doubt is None else {"doubt": doubt}),
    }

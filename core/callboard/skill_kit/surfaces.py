"""Creates and changes materials through the ``materials`` port, and checks each change. For bundled
skills, on the main thread. Raises NotVerified when the result isn't as requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.ground.colors import linear
from callboard.ports.materials import ColorSpace, Texture
from callboard.skill_kit.read_back import alike, expect

COLORS = ("color", "emission")
#: The values of a new material in every host, before any are set.
PLAIN: Json = {"color": [0.8, 0.8, 0.8], "metalness": 0.0, "roughness": 0.5, "ior": 1.5}


def new_material(port: Any, name: str | None, given: Mapping[str, Any]) -> str:
    """Create a material and return its path. Colors may be ``"#rrggbb"``."""
    path: str = port.create(name)
    values = _values(given, port.get(path))
    plain = {**PLAIN, **values}
    if "specular" in values and "ior" not in values:
        del plain["ior"]  # Some hosts store both as one number, and the given value must win.
    port.set(path, plain)
    _expect_values(port.get(path), plain)
    return path


def set_values(port: Any, path: str, given: Mapping[str, Any]) -> None:
    """Set the given values of a material. Colors may be ``"#rrggbb"``."""
    values = _values(given, port.get(path))
    port.set(path, values)
    _expect_values(port.get(path), values)


def space_of(slot: str) -> ColorSpace:
    """Return the default color space of a picture for that slot."""
    return "srgb" if slot in COLORS else "raw"


def put_texture(port: Any, path: str, slot: str, texture: Texture | None) -> None:
    """Make the picture drive the slot. None removes the slot's picture."""
    port.set_texture(path, slot, texture)
    _expect_texture(port.get(path)["textures"].get(slot), texture, slot)


def assign_material(
    port: Any, path: str, targets: Sequence[str], faces: Sequence[int] | None
) -> None:
    """Assign the material to the objects, or to the given faces of a single object."""
    if not targets:
        return
    port.assign(path, targets, faces)
    for target in targets:
        assigned = port.assigned(target)
        if faces is None:
            right = list(assigned) == [path]
        else:
            there = assigned.get(path, ())
            right = path in assigned and (there is None or {*faces} <= {*there})
        expect(right, f"the material of '{target}'", path, ", ".join(assigned) or None)


def _values(given: Mapping[str, Any], now: Json) -> Json:
    """Return the given values as numbers. Emission gets both a color and a strength, because it
    needs both to be visible. A picture is treated as a color."""
    values = {key: linear(value) if key in COLORS else value for key, value in given.items()}
    if "emission" in values and "emission_strength" not in values:
        values["emission_strength"] = now.get("emission_strength") or 1.0
    elif (
        values.get("emission_strength")
        and "emission" not in values
        and "emission" not in now["textures"]
    ):
        color = now.get("emission")
        values["emission"] = color if color and any(color) else [1.0, 1.0, 1.0]
    return values


def _expect_values(material: Json, values: Json) -> None:
    asked, actual = dict(values), dict(material)
    if "emission" in asked:
        # Some hosts store the color and its strength as one value.
        for one in (asked, actual):
            color, strength = one["emission"], one.pop("emission_strength")
            known = color is not None and strength is not None
            one["emission"] = [value * strength for value in color] if known else None
    for key, value in asked.items():
        expect(alike(value, actual[key]), key, value, actual[key])


def _expect_texture(actual: Json | None, texture: Texture | None, slot: str) -> None:
    if texture is None or actual is None:
        expect(texture is None and actual is None, f"the texture of {slot}", texture, actual)
        return
    there = actual["path"]
    same = there is not None and Path(there).is_file() and Path(there).samefile(texture.path)
    expect(same, f"the texture of {slot}", texture.path, there)
    expect(
        actual["color_space"] == texture.color_space,
        "color_space",
        texture.color_space,
        actual["color_space"],
    )
    expect(
        alike([*texture.uv_scale], actual["uv_scale"]),
        "uv_scale",
        texture.uv_scale,
        actual["uv_scale"],
    )
    if texture.channel is not None:
        expect(actual["channel"] == texture.channel, "channel", texture.channel, actual["channel"])

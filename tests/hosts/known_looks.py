"""Reference pictures of a known scene, one of each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.ground.png import Picture, decode

FOLDER = Path(__file__).parent / "looks"
#: The allowed mean difference of a channel, in steps of 1/255, because drivers, samples and
#: versions differ a little.
TOLERANCE = 6.0

#: Arguments of ``viewport__look``, by the picture's name.
MODES: dict[str, dict[str, Any]] = {
    **{
        shading: {"shading": shading, "angles": ["three_quarter"], "frame": ["Ring", "Box"]}
        for shading in ("solid", "wireframe", "xray", "material", "rendered")
    },
    "sheet": {"shading": "solid", "angles": ["front", "right", "top", "three_quarter"]},
    "camera": {"shading": "solid", "camera": "Camera"},
    "strip": {"shading": "solid", "camera": "Camera", "frames": [1, 12, 24]},
    "overlays": {"shading": "solid", "angles": ["three_quarter"], "overlays": True},
}
SIZE = {"width": 192, "height": 108}


def make(call: Any) -> None:
    """Make the scene: a red ring that rises around a box, next to the default objects of a new
    Blender file."""
    ring = {"kind": "torus", "name": "Ring", "major_radius": 2, "minor_radius": 0.5}
    call("scene__create_primitive", {**ring, "translate": [0, 0, 1]})
    call("scene__set_material_color", {"name": "Ring", "color": [0.8, 0.1, 0.05]})
    keys = [{"frame": 1, "translate": [0, 0, 1]}, {"frame": 24, "translate": [0, 0, 3]}]
    call("animation__set_keys", {"name": "Ring", "keys": keys})
    call("scene__create_primitive", {"kind": "cube", "name": "Box", "size": 1.5})


def assert_known(name: str, data: bytes) -> None:
    """Compare a picture with the reference of that name. If the reference is missing, the picture
    is saved as one and the test fails, so that a person looks at it first."""
    file = FOLDER / f"{name}.png"
    if not file.exists():
        FOLDER.mkdir(exist_ok=True)
        file.write_bytes(data)
        raise AssertionError(f"{file} is new; look at it and run again")
    kept, now = decode(file.read_bytes()), decode(data)
    assert (kept.width, kept.height) == (now.width, now.height)
    differing = mean_difference(kept, now)
    assert differing <= TOLERANCE, f"{name} differs by {differing:.1f} of 255 steps"


def mean_difference(a: Picture, b: Picture) -> float:
    return sum(abs(x - y) for x, y in zip(a.rgb, b.rgb, strict=True)) / len(a.rgb)

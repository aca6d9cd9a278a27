"""Makes the pictures of docs/eyes.md: a still life as each kind of look shows it, made and seen by
tools alone, in a Blender without a window.

    python docs/eyes/make_pictures.py

Needs the extra ``blender``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
for source in ("core", "hosts"):
    sys.path.insert(0, str(PROJECT / source))

from callboard.ground.png import Picture, decode, encode  # noqa: E402
from callboard.skill_kit.pictures import shrunk  # noqa: E402
from callboard_blender.host import BlenderHost  # noqa: E402
from callboard_testing.direct_calls import DirectCaller  # noqa: E402

SIZE = {"width": 576, "height": 384}
FRUIT = ["Apple", "Orange", "Lemon"]
#: Name, kind, widths, place of the middle, color, roughness.
THINGS: tuple[tuple[str, str, list[float], list[float], str, float], ...] = (
    ("Table", "cube", [1.4, 0.9, 0.05], [0, 0, -0.025], "#8a5a34", 0.5),
    ("Wall", "cube", [4, 0.1, 2.4], [0, 1.0, 0.6], "#9fb0b8", 0.9),
    ("Vase", "cylinder", [0.16, 0.16, 0.34], [-0.32, 0.16, 0.17], "#2f5d7c", 0.2),
    ("Rim", "torus", [0.2, 0.2, 0.04], [-0.32, 0.16, 0.34], "#2f5d7c", 0.2),
    ("Bowl", "torus", [0.46, 0.46, 0.1], [0.16, 0, 0.05], "#e6e2d8", 0.3),
    ("Apple", "sphere", [0.14, 0.14, 0.13], [0.1, 0.03, 0.12], "#a8201a", 0.35),
    ("Orange", "sphere", [0.13, 0.13, 0.13], [0.25, 0.04, 0.12], "#e8821e", 0.5),
    ("Lemon", "sphere", [0.15, 0.1, 0.1], [0.18, -0.1, 0.11], "#ecd444", 0.45),
)
LOOKS: dict[str, dict[str, Any]] = {
    **{
        shading: {"shading": shading, "camera": "View"}
        for shading in ("solid", "wireframe", "xray", "material", "rendered")
    },
    "angles": {
        "width": 960,
        "height": 640,
        "shading": "solid",
        "angles": ["front", "right", "top", "three_quarter"],
        "frame": ["Vase", "Rim", "Bowl", *FRUIT],
    },
    "frame": {"shading": "rendered", "angles": ["three_quarter"], "frame": FRUIT},
    "frames": {
        "shading": "material",
        "camera": "View",
        "frames": [1, 12, 24],
        "width": 960,
        "height": 213,
    },
}


def make(call: DirectCaller) -> None:
    call("structure__new_scene", {"discard_changes": True})
    for name, kind, wide, place, color, rough in THINGS:
        shape = {"kind": kind, "name": name, "dimensions": wide, "translate": place}
        call("scene__create_primitive", shape)
        look = {"name": f"{name} look", "color": color, "roughness": rough, "objects": [name]}
        call("materials__create", look)
        if kind != "cube":
            call("geometry__shade", {"name": name, "smooth": True})
    call("scene__set_parent", {"name": "Rim", "parent": "Vase", "keep_world": True})
    call("lights__three_point", {"objects": ["Vase", "Bowl"], "brightness": 2})
    call("lights__set_environment", {"color": "#d0dae4", "strength": 0.6})
    call("cameras__create", {"name": "View", "lens": 50})
    seen = {"name": "View", "objects": ["Vase", "Bowl"], "angle": "three_quarter", "margin": 0.1}
    call("cameras__frame", seen)
    # The lemon rolls off.
    keys = [
        {"frame": 1, "translate": [0.18, -0.1, 0.11]},
        {"frame": 12, "translate": [0.2, -0.3, 0.05]},
        {"frame": 24, "translate": [0.45, -0.36, 0.05]},
    ]
    call("animation__set_keys", {"name": "Lemon", "keys": keys})


def keep(call: DirectCaller, name: str, longest: int = 288) -> None:
    """Half as wide and with fewer colors: few samples are noisy, and noise makes large files."""
    block: Any = call.content[-1]
    picture = shrunk(decode(block.data), longest)
    coarse = bytes(part & 0xFC for part in picture.rgb)
    data = encode(Picture(picture.width, picture.height, coarse))
    (Path(__file__).parent / f"{name}.png").write_bytes(data)
    print(f"{name}.png", len(data))


def main() -> None:
    call = DirectCaller(BlenderHost(lambda fn: None))
    make(call)
    for name, asked in LOOKS.items():
        call("viewport__look", {**SIZE, **asked})
        keep(call, name, 480 if name in ("angles", "frames") else 288)
    asked = {**SIZE, "camera": "View", "shading": "material"}
    before = call("viewport__look", asked)["id"]
    call("materials__set", {"name": "Apple look", "color": "#5f9e2f"})
    call("scene__transform", {"name": "Vase", "translate": [-0.45, 0.2, 0.17]})
    call("viewport__look", {**asked, "before": before})
    keep(call, "before", 480)
    with tempfile.TemporaryDirectory() as folder:
        call("render__still", {"path": str(Path(folder, "still.png")), **SIZE})
        keep(call, "still")
    sys.stdout.flush()
    # In its destructors Blender's module now and then hangs.
    os._exit(0)


if __name__ == "__main__":
    main()

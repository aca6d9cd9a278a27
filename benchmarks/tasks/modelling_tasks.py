"""Tasks that need a modeling application, or a file format that only such an application writes."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from agent import Agent, Work, close, size, task
from pictures import write_checkers


@task("A wooden crate with UVs, and color, roughness and normal maps, delivered as glTF.")
def prop_to_gltf(agent: Agent) -> Work:
    (crate,) = agent.shapes(agent.shape("cube", "Crate", (0.6, 0.6, 0.6), (0, 0, 0)))
    agent("geometry__apply_scale", name=crate)
    agent("geometry__modify", name=crate, kind="bevel", width=0.02 * agent.unit)
    agent("geometry__apply", name=crate)
    agent("geometry__unwrap", name=crate)
    agent("materials__create", name="Planks", color="#7a4f2b", objects=[crate])
    pictures = {
        "color": (b"\x7a\x4f\x2b", b"\x60\x3c\x1e"),
        "roughness": (b"\xc8\xc8\xc8", b"\x8c\x8c\x8c"),
        "normal": (b"\x80\x80\xff", b"\x86\x80\xfa"),
    }
    for slot, colors in pictures.items():
        path = agent.folder / f"{slot}.png"
        write_checkers(path, *colors)
        agent("materials__set_texture", name="Planks", slot=slot, path=str(path))
    file = agent.folder / "crate.glb"
    agent("exchange__export", path=str(file), objects=[crate])
    facts = yield
    assert facts["objects"]["Crate"]["uvs"]
    told = gltf(file)
    (mesh,) = told["meshes"]
    assert "TEXCOORD_0" in mesh["primitives"][0]["attributes"]
    (material,) = told["materials"]
    assert "normalTexture" in material
    assert {"baseColorTexture", "metallicRoughnessTexture"} <= {*material["pbrMetallicRoughness"]}
    low, high = (told["accessors"][0][key] for key in ("min", "max"))
    assert close([b - a for a, b in zip(low, high, strict=True)], [0.6, 0.6, 0.6], 1e-3)


@task("A steel plate of 20 by 10 cm with a hole of 2 cm in each corner.")
def plate_with_holes(agent: Agent) -> Work:
    places = [(x, y) for x in (-0.07, 0.07) for y in (-0.03, 0.03)]
    plate, *drills = agent.shapes(
        agent.shape("cube", "Plate", (0.2, 0.1, 0.01), (0, 0, 0)),
        *(
            agent.shape("cylinder", f"Drill{n}", (0.02, 0.02, 0.04), (x, y, -0.015))
            for n, (x, y) in enumerate(places)
        ),
    )
    for drill in drills:
        cut = {"kind": "boolean", "operation": "difference", "other": drill}
        agent("geometry__modify", name=plate, **cut)
    agent("geometry__apply", name=plate)
    agent("scene__delete", names=drills)
    assert agent("geometry__info", name=plate)["closed"]
    facts = yield
    assert [name for name, each in facts["objects"].items() if each["low"]] == ["Plate"]
    assert close(size(facts["objects"]["Plate"]), [0.2, 0.1, 0.01], 1e-4)
    # The outline of a hole has 48 corners, so the hole is a little smaller than a circle.
    holes = 4 * 3.1416 * 0.01**2 * 0.01
    assert close([facts["objects"]["Plate"]["volume"] * 1e6], [(2e-4 - holes) * 1e6], 0.01)


@task("A gilt picture frame with a border of 6 cm, and a blue picture that lies 3 cm deep in it.")
def picture_frame(agent: Agent) -> Work:
    (frame,) = agent.shapes(agent.shape("cube", "Frame", (0.8, 0.05, 0.6), (0, 0, 1)))
    unit = agent.unit
    agent("geometry__apply_scale", name=frame)
    inside = agent("geometry__inset", name=frame, faces="front", thickness=0.06 * unit)["faces"]
    picture = agent("geometry__extrude", name=frame, faces=inside, distance=-0.03 * unit)["faces"]
    agent("materials__create", name="Gilt", color="#c9a227", metalness=1, objects=[frame])
    agent("materials__create", name="Paint", color="#3b5b8c")
    agent("materials__assign", name="Paint", objects=[frame], faces=picture)
    facts = yield
    entry = facts["objects"]["Frame"]
    assert close(size(entry), [0.8, 0.05, 0.6], 1e-3)
    assert close([entry["volume"]], [0.8 * 0.05 * 0.6 - 0.68 * 0.03 * 0.48], 1e-5)
    assert entry["faces_of"] == {"Gilt": 13, "Paint": 1}


@task("A shop sign: the word CAFE in glowing letters, 30 cm high, on a dark board.")
def shop_sign(agent: Agent) -> Work:
    (board,) = agent.shapes(agent.shape("cube", "Board", (1.4, 0.05, 0.5), (0, 0, 2)))
    made = agent(
        "geometry__create_text",
        text="CAFE",
        name="Letters",
        size=0.4 * agent.unit,
        depth=0.02 * agent.unit,
        align="center",
        translate=agent.at(0, -0.05, 2.1),
        rotate=[90, 0, 0],
    )
    (letters,) = made["created"]
    agent("materials__create", name="Paint", color="#15181c", objects=[board])
    agent("materials__create", name="Glow", emission="#ffb45a", emission_strength=6)
    agent("materials__assign", name="Glow", objects=[letters])
    facts = yield
    letters, board = (facts["objects"][name] for name in ("Letters", "Board"))
    assert letters["material"] == "Glow"
    assert facts["materials"]["Glow"]["glow"] > 1
    assert all(letters["low"][n] > board["low"][n] for n in (0, 2))
    assert all(letters["high"][n] < board["high"][n] for n in (0, 2))
    assert letters["high"][1] < board["high"][1]


@task("A cable, 2 cm thick, that hangs from one pole to the other.")
def cable(agent: Agent) -> Work:
    agent.shapes(
        *(agent.shape("cylinder", f"Pole{x}", (0.15, 0.15, 3), (x, 0, 0)) for x in (0, 4)),
    )
    points = [agent.at(x, 0, 3 - 0.15 * (4 - (x - 2) ** 2)) for x in (0, 1, 2, 3, 4)]
    agent(
        "geometry__create_curve",
        points=points,
        name="Cable",
        smooth=True,
        radius=0.01 * agent.unit,
    )
    facts = yield
    entry = facts["objects"]["Cable"]
    assert close(size(entry)[:2], [4, 0.02], 0.02)
    assert close([entry["low"][2], entry["high"][2]], [2.39, 3.01], 0.02)


@task("This ring is too heavy for a phone: at most 500 triangles, and still a ring.")
def low_poly(agent: Agent) -> Work:
    (ring,) = agent.shapes(agent.shape("torus", "Ring", (2, 2, 0.5), (0, 0, 0)))
    triangles = agent("geometry__info", name=ring)["mesh"]["triangles"]
    agent("geometry__modify", name=ring, kind="decimate", ratio=480 / triangles)
    agent("geometry__apply", name=ring)
    told = agent("geometry__info", name=ring)
    assert told["mesh"]["triangles"] <= 500, told["mesh"]
    facts = yield
    entry = facts["objects"]["Ring"]
    assert close(size(entry), [2, 2, 0.5], 0.1)
    assert 0.7 < entry["volume"] / (2 * 3.1416**2 * 0.75 * 0.25**2) < 1.1
    assert entry["faces"] <= 500


@task("Export the bracket for printing: an STL in millimeters, closed, with its scale applied.")
def for_printing(agent: Agent) -> Work:
    foot, wall = agent.shapes(
        agent.shape("cube", "Bracket", (0.06, 0.04, 0.005), (0, 0, 0)),
        agent.shape("cube", "Wall", (0.005, 0.04, 0.05), (-0.0275, 0, 0.0025)),
    )
    agent("geometry__modify", name=foot, kind="boolean", operation="union", other=wall)
    agent("geometry__apply", name=foot)
    agent("scene__delete", names=[wall])
    told = agent("check__run", rules=["non_manifold", "inside_out", "scale"], objects=[foot])
    for finding in told["findings"]:
        agent(finding["fix"]["tool"], **finding["fix"]["arguments"])
    file = agent.folder / "bracket.stl"
    agent("exchange__export", path=str(file), objects=[foot], meters_per_unit=0.001, up_axis="Z")
    facts = yield
    assert close(facts["objects"]["Bracket"]["scale"], [1, 1, 1])
    points = stl(file)
    sides = [max(axis) - min(axis) for axis in zip(*points, strict=True)]
    assert close(sides, [60, 40, 52.5])


@task("The boards were stretched; apply their scale, so that modifiers work evenly on them.")
def applied_scale(agent: Agent) -> Work:
    names = [f"Board{n}" for n in range(4)]
    agent.shapes(
        *(
            agent.shape("cube", name, (1 + n / 2, 0.1, 0.02), (0, n * 0.12, 0))
            for n, name in enumerate(names)
        )
    )
    for finding in agent("check__run", rules=["scale"])["findings"]:
        agent("geometry__apply_scale", name=finding["object"])
    assert agent("check__run", rules=["scale"])["total"] == 0
    facts = yield
    for n, name in enumerate(names):
        assert facts["objects"][name]["scale"] == [1, 1, 1], name
        assert close(size(facts["objects"][name]), [1 + n / 2, 0.1, 0.02]), name


def gltf(file: Path) -> Any:
    """Return the JSON of a binary glTF."""
    data = file.read_bytes()
    magic, _, _, length, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, kind) == (b"glTF", b"JSON")
    return json.loads(data[20 : 20 + length])


def stl(file: Path) -> list[tuple[float, ...]]:
    """Return the corners of a binary STL's triangles."""
    data = file.read_bytes()
    (count,) = struct.unpack_from("<I", data, 80)
    corners = (struct.unpack_from("<12f", data, 84 + 50 * n)[3:] for n in range(count))
    return [each[at : at + 3] for each in corners for at in (0, 3, 6)]

"""Tasks that set a stage: lights, cameras, looks, many objects at once."""

from __future__ import annotations

from agent import Agent, Work, camera_of, close, lights, size, task
from pictures import write_checkers, write_sky

#: A set whose author selected the variant ``winter``.
SEASONS = """#usda 1.0
(
    defaultPrim = "Garden"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "Garden" (
    variants = { string season = "winter" }
    prepend variantSets = "season"
)
{
    def Cylinder "Trunk"
    {
        double height = 2
        double radius = 0.1
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    variantSet "season" = {
        "summer" {
            def Sphere "Leaves"
            {
                double3 xformOp:translate = (0, 0, 2.5)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
        }
        "winter" {
            def Cube "Snow"
            {
                double size = 0.5
            }
        }
    }
}
"""


@task(
    "A street at night: five lamps with warm light, 4 m apart, and hardly any light from the sky."
)
def night_street(agent: Agent) -> Work:
    agent.shapes(
        agent.shape("plane", "Street", (24, 6, 0), (8, 0, 0)),
        *(agent.shape("cylinder", f"Post{n}", (0.12, 0.12, 3.5), (n * 4, 2, 0)) for n in range(5)),
    )
    for n in range(5):
        agent(
            "lights__create",
            kind="spot",
            name=f"Lamp{n}",
            power=80,
            kelvin=2700,
            angle=100,
            translate=agent.at(n * 4, 1.5, 3.4),
            look_at=agent.at(n * 4, 0, 0),
        )
    agent("lights__set_environment", color="#0a1024", strength=0.05)
    facts = yield
    lamps = {name for name in lights(facts) if name.startswith("Lamp")}
    assert len(lamps) == 5
    for n in range(5):
        lamp = facts["objects"][f"Lamp{n}"]
        assert close(lamp["origin"], [n * 4, 1.5, 3.4])
        red, _, blue = lamp["tint"]
        assert red > 1.5 * blue, lamp["tint"]
    assert close([facts["environment"]["strength"]], [0.05])


@task("Light the car by this sky picture, turned by a quarter, half as bright as it is.")
def sky_light(agent: Agent) -> Work:
    agent.shapes(agent.shape("cube", "Car", (4.2, 1.8, 1.4), (0, 0, 0)))
    picture = agent.folder / "sky.hdr"
    write_sky(picture)
    agent("lights__set_environment", path=str(picture), strength=0.5, rotate=90)
    facts = yield
    assert facts["environment"] == {"picture": "sky.hdr", "strength": 0.5}


@task("A tiled floor of 4 by 4 m from this picture, each tile half a meter wide, slightly shiny.")
def tiled_floor(agent: Agent) -> Work:
    (floor,) = agent.shapes(agent.shape("plane", "Floor", (4, 4, 0), (0, 0, 0)))
    picture = agent.folder / "tiles.png"
    write_checkers(picture, b"\xe8\xe4\xda", b"\x30\x34\x38")
    if not agent("geometry__info", name=floor)["uv_sets"]:
        agent("geometry__unwrap", name=floor)
    agent("materials__create", name="Tiles", roughness=0.25, objects=[floor])
    asked = {"slot": "color", "path": str(picture), "uv_scale": [8, 8]}
    agent("materials__set_texture", name="Tiles", **asked)
    facts = yield
    assert facts["objects"]["Floor"]["material"] == "Tiles"
    assert facts["objects"]["Floor"]["uvs"]
    assert facts["materials"]["Tiles"]["textures"]
    assert close([facts["materials"]["Tiles"]["roughness"]], [0.25])


@task(
    "Three cameras on the engine: from the front, from above, and close to its valve, which is the"
    " one that takes the picture."
)
def camera_set(agent: Agent) -> Work:
    engine, valve = agent.shapes(
        agent.shape("cube", "Engine", (1.2, 0.7, 0.8), (0, 0, 0)),
        agent.shape("cylinder", "Valve", (0.08, 0.08, 0.1), (0.4, 0.2, 0.8)),
    )
    for name, lens, angle, objects in (
        ("Front", 50, "front", [engine, valve]),
        ("Above", 35, "top", [engine, valve]),
        ("Detail", 85, "three_quarter", [valve]),
    ):
        agent("cameras__create", name=name, lens=lens)
        agent("cameras__frame", name=name, objects=objects, angle=angle)
    agent("cameras__set", name="Detail", active=True)
    facts = yield
    cameras = {name: each["camera"] for name, each in facts["objects"].items() if "camera" in each}
    assert {name: round(each["lens"]) for name, each in cameras.items()} == {
        "Front": 50,
        "Above": 35,
        "Detail": 85,
    }
    assert camera_of(facts)["lens"] == cameras["Detail"]["lens"]
    # A camera looks along its own -Z.
    assert close(cameras["Front"]["axes"][2], [0, -1, 0])
    assert close(cameras["Above"]["axes"][2], [0, 0, 1])


@task("A chessboard with squares of 5 cm in two woods, and a pawn on each square of two rows.")
def chessboard(agent: Agent) -> Work:
    names = [f"{'abcdefgh'[x]}{y + 1}" for y in range(8) for x in range(8)]
    squares = agent.shapes(
        *(
            agent.shape(
                "cube", f"Square_{name}", (0.05, 0.05, 0.01), (n % 8 * 0.05, n // 8 * 0.05, 0)
            )
            for n, name in enumerate(names)
        )
    )
    pawns = agent.shapes(
        *(
            agent.shape(
                "cone", f"Pawn_{name}", (0.03, 0.03, 0.05), (n % 8 * 0.05, n // 8 * 0.05, 0.01)
            )
            for n, name in enumerate(names)
            if name[1] in "27"
        )
    )
    dark = [path for n, path in enumerate(squares) if (n + n // 8) % 2 == 0]
    light = [path for path in squares if path not in dark]
    for name, color, objects in (
        ("Walnut", "#4a2f1b", dark + pawns[8:]),
        ("Maple", "#e3c79b", light + pawns[:8]),
    ):
        agent("materials__create", name=name, color=color, roughness=0.5, objects=objects)
    facts = yield
    objects = facts["objects"]
    assert sum(name.startswith("Pawn") for name in objects) == 16
    assert objects["Square_a1"]["material"] == "Walnut"
    assert objects["Square_h1"]["material"] == "Maple"
    assert [*facts["materials"]].count("Walnut") == 1
    for name in ("a2", "h7"):
        pawn, square = objects[f"Pawn_{name}"], objects[f"Square_{name}"]
        assert close([pawn["low"][2]], [square["high"][2]], 1e-4)
        assert close(pawn["origin"][:2], square["origin"][:2], 1e-4)


@task(
    "Bring in the garden as its author left it, in winter, twice, the second one 5 m to the east."
)
def variants(agent: Agent) -> Work:
    file = agent.folder / "garden.usda"
    file.write_text(SEASONS)
    assert agent("usd__read_stage_metadata", path=str(file))["default_prim"]
    for n in range(2):
        plot = agent("structure__create_empty", name=f"Plot{n}")["created"][0]
        agent("usd__import_usd", path=str(file), parent=plot)
        agent("scene__transform", name=plot, translate=agent.at(n * 5, 0, 0))
    facts = yield
    snow = sorted(
        each["origin"][0] for name, each in facts["objects"].items() if name.startswith("Snow")
    )
    assert close(snow, [0, 5]), snow
    assert not [name for name in facts["objects"] if name.startswith("Leaves")]
    trunk = next(each for name, each in facts["objects"].items() if name.startswith("Trunk"))
    assert close(size(trunk), [0.2, 0.2, 2.0])

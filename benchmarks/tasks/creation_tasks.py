"""Tasks that make something new."""

from __future__ import annotations

import csv
from io import StringIO
from itertools import pairwise

from agent import Agent, Work, camera_of, close, fill, lights, size, task

TREES = "name,x,y,height\n" + "".join(
    f"Tree{n},{n % 4 * 3},{n // 4 * 4},{2 + n % 3}\n" for n in range(12)
)
#: The rooms of a flat: each wall from one point to another, in meters.
WALLS = {
    "South": ((0, 0), (6, 0)),
    "East": ((6, 0), (6, 4)),
    "North": ((6, 4), (0, 4)),
    "West": ((0, 4), (0, 0)),
    "Between": ((3, 0), (3, 2.5)),
}
PALETTE = {"Clay": "#b5563c", "Moss": "#5b7a3a", "Sand": "#d8c49a", "Night": "#1c2333"}


@task("A bowl with three fruits on a wooden table, softly lit, seen from three quarters.")
def still_life(agent: Agent) -> Work:
    table, bowl, *fruits = agent.shapes(
        agent.shape("cube", "Table", (1.6, 1.0, 0.05), (0, 0, 0.7)),
        agent.shape("torus", "Bowl", (0.4, 0.4, 0.08), (0, 0, 0.75)),
        agent.shape("sphere", "Apple", (0.09, 0.09, 0.08), (0.06, 0, 0.75)),
        agent.shape("sphere", "Orange", (0.08, 0.08, 0.08), (-0.06, 0.04, 0.75)),
        agent.shape("sphere", "Lemon", (0.1, 0.06, 0.06), (0, -0.07, 0.75)),
    )
    looks = {"Wood": ("#7a4f2b", table), "Glaze": ("#dfe4e8", bowl)}
    looks.update(
        {
            name: (color, fruit)
            for (name, color), fruit in zip(
                {"Red": "#a61d24", "Orange": "#e07b1a", "Yellow": "#e8d23a"}.items(),
                fruits,
                strict=True,
            )
        }
    )
    for name, (color, path) in looks.items():
        agent("materials__create", name=f"{name}Look", color=color, roughness=0.4, objects=[path])
    agent("lights__three_point", objects=[bowl, *fruits])
    agent("cameras__create", name="View", lens=60)
    agent("cameras__frame", name="View", objects=[bowl, *fruits], angle="three_quarter")
    facts = yield
    objects = facts["objects"]
    assert len(lights(facts)) == 3
    assert len({objects[name]["material"] for name in ("Table", "Bowl", "Apple", "Orange")}) == 4
    for name in ("Bowl", "Apple", "Orange", "Lemon"):
        assert close([objects[name]["low"][2]], [objects["Table"]["high"][2]]), name
    assert 0.7 < fill(facts, "Bowl", "Apple", "Orange", "Lemon") <= 1.0


@task("Light this statue with a key, a fill and a rim light.")
def three_point_light(agent: Agent) -> Work:
    (statue,) = agent.shapes(agent.shape("cylinder", "Statue", (0.6, 0.6, 1.8), (0, 0, 0)))
    agent("lights__three_point", objects=[statue])
    facts = yield
    power = lights(facts)
    key = max(power, key=lambda name: power[name])
    assert "key" in key.lower()
    assert len(power) == 3
    assert all(facts["objects"][name]["origin"][2] > 0.9 for name in power)


@task("A product shot: the bottle in glass with a metal cap, 85 mm, shallow focus on a backdrop.")
def product_shot(agent: Agent) -> Work:
    bottle, cap, floor = agent.shapes(
        agent.shape("cylinder", "Bottle", (0.08, 0.08, 0.2), (0, 0, 0)),
        agent.shape("cylinder", "Cap", (0.04, 0.04, 0.03), (0, 0, 0.2)),
        agent.shape("plane", "Backdrop", (3, 3, 0), (0, 0, 0)),
    )
    agent("materials__create", name="Steel", color="#c0c4c8", metalness=1, objects=[cap])
    agent("materials__create", name="Paper", color="#f2f0ec", roughness=0.9, objects=[floor])
    agent("materials__create", name="Amber", color="#8a4b12", roughness=0.05, objects=[bottle])
    agent(
        "lights__create",
        kind="area",
        name="Softbox",
        power=60,
        size=0.8 * agent.unit,
        translate=agent.at(-0.6, -0.6, 0.9),
        look_at=bottle,
    )
    agent("cameras__create", name="Hero", lens=85, fstop=2.8)
    agent("cameras__frame", name="Hero", objects=[bottle, cap], angle="front", margin=0.3)
    away = sum(value**2 for value in agent("scene__get_object", name="Hero")["translate"]) ** 0.5
    agent("cameras__set", name="Hero", focus_distance=away)
    facts = yield
    camera = camera_of(facts)
    assert close([camera["lens"], camera["fstop"]], [85, 2.8])
    assert fill(facts, "Bottle", "Cap") <= 0.71
    assert facts["materials"]["Steel"]["metalness"] == 1
    assert facts["objects"]["Cap"]["material"] == "Steel"
    assert [*lights(facts)] == ["Softbox"]


@task("Plant the trees of this CSV, each a trunk with a crown, in a group.")
def layout_from_csv(agent: Agent) -> Work:
    rows = [*csv.DictReader(StringIO(TREES))]
    shapes = []
    for row in rows:
        x, y, height = (float(row[key]) for key in ("x", "y", "height"))
        shapes += [
            agent.shape("cylinder", f"{row['name']}_trunk", (0.2, 0.2, height / 2), (x, y, 0)),
            agent.shape("cone", row["name"], (1.2, 1.2, height / 2), (x, y, height / 2)),
        ]
    paths = agent.shapes(*shapes)
    agent("structure__create_group", name="Orchard", objects=paths)
    facts = yield
    assert len(facts["groups"]["Orchard"]) == 24
    for row in rows:
        crown = facts["objects"][row["name"]]
        x, y, height = (float(row[key]) for key in ("x", "y", "height"))
        assert close(crown["origin"][:2], [x, y])
        assert close([crown["high"][2]], [height])


@task("Frame these five actors from the front, so that all are seen with a little air.")
def framing(agent: Agent) -> Work:
    names = [f"Actor{n}" for n in range(5)]
    paths = agent.shapes(
        *(
            agent.shape("cylinder", name, (0.5, 0.4, 1.6 + n / 10), (n * 1.5 - 3, n % 2 * 2, 0))
            for n, name in enumerate(names)
        )
    )
    agent("cameras__create", name="Wide", lens=35)
    agent("cameras__frame", name="Wide", objects=paths, angle="front", margin=0.15)
    facts = yield
    assert 0.75 < fill(facts, *names) <= 0.86


@task("Build the walls of this floor plan, 2.5 m high and 20 cm thick, on a floor.")
def room_from_plan(agent: Agent) -> Work:
    from math import atan2, degrees, dist

    shapes = [agent.shape("plane", "Floor", (6, 4, 0), (3, 2, 0))]
    for name, (start, end) in WALLS.items():
        middle = [(a + b) / 2 for a, b in zip(start, end, strict=True)]
        angle = degrees(atan2(end[1] - start[1], end[0] - start[0]))
        long = dist(start, end) + 0.2
        shapes.append(agent.shape("cube", name, (long, 0.2, 2.5), (*middle, 0), angle))
    agent("structure__create_group", name="Walls", objects=agent.shapes(*shapes)[1:])
    facts = yield
    assert {*facts["groups"]["Walls"]} == {*WALLS}
    for name, (start, end) in WALLS.items():
        wide, deep, tall = size(facts["objects"][name])
        along = [abs(b - a) + 0.2 for a, b in zip(start, end, strict=True)]
        assert close([wide, deep, tall], [*along, 2.5]), name


@task("A staircase of twelve steps, 18 cm high and 28 cm deep.")
def staircase(agent: Agent) -> Work:
    agent.shapes(
        *(
            agent.shape("cube", f"Step{n:02}", (1.0, 0.28, 0.18), (0, n * 0.28, n * 0.18))
            for n in range(12)
        )
    )
    facts = yield
    steps = [facts["objects"][f"Step{n:02}"] for n in range(12)]
    for lower, upper in pairwise(steps):
        assert close([upper["low"][2]], [lower["high"][2]], 1e-3)
        assert close([upper["low"][1]], [lower["high"][1]], 1e-3)
    assert close([steps[-1]["high"][2]], [2.16])


@task("A solar system: planets on arms of empties, so that each arm can be turned alone.")
def solar_system(agent: Agent) -> Work:
    agent("scene__create_primitive", **agent.shape("sphere", "Sun", (2, 2, 2), (0, 0, -1)))
    for n, name in enumerate(("Mercury", "Venus", "Earth")):
        arm = agent("structure__create_empty", name=f"{name}Arm")["created"][0]
        (planet,) = agent.shapes(
            agent.shape("sphere", name, (0.4, 0.4, 0.4), (2 + n * 1.5, 0, -0.2))
        )
        agent("scene__set_parent", name=planet, parent=arm)
        agent("scene__transform", name=arm, rotate=agent.about_up(90.0 * n))
    facts = yield
    places = {"Mercury": [2, 0, 0], "Venus": [0, 3.5, 0], "Earth": [-5, 0, 0]}
    for name, place in places.items():
        assert facts["objects"][name]["parent"] == f"{name}Arm"
        assert close(facts["objects"][name]["origin"], place), name


@task("Four swatches with the colors of this palette, each with a material of its own.")
def palette(agent: Agent) -> Work:
    for n, (name, color) in enumerate(PALETTE.items()):
        (path,) = agent.shapes(agent.shape("cube", name, (0.5, 0.1, 0.5), (n * 0.6, 0, 0)))
        agent("materials__create", name=f"{name}Paint", color=color, objects=[path])
    facts = yield
    for name, color in PALETTE.items():
        assert facts["objects"][name]["material"] == f"{name}Paint"
        wanted = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in wanted]
        assert close(facts["materials"][f"{name}Paint"]["color"], linear), name


@task("Three versions of a chair in groups, only the second one visible.")
def versions(agent: Agent) -> Work:
    for n in range(3):
        paths = agent.shapes(
            agent.shape("cube", f"Seat{n}", (0.5, 0.5, 0.06), (0, 0, 0.4)),
            agent.shape("cube", f"Back{n}", (0.5, 0.05, 0.5 + n / 10), (0, 0.25, 0.46)),
        )
        agent("structure__create_group", name=f"Version{n}", objects=paths)
        if n != 1:
            agent("structure__set_visibility", objects=paths, visible=False)
    facts = yield
    shown = {name for name, each in facts["objects"].items() if each["low"] and each["visible"]}
    assert shown == {"Seat1", "Back1"}
    assert {*facts["groups"]} >= {"Version0", "Version1", "Version2"}


@task("A turntable: the vase turns once about its middle in 48 frames.")
def turntable(agent: Agent) -> Work:
    (vase,) = agent.shapes(agent.shape("cone", "Vase", (0.3, 0.3, 0.5), (0, 0, 0)))
    pivot = agent("structure__create_empty", name="Turntable")["created"][0]
    agent("scene__set_parent", name=vase, parent=pivot)
    agent("animation__set_timeline", start=1, end=48)
    keys = [{"frame": frame, "rotate": agent.about_up(turn)} for frame, turn in ((1, 0), (49, 360))]
    agent("animation__set_keys", name=pivot, keys=keys)
    facts = yield
    assert facts["objects"]["Turntable"]["keys"] == [1, 49]
    assert facts["objects"]["Vase"]["parent"] == "Turntable"


@task("A ball that bounces three times, lower each time.")
def bouncing_ball(agent: Agent) -> Work:
    (ball,) = agent.shapes(agent.shape("sphere", "Ball", (0.4, 0.4, 0.4), (0, 0, 2)))
    heights = [2.2, 0.2, 1.4, 0.2, 0.8, 0.2]
    keys = [
        {"frame": 1 + 8 * n, "translate": agent.at(n * 0.3, 0, height)}
        for n, height in enumerate(heights)
    ]
    agent("animation__set_keys", name=ball, keys=keys)
    facts = yield
    assert facts["objects"]["Ball"]["keys"] == [1, 9, 17, 25, 33, 41]
    assert close([facts["objects"]["Ball"]["low"][2]], [2.0])

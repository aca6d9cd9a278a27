"""Tasks that read, correct and export an existing scene."""

from __future__ import annotations

from agent import Agent, Work, close, size, task
from pictures import write_checkers

#: A set in centimeters, as written by an application with Y up.
IN_CENTIMETRES = """#usda 1.0
(
    defaultPrim = "Set"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "Set"
{
    def Cube "Crate"
    {
        double size = 50
        float3[] extent = [(-25, -25, -25), (25, 25, 25)]
        double3 xformOp:translate = (100, 25, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
#: The same set, wrongly declared to be in meters.
IN_WRONG_UNITS = IN_CENTIMETRES.replace("= 0.01", "= 1").replace('"Crate"', '"Giant"')


@task("Clean up: fix whatever the check offers to fix.")
def clean_up(agent: Agent) -> Work:
    _, mirrored, _ = agent.shapes(
        agent.shape("cube", "Crate", (1, 1, 1), (0, 0, 0)),
        agent.shape("cube", "Mirrored", (1, 1, 1), (3, 0, 0)),
        agent.shape("cube", "Twin", (1, 1, 1), (0, 0, 0)),
    )
    agent("scene__transform", name=mirrored, scale=[-1, 1, 1])
    told = agent("check__run", rules=["scale", "doubles"])
    assert told["total"] >= 2, told
    gone: set[str] = set()
    for finding in told["findings"]:
        fix, path = finding.get("fix"), finding["object"]
        if path in gone or finding["severity"] == "hint":
            continue
        if finding["rule"] == "scale":
            scale = agent("scene__get_object", name=path)["scale"]
            agent("scene__transform", name=path, scale=[abs(value) for value in scale])
        else:
            agent(fix["tool"], **fix["arguments"])
            gone.add(path)
    left = agent("check__run", rules=["scale", "doubles"])["findings"]
    assert all(each["severity"] == "hint" for each in left), left
    facts = yield
    shapes = {name: each for name, each in facts["objects"].items() if each["low"]}
    assert not any(each["mirrored"] for each in shapes.values())
    assert len(shapes) == 2


@task("Bring in this set, which was made in centimeters, at its real size.")
def retarget_units(agent: Agent) -> Work:
    file = agent.folder / "set.usda"
    file.write_text(IN_CENTIMETRES)
    agent("usd__import_usd", path=str(file))
    facts = yield
    (crate,) = [each for name, each in facts["objects"].items() if name.startswith("Crate")]
    assert close(size(crate), [0.5, 0.5, 0.5])
    assert close(crate["low"], [0.75, -0.25, 0.0])


@task("This crate came in a hundred times too large; bring it to half a meter, on the ground.")
def retarget_scale(agent: Agent) -> Work:
    file = agent.folder / "giant.usda"
    file.write_text(IN_WRONG_UNITS)
    created = agent("usd__import_usd", path=str(file))["created"]
    (top,) = (each for each in created if each.endswith("Set"))
    scale = agent("scene__get_object", name=top)["scale"]
    agent("scene__transform", name=top, scale=[value / 100 for value in scale])
    facts = yield
    (crate,) = [each for name, each in facts["objects"].items() if name.startswith("Giant")]
    assert close(size(crate), [0.5, 0.5, 0.5])
    assert close([crate["low"][2]], [0.0])


@task("Give ten objects names by our convention: prop_ and a number of two digits.")
def naming(agent: Agent) -> Work:
    agent.shapes(*(agent.shape("cube", f"Thing{n}", (0.5, 0.5, 0.5), (n, 0, 0)) for n in range(10)))
    listed = agent("scene__list_objects", pattern="Thing*")["objects"]
    calls = [
        {"tool": "scene__rename", "arguments": {"name": each["path"], "new_name": f"prop_{n:02}"}}
        for n, each in enumerate(listed)
    ]
    agent("batch__run", calls=calls, brief=True)
    facts = yield
    assert {f"prop_{n:02}" for n in range(10)} <= {*facts["objects"]}
    assert not [name for name in facts["objects"] if name.startswith("Thing")]


@task("Write who made each asset, its version and whether it is approved, into the assets.")
def tagging(agent: Agent) -> Work:
    paths = agent.shapes(
        *(agent.shape("cube", f"Asset{n}", (1, 1, 1), (n * 2, 0, 0)) for n in range(3))
    )
    calls = [
        {
            "tool": "attributes__set",
            "arguments": {"name": path, "attribute": attribute, "value": value},
        }
        for n, path in enumerate(paths)
        for attribute, value in {"author": "Mira", "version": n + 1, "approved": n > 0}.items()
    ]
    agent("batch__run", calls=calls, brief=True)
    facts = yield
    for n in range(3):
        custom = facts["objects"][f"Asset{n}"]["custom"]
        assert (custom["author"], custom["version"]) == ("Mira", n + 1)
        assert bool(custom["approved"]) is (n > 0)


@task("Twenty bollards along the quay, two meters apart, all like the first one.")
def repeating(agent: Agent) -> Work:
    (first,) = agent.shapes(agent.shape("cylinder", "Bollard", (0.3, 0.3, 0.8), (0, 0, 0)))
    agent("materials__create", name="Iron", color="#2b2b2e", metalness=1, objects=[first])
    calls = [
        {
            "tool": "scene__duplicate",
            "arguments": {"name": first, "translate": agent.at(n * 2, 0, 0.4)},
        }
        for n in range(1, 20)
    ]
    agent("batch__run", calls=calls, brief=True)
    facts = yield
    posts = [each for name, each in facts["objects"].items() if name.startswith("Bollard")]
    assert sorted(round(each["origin"][0]) for each in posts) == [n * 2 for n in range(20)]
    assert all((each["material"] or "").startswith("Iron") for each in posts)


@task("Deliver the props as a USD file, and check that file.")
def handing_on(agent: Agent) -> Work:
    paths = agent.shapes(
        agent.shape("cube", "Crate", (1, 1, 1), (0, 0, 0)),
        agent.shape("sphere", "Buoy", (0.6, 0.6, 0.6), (2, 0, 0)),
    )
    agent("scene__select", names=paths)
    file = agent.folder / "props.usda"
    agent("usd__export_usd", path=str(file), selected_only=True)
    told = agent("usd__read_stage_metadata", path=str(file))
    assert told["default_prim"]
    agent("scene__delete", names=paths)
    agent("usd__import_usd", path=str(file))
    facts = yield
    crate = next(each for name, each in facts["objects"].items() if name.startswith("Crate"))
    assert file.stat().st_size > 0
    assert facts["objects"]
    assert crate["low"] is None or close(size(crate), [1, 1, 1])


#: A tetrahedron whose faces point inwards.
INSIDE_OUT = """#usda 1.0
(
    defaultPrim = "Gem"
    metersPerUnit = 1
    upAxis = "Z"
)
def Mesh "Gem"
{
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    uniform token subdivisionScheme = "none"
}
"""


@task("This gem looks dark and hollow: its faces look inwards. Turn them.")
def inside_out(agent: Agent) -> Work:
    file = agent.folder / "gem.usda"
    file.write_text(INSIDE_OUT)
    agent("usd__import_usd", path=str(file))
    (finding,) = agent("check__run", rules=["inside_out"])["findings"]
    agent(finding["fix"]["tool"], **finding["fix"]["arguments"])
    assert agent("check__run", rules=["inside_out"])["total"] == 0
    facts = yield
    (gem,) = [each for name, each in facts["objects"].items() if each["volume"]]
    assert close([gem["volume"]], [1 / 6], 1e-4)


@task("Some props float and some are sunk: put all of them on the ground.")
def grounded(agent: Agent) -> Work:
    heights = {"Crate": 0.4, "Barrel": -0.2, "Box": 1.5, "Ball": 0.0}
    agent.shapes(
        *(
            agent.shape("cube", name, (0.5, 0.5, 0.5), (n * 2, 0, height))
            for n, (name, height) in enumerate(heights.items())
        )
    )
    told = agent("check__run", rules=["floating", "sunk"])
    calls = [each["fix"] for each in told["findings"]]
    assert len(calls) == 3, told
    agent("batch__run", calls=calls, brief=True)
    facts = yield
    for n, name in enumerate(heights):
        assert close([facts["objects"][name]["low"][2]], [0], 1e-4), name
        assert close(facts["objects"][name]["origin"][:2], [n * 2, 0], 1e-4), name


@task("Make the desk match the brief, whatever has been done to it so far.")
def by_brief(agent: Agent) -> Work:
    oak = agent("materials__create", name="Oak", color="#9c6b3c")["material"]
    agent.shapes(
        agent.shape("cube", "Top", (1.2, 0.7, 0.05), (0, 0, 0.9)),
        agent.shape("cube", "Drawers", (0.4, 0.6, 0.6), (0.5, 0, 0)),
        agent.shape("cube", "Lamp", (0.1, 0.1, 0.4), (0, 0, 2)),
    )
    brief = {
        "Top": ((1.6, 0.8, 0.03), (0, 0, 0.715)),
        "Drawers": ((0.4, 0.7, 0.7), (0.55, 0, 0.35)),
    }
    wanted = [
        {
            "name": name,
            "size": agent.wide(*wide),
            "center": agent.at(*place),
            "material": oak["name"],
        }
        for name, (wide, place) in brief.items()
    ]
    for _ in range(3):
        told = agent("check__compare", objects=wanted, nothing_else=True)
        for each in told["differences"]:
            agent(each["fix"]["tool"], **each["fix"]["arguments"])
    assert agent("check__compare", objects=wanted, nothing_else=True)["matches"]
    facts = yield
    shapes = {name: each for name, each in facts["objects"].items() if each["low"]}
    assert {*shapes} == {*brief}
    for name, (wide, place) in brief.items():
        assert close(size(shapes[name]), wide, 0.002), name
        assert close(shapes[name]["origin"], place, 0.002), name
        assert shapes[name]["material"] == "Oak"


@task("Put a chair in place of each marker, turned as the marker is, and take the markers away.")
def replace_markers(agent: Agent) -> Work:
    angles = {"Mark0": 0.0, "Mark1": 90.0, "Mark2": 180.0, "Mark3": 45.0}
    agent.shapes(
        *(
            agent.shape("cone", name, (0.2, 0.2, 0.1), (n * 1.5, n % 2, 0), angle)
            for n, (name, angle) in enumerate(angles.items())
        )
    )
    listed = agent("scene__list_objects", pattern="Mark*", details=True)["objects"]
    for marker in listed:
        seat = agent("structure__create_empty", name=f"Chair_{marker['name']}")["created"][0]
        parts = agent.shapes(
            agent.shape("cube", f"Seat_{marker['name']}", (0.45, 0.45, 0.05), (0, 0, 0.42)),
            agent.shape("cube", f"Back_{marker['name']}", (0.45, 0.05, 0.5), (0, 0.2, 0.47)),
        )
        for part in parts:
            agent("scene__set_parent", name=part, parent=seat)
        foot = [*marker["translate"]]
        foot[1 if agent.upright else 2] = 0
        agent("scene__transform", name=seat, translate=foot, rotate=marker["rotate"])
    agent("scene__delete", names=[marker["path"] for marker in listed])
    facts = yield
    objects = facts["objects"]
    assert not [name for name in objects if name.startswith("Mark")]
    backs = {0: (0, 0.2), 1: (1.3, 1), 2: (3, -0.2)}
    for n, (x, y) in backs.items():
        assert close(objects[f"Back_Mark{n}"]["origin"], [x, y, 0.72], 1e-3), n
        assert objects[f"Back_Mark{n}"]["parent"] == f"Chair_Mark{n}"


@task("Sort what is here into groups: walls, doors and plants, by their names; nothing else.")
def sorting(agent: Agent) -> Work:
    kinds = {"wall": "Walls", "door": "Doors", "plant": "Plants", "misc": ""}
    agent.shapes(
        *(
            agent.shape("cube", f"{kind}_{n}", (0.4, 0.4, 0.4), (n, at, 0))
            for at, kind in enumerate(kinds)
            for n in range(5)
        )
    )
    for kind, group in kinds.items():
        if group:
            listed = agent("scene__list_objects", pattern=f"{kind}_*")["objects"]
            paths = [each["path"] for each in listed]
            agent("structure__create_group", name=group, objects=paths)
    facts = yield
    for kind, group in kinds.items():
        if group:
            assert {*facts["groups"][group]} == {f"{kind}_{n}" for n in range(5)}
    grouped = {name for names in facts["groups"].values() for name in names}
    assert not [name for name in grouped if name.startswith("misc")]


@task("The wood is missing since its picture was moved to another folder: find it and fix that.")
def relink(agent: Agent) -> Work:
    old, new = agent.folder / "old.png", agent.folder / "textures" / "wood.png"
    new.parent.mkdir()
    write_checkers(old, b"\x7a\x4f\x2b", b"\x60\x3c\x1e")
    (floor,) = agent.shapes(agent.shape("plane", "Floor", (4, 4, 0), (0, 0, 0)))
    agent("materials__create", name="Wood", objects=[floor])
    agent("materials__set_texture", name="Wood", slot="color", path=str(old))
    old.rename(new)
    told = agent("check__run", rules=["missing_files"])["findings"]
    assert [each["severity"] for each in told] == ["error"], told
    for material in agent("materials__list")["materials"]:
        for slot, each in agent("materials__get", name=material["path"])["textures"].items():
            if each["path"] and each["path"].endswith("old.png"):
                asked = {"slot": slot, "path": str(new)}
                agent("materials__set_texture", name=material["path"], **asked)
    left = agent("check__run", rules=["missing_files"])["findings"]
    assert not [each for each in left if each["severity"] == "error"], left
    facts = yield
    assert facts["materials"]["Wood"]["textures"]
    assert "wood.png" in facts["pictures"]


@task("Make everything red chrome, whatever its material is called; leave the rest alone.")
def recolour(agent: Agent) -> Work:
    colors = {"Hood": "#b01010", "Door": "#c41a1a", "Roof": "#1030a0", "Sill": "#202020"}
    for n, (name, color) in enumerate(colors.items()):
        (path,) = agent.shapes(agent.shape("cube", name, (1, 0.5, 0.2), (n * 1.2, 0, 0)))
        agent("materials__create", name=f"Paint{n}", color=color, objects=[path])
    for each in agent("materials__list")["materials"]:
        told = agent("materials__get", name=each["path"])
        red, green, blue = told["color"]
        if red > 4 * max(green, blue):
            chrome = {"color": "#d8d8dc", "metalness": 1, "roughness": 0.05}
            agent("materials__set", name=each["path"], **chrome)
    facts = yield
    metal = {
        name: facts["materials"][each["material"]]["metalness"]
        for name, each in facts["objects"].items()
        if each["material"]
    }
    assert metal == {"Hood": 1, "Door": 1, "Roof": 0, "Sill": 0}

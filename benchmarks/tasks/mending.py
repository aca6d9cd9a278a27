"""Tasks that read, correct and hand on what is there."""

from __future__ import annotations

from agent import Agent, Work, close, size, task

#: A set in centimetres, as an application with Y up writes it.
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
#: The same as above, wrongly said to be in metres.
IN_WRONG_UNITS = IN_CENTIMETRES.replace("= 0.01", "= 1").replace('"Crate"', '"Giant"')


@task("Clean up: mend what the check says can be mended.")
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


@task("Bring in this set, which was made in centimetres, at its real size.")
def retarget_units(agent: Agent) -> Work:
    file = agent.folder / "set.usda"
    file.write_text(IN_CENTIMETRES)
    agent("usd__import_usd", path=str(file))
    facts = yield
    (crate,) = [each for name, each in facts["objects"].items() if name.startswith("Crate")]
    assert close(size(crate), [0.5, 0.5, 0.5])
    assert close(crate["low"], [0.75, -0.25, 0.0])


@task("This crate came in a hundred times too large; bring it to half a metre, on the ground.")
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
    agent("batch__run", calls=calls)
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
    agent("batch__run", calls=calls)
    facts = yield
    for n in range(3):
        custom = facts["objects"][f"Asset{n}"]["custom"]
        assert (custom["author"], custom["version"]) == ("Mira", n + 1)
        assert bool(custom["approved"]) is (n > 0)


@task("Twenty bollards along the quay, two metres apart, all like the first one.")
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
    agent("batch__run", calls=calls)
    facts = yield
    posts = [each for name, each in facts["objects"].items() if name.startswith("Bollard")]
    assert sorted(round(each["origin"][0]) for each in posts) == [n * 2 for n in range(20)]
    assert all((each["material"] or "").startswith("Iron") for each in posts)


@task("Hand the props on as a USD file, and check that file.")
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

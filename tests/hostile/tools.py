"""Bad input for every argument of every tool that ships, generated from the tools' own schemas.

    cd tests && python -m hostile.tools [openusd | blender] [--count N] [--seed N] [--tool NAME …]

A refusal is a readable sentence and changes nothing. A change can be undone. No other exception is
raised.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.host import ANIMATION, LIGHTS, MATERIALS, SCENE_READ, STRUCTURE, Host
from callboard.ports.capability_names import NETWORK
from callboard.ports.network import SERVERS, Network
from callboard.skills.discovery import scan_and_load
from callboard_testing.direct_calls import DirectCaller
from hostile.making import NUMBERS, TEXTS

#: Skills whose tools run code, take a long time, or replace the host's own settings.
_LEFT_OUT = ("script", "script-on-file", "render", "viewport", "docs")
_SCENE: tuple[tuple[str, Json], ...] = (
    ("scene__create_primitive", {"kind": "cube", "name": "Cube"}),
    ("scene__create_primitive", {"kind": "sphere", "name": "Ball", "translate": [1, 2, 3]}),
    ("scene__create_primitive", {"kind": "plane", "name": "Floor"}),
    ("scene__set_parent", {"name": "Ball", "parent": "Cube"}),
    ("materials__create", {"name": "Gold", "color": [1, 0.8, 0.2], "objects": ["Cube"]}),
    ("lights__create", {"kind": "point", "name": "Lamp"}),
    ("cameras__create", {"name": "Camera"}),
    ("structure__create_group", {"name": "Props", "objects": ["Cube"]}),
    ("attributes__set", {"name": "Cube", "attribute": "mood", "value": "calm"}),
)
#: Names of attributes that exist in at least one of the hosts.
_ATTRIBUTES = (
    *("radius", "visibility", "purpose", "points", "xformOpOrder", "primvars:displayColor", "mood"),
    *("inputs:intensity", "size", "extent", "faceVertexIndices", "orientation", "clippingRange"),
    *("hide_render", "data.energy", "data.lens", "location", "rotation_mode", "display_type"),
    *("data.clip_end", "parent_type", "color", "lock_location", "data.color", "pass_index", "mode"),
    *("instance_type", "track_axis", "empty_display_size", "data.use_auto_texspace", '["mood"]'),
)
_NAMES = ("Cube", "Ball", "Floor", "Gold", "Lamp", "Camera", "Props", "mood", "Nobody")
#: For each skill, an existing name of the kind that its tools accept. The tools of other skills
#: accept an object's name.
_OWN = {"materials": "Gold", "lights": "Lamp", "cameras": "Camera", "structure": "Props"}
_anything = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


def fitting(schema: Json, folder: Path) -> st.SearchStrategy[Any]:
    """Return a strategy for values that the schema accepts. It often draws the schema's limits."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kinds = schema.get("type", ["boolean", "number", "string"])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return st.one_of([_of_kind(kind, schema, folder) for kind in kinds])


def _of_kind(kind: str, schema: Json, folder: Path) -> st.SearchStrategy[Any]:
    if kind in ("number", "integer"):
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1e12))
        high = schema.get("maximum", schema.get("exclusiveMaximum", 1e12))
        edges = st.sampled_from((low, high, max(low, min(high, 1)), max(low, min(high, 2))))
        if kind == "integer":
            return edges.map(int) | st.integers(int(low), int(high))
        inner = {"exclude_min": "exclusiveMinimum" in schema}
        return edges | st.floats(low, high, allow_nan=False, width=64, **inner)
    if kind == "string":
        if schema.get("format") == "workspace-path":
            names = ("scene.usda", "scene.blend", "missing.usd", "a.glb", "a.obj", "no/such/x.usda")
            return st.sampled_from([str(folder / name) for name in (*names, "a.png", "", "x.txt")])
        names = st.sampled_from(_NAMES)
        return st.one_of(names, names, names, st.sampled_from(TEXTS), st.text(max_size=20))
    if kind == "array":
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 4), 4)
        items = fitting(schema.get("items", {}), folder)
        return st.lists(items, min_size=least, max_size=max(least, most))
    if kind == "object":
        return arguments(schema, folder)
    return {"boolean": st.booleans(), "null": st.none()}[kind]


def arguments(schema: Json, folder: Path) -> st.SearchStrategy[Json]:
    needed = set(schema.get("required", ()))
    parts = {key: fitting(part, folder) for key, part in schema.get("properties", {}).items()}
    if "attribute" in parts:
        parts["attribute"] = st.sampled_from(_ATTRIBUTES) | parts["attribute"]
    return st.fixed_dictionaries(
        {key: part for key, part in parts.items() if key in needed},
        optional={key: part for key, part in parts.items() if key not in needed},
    )


@st.composite
def spoiled(draw: st.DrawFn, tool: str, schema: Json, folder: Path) -> Json:
    """Draw fitting arguments, mostly with existing names. In half of the cases, replace one of them
    with an arbitrary value. No path leaves the folder."""
    given_: Json = draw(arguments(schema, folder))
    if draw(st.integers(0, 3)):
        there = {"name": _OWN.get(tool.split("__")[0], "Cube"), "objects": ["Cube", "Ball"]}
        given_.update({key: there[key] for key in there.keys() & given_.keys()})
    keys = [
        key
        for key, part in schema.get("properties", {}).items()
        if "workspace-path" not in json.dumps(part)
    ]
    if keys and draw(st.booleans()):
        key = draw(st.sampled_from([*keys, "unheard"]))
        given_[key] = draw(_anything)
    return given_


class ToolsUnderFire:
    """One host with a small scene, and every tool of the skills that ship for it."""

    def __init__(self, host: Host, folder: Path) -> None:
        # Nothing answers there, and no other server is asked.
        nobody = Network(dict.fromkeys(SERVERS, "http://127.0.0.1:9"))
        host.set_ports({**host.ports, NETWORK: nobody})
        self.call = DirectCaller(host)
        self.host = host
        self._folder = folder
        self.outcomes: Counter[str] = Counter()
        skills, _ = scan_and_load(host.identity.kind, host.skill_paths)
        self.schemas = {
            skill.wire_name(tool.name): tool.input_schema
            for skill in skills
            for tool in skill.tools
            if skill.name not in _LEFT_OUT and not self.call.missing(skill.wire_name(tool.name))
        }
        self.build()

    def build(self) -> None:
        names = self.host.ports[SCENE_READ].names()  # type: ignore[attr-defined]
        if STRUCTURE in self.host.ports:
            self.call("structure__new_scene", {"discard_changes": True})
        elif names:
            self.call("scene__delete", {"names": names})
        for tool, asked in _SCENE:
            self.call(tool, asked)
        if ANIMATION in self.host.ports:
            keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in (1, 10)]
            self.call("animation__set_keys", {"name": "Floor", "keys": keys})

    def state(self) -> str:
        ports: Any = self.host.ports
        reader = ports[SCENE_READ]
        told: list[Any] = [{**reader.get(each), **reader.details(each)} for each in reader.names()]
        told += [ports[kind].get(name) for kind in (MATERIALS, LIGHTS) for name in
                 ports[kind].names()]  # fmt: skip
        told += [[group, ports[STRUCTURE].members(group)] for group in ports[STRUCTURE].groups()]
        told.append(reader.selection())
        if ANIMATION in ports:
            told.append(ports[ANIMATION].timeline())
        return json.dumps(told, sort_keys=True, default=str)

    def fire(self, tool: str, asked: Json) -> None:
        """Call a tool. Raises AssertionError if a guarantee is broken."""
        before, refusal = self.state(), None
        try:
            self.call(tool, asked)
        except (CallboardError, ValueError, LookupError) as error:
            refusal = error
        after = self.state()
        if refusal is not None:
            self.outcomes["refused"] += 1
            assert not isinstance(refusal, (KeyError, IndexError)), repr(refusal)
            assert str(refusal).strip(), repr(refusal)
            assert after == before, f"a refused call changed the scene: {refusal}"
            return
        self.outcomes["done"] += 1
        undo, step = self.host.undo, self.call.undo_id
        if after == before:
            return  # The step may belong to an earlier call.
        if undo is not None and step and undo.undo(step):
            assert self.state() == before, "the undo did not restore the scene"
        else:
            self.build()

    def check(self, tool: str, count: int, number: int) -> None:
        """Test ``count`` random inputs for one tool. ``number`` is the seed."""

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(spoiled(tool, self.schemas[tool], self._folder))
        def held(asked: Json) -> None:
            try:
                self.fire(tool, asked)
            except BaseException:
                self.build()
                raise

        held()


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile.tools", description=__doc__)
    parser.add_argument("host", nargs="?", choices=("openusd", "blender"), default="openusd")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", nargs="*", default=())
    asked = parser.parse_args()
    from callboard.host_kit.headless import make_host

    failed = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        began = perf_counter()
        fire = ToolsUnderFire(make_host(asked.host, lambda fn: None), Path(folder))
        tools = asked.tool or sorted(fire.schemas)
        for tool in tools:
            try:
                fire.check(tool, max(1, asked.count // len(tools)), asked.seed)
            except BaseException as error:
                failed += 1
                notes = " ".join(getattr(error, "__notes__", ()))
                print(f"{tool}: {type(error).__name__} {error} {notes}"[:1500], flush=True)
        seconds = round(perf_counter() - began, 1)
        told = {"tools": len(tools), "failed": failed, "seconds": seconds, **fire.outcomes}
        print(json.dumps(told), flush=True)
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()

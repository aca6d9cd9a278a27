"""Checks lights, and the scene's environment."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    LIGHTS,
    SCENE_MUTATE,
    SCENE_READ,
    ObjectNotFound,
)
from callboard.host_kit.aim import placed
from callboard_testing.checks.materials import picture
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

#: The values that each kind has in addition to a color and a power.
KINDS: dict[str, Json] = {
    "sun": {"angle": 2.0},
    "point": {"size": 0.5},
    "spot": {"size": 0.5, "angle": 40.0, "blend": 0.25},
    "area": {"size": [3.0, 2.0]},
}
_READING = ("names", "get", "environment")


def _make(bench: Bench, kind: str, **asked: Any) -> str:
    path: str = bench.call("lights__create", {"kind": kind, **asked})["created"][0]
    return path


def _all(bench: Bench) -> list[Json]:
    port = bench.port(LIGHTS)
    return [port.environment(), *map(port.get, port.names()), *bench.everything()]


def _shines(bench: Bench, path: str, target: list[float]) -> bool:
    """Return whether the light at ``path`` shines at the point."""
    rows = placed(bench.reader, path)
    way = [a - b for a, b in zip(target, rows[3], strict=True)]
    length, size = (sqrt(sum(v * v for v in vector)) for vector in (way, rows[2]))
    return close([v / length for v in way], [-v / size for v in rows[2]])


class Lights:
    needs = (SCENE_READ, SCENE_MUTATE, LIGHTS)

    def test_every_kind_has_its_values(self, bench: Bench) -> None:
        for kind, own in KINDS.items():
            asked = {"color": [1.0, 0.5, 0.25], "power": 50.0, **own}
            path = _make(bench, kind, name=f"My{kind}", **asked)
            light = bench.port(LIGHTS).get(path)
            assert (light["kind"], light["path"]) == (kind, path)
            for key, value in asked.items():
                actual = light[key]
                if key == "size":
                    value = value if isinstance(value, list) else [value, value]
                pair = (value, actual) if isinstance(value, list) else ([value], [actual])
                assert close(*pair), (kind, key)

    def test_it_shines_down_where_nothing_else_is_said(self, bench: Bench) -> None:
        upright = bench.reader.info()["up_axis"] == "Y"
        for kind in KINDS:
            path = _make(bench, kind, translate=[1, 2, 3])
            assert _shines(bench, path, [1, -5, 3] if upright else [1, 2, -5]), kind

    def test_a_size_changes_no_power(self, bench: Bench) -> None:
        for kind in ("point", "spot", "area"):
            path = _make(bench, kind, power=80.0)
            answer = bench.call("lights__set", {"name": path, "size": 4})
            assert close([answer["light"]["power"]], [80.0]), kind

    def test_power_and_the_hosts_own_number_are_one(self, bench: Bench) -> None:
        for kind in KINDS:
            path = _make(bench, kind, power=10.0)
            before = bench.port(LIGHTS).get(path)["intensity"]
            answer = bench.call("lights__set", {"name": path, "intensity": before * 3})
            assert close([answer["light"]["power"]], [30.0]), kind

    def test_it_looks_at_an_object_or_a_point(self, bench: Bench) -> None:
        cube = bench.cube("Cube")
        bench.editor.set_transform(cube, [5, 1, -2], None, None)
        path = _make(bench, "spot", translate=[-3, 4, 2], look_at="Cube")
        assert _shines(bench, path, [5, 1, -2])
        bench.call("lights__set", {"name": path, "look_at": [0, 0, 0]})
        assert _shines(bench, path, [0, 0, 0])
        bench.call("lights__set", {"name": path, "look_at": [-3, 40, 2]})
        assert _shines(bench, path, [-3, 40, 2])
        # The same must hold below an object that is rotated and scaled.
        bench.editor.set_transform(cube, None, [10, 50, 100], [2, 2, 2])
        path = bench.editor.set_parent(path, cube, True)
        bench.call("lights__set", {"name": path, "look_at": [1, 2, 3]})
        assert _shines(bench, path, [1, 2, 3])

    def test_a_copy_is_set_alone(self, bench: Bench) -> None:
        path = _make(bench, "point", power=10.0)
        copy = bench.editor.duplicate(path, "Copy")
        bench.call("lights__set", {"name": copy, "power": 20, "color": "#00ff00"})
        assert close([bench.port(LIGHTS).get(path)["power"]], [10.0])

    def test_a_temperature_is_a_colour(self, bench: Bench) -> None:
        warm, cold = (
            bench.call("lights__create", {"kind": "point", "kelvin": kelvin})["light"]["color"]
            for kelvin in (2700, 12000)
        )
        assert warm[0] > warm[1] > warm[2]
        assert cold[2] > cold[0]

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        cube, path = bench.cube("Cube"), _make(bench, "point", name="Lamp")
        before = _all(bench)
        wrong: list[tuple[str, Json]] = [
            ("create", {"kind": "sun", "size": 2}),
            ("create", {"kind": "torch"}),
            ("create", {"kind": "point", "color": "#fff", "kelvin": 3000}),
            ("set", {"name": path}),
            ("set", {"name": path, "angle": 30}),
            ("set", {"name": cube, "power": 1}),
            ("set", {"name": "Lmap", "power": 1}),
            ("set", {"name": path, "look_at": "Nobody"}),
            ("three_point", {"objects": ["Nobody"]}),
        ]
        for tool, asked in wrong:
            raised((ValueError, HostError, ObjectNotFound), bench.call, f"lights__{tool}", asked)  # type: ignore[arg-type]
            assert _all(bench) == before, (tool, asked)

    def test_three_lights_shine_at_the_objects(self, bench: Bench) -> None:
        bench.editor.set_transform(bench.cube("Cube"), [5, 1, -2], None, None)
        answer = bench.call("lights__three_point", {"objects": ["Cube"]})
        powers = [bench.port(LIGHTS).get(path)["power"] for path in answer["created"]]
        assert all(_shines(bench, path, [5, 1, -2]) for path in answer["created"])
        assert powers[0] > powers[2] > powers[1]
        assert bench.call("lights__list")["total"] == 3

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        bench.cube("Cube")
        path = _make(bench, "spot", name="Lamp", translate=[1, 2, 3])
        changes: list[tuple[str, Json]] = [
            ("create", {"kind": "area", "power": 7, "translate": [1, 1, 1]}),
            ("set", {"name": path, "power": 7, "look_at": "Cube"}),
            ("three_point", {"objects": ["Cube"]}),
        ]
        for tool, asked in changes:
            check_change(bench, LIGHTS, _READING, f"lights__{tool}", asked, lambda: _all(bench))


class Environment:
    needs = (SCENE_READ, SCENE_MUTATE, LIGHTS, FILESYSTEM_READ)

    def test_a_colour_and_a_picture_surround_the_scene(self, bench: Bench) -> None:
        asked: Json = {"color": [0.25, 0.5, 1.0], "strength": 2}
        reported = bench.call("lights__set_environment", asked)["environment"]
        assert (reported["kind"], reported["path"]) == ("color", None)
        assert close(reported["color"], [0.25, 0.5, 1.0])
        file = picture(bench.folder)
        asked = {"path": file, "rotate": 40}
        reported = bench.call("lights__set_environment", asked)["environment"]
        assert reported["kind"] == "image"
        assert Path(reported["path"]).samefile(file)
        assert close([reported["strength"], reported["rotate"]], [2.0, 40.0])
        reported = bench.call("lights__set_environment", {"strength": 0.5})["environment"]
        assert close([reported["strength"], reported["rotate"]], [0.5, 40.0])
        assert bench.call("lights__list")["environment"] == reported

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        bench.call("lights__set_environment", {"color": "#102030"})
        before = _all(bench)
        both = {"color": [0, 0, 0], "path": picture(bench.folder)}
        for asked in ({}, both, {"path": str(bench.folder / "missing.hdr")}):
            raised((ValueError, HostError), bench.call, "lights__set_environment", asked)  # type: ignore[arg-type]
            assert _all(bench) == before

    def test_the_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        bench.call("lights__set_environment", {"color": [0.1, 0.1, 0.1], "strength": 1})
        for asked in ({"path": picture(bench.folder), "rotate": 90}, {"strength": 3}):
            check_change(
                bench, LIGHTS, _READING, "lights__set_environment", asked, lambda: _all(bench)
            )


class SavedLights:
    needs = (SCENE_READ, SCENE_MUTATE, LIGHTS, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_they_are_in_the_file(self, bench: Bench) -> None:
        for kind, own in KINDS.items():
            _make(bench, kind, power=5.0, color="#ff8800", translate=[1, 2, 3], **own)
        asked = {"path": picture(bench.folder), "rotate": 30, "strength": 2}
        bench.call("lights__set_environment", asked)
        before = bench.call("lights__list")
        file = str(bench.folder / f"lights{bench.port(FILESYSTEM_WRITE).suffixes[0]}")
        bench.call("scene__save_file", {"path": file})
        bench.call("scene__open_file", {"path": file, "discard_changes": True})
        assert bench.call("lights__list") == before

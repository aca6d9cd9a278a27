"""Checks cameras: their values, their directions, and framing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    CAMERAS,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    ObjectNotFound,
)
from callboard.host_kit.aim import placed
from callboard.skill_kit.framing import corners, filled
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

VALUES: Json = {
    "lens": 85.0,
    "sensor": 24.0,
    "clip": [0.5, 500.0],
    "focus_distance": 12.5,
    "fstop": 2.8,
}
ANGLES = ("front", "back", "left", "right", "top", "bottom", "three_quarter")
_READING = ("names", "get")


def _make(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def _all(bench: Bench) -> list[Json]:
    port = bench.port(CAMERAS)
    return [*map(port.get, port.names()), *bench.everything()]


def _fills(bench: Bench, path: str, *names: str) -> list[float]:
    """Return how much of the picture the objects fill, judging by the host's own positions and
    angles."""
    boxes = [(box["min"], box["max"]) for box in (bench.get(name)["bounds"] for name in names)]
    return filled(placed(bench.reader, path), bench.port(CAMERAS).get(path)["fov"], corners(boxes))


class Cameras:
    needs = (SCENE_READ, SCENE_MUTATE, CAMERAS)

    def test_every_value_is_set_and_told(self, bench: Bench) -> None:
        path = _make(bench, name="Hero", **VALUES)
        camera = bench.port(CAMERAS).get(path)
        assert camera["projection"] == "perspective"
        for key, value in VALUES.items():
            pair = (value, camera[key]) if key == "clip" else ([value], [camera[key]])
            assert close(*pair), key
        answer = bench.call("cameras__set", {"name": path, "fstop": 0, "lens": 35})
        assert close([answer["camera"]["fstop"], answer["camera"]["lens"]], [0, 35])
        assert close([answer["camera"]["sensor"]], [24.0])

    def test_a_longer_lens_sees_less(self, bench: Bench) -> None:
        path = _make(bench, lens=50, sensor=36)
        wide = bench.port(CAMERAS).get(path)["fov"]
        assert close([max(wide)], [39.598])
        bench.call("cameras__set", {"name": path, "lens": 100})
        assert bench.port(CAMERAS).get(path)["fov"][0] < wide[0] / 1.9

    def test_one_takes_the_pictures(self, bench: Bench) -> None:
        first, second = _make(bench), _make(bench)

        def active() -> list[str]:
            return [c["path"] for c in bench.call("cameras__list")["cameras"] if c["active"]]

        assert active() == [first]
        bench.call("cameras__set", {"name": second, "active": True})
        assert active() == [second]

    def test_it_looks_at_an_object_or_a_point(self, bench: Bench) -> None:
        cube = bench.cube("Cube", 0.001)
        bench.editor.set_transform(cube, [5, 1, -2], None, None)
        path = _make(bench, translate=[-3, 4, 2])
        bench.call("cameras__look_at", {"name": path, "target": "Cube"})
        assert max(_fills(bench, path, "Cube")) < 0.01
        bench.editor.set_transform(cube, [0, 0, 0], None, None)
        bench.call("cameras__look_at", {"name": path, "target": [0, 0, 0]})
        assert max(_fills(bench, path, "Cube")) < 0.01
        raised(HostError, bench.call, "cameras__look_at", {"name": path, "target": [-3, 4, 2]})

    def test_objects_fill_the_picture_from_every_side(self, bench: Bench) -> None:
        bench.editor.set_transform(bench.cube("One"), [5, 1, -2], [10, 20, 30], [1, 3, 1])
        bench.editor.set_transform(bench.cube("Two"), [-4, 8, 3], None, None)
        path = _make(bench, lens=35)
        for angle in (*ANGLES, None):
            for margin in (0.0, 0.25):
                asked: Json = {"name": path, "objects": ["One", "Two"], "margin": margin}
                asked = asked if angle is None else {**asked, "angle": angle}
                answer = bench.call("cameras__frame", asked)
                fills = _fills(bench, path, "One", "Two")
                assert max(fills) <= 1 - margin + 1e-3, angle
                assert max(fills) > 0.5 * (1 - margin), angle
                assert close(answer["fills"], fills)

    def test_nothing_that_is_framed_is_cut_off(self, bench: Bench) -> None:
        bench.cube("Large", 10000.0)
        path = _make(bench, clip=[1, 10])
        bench.call("cameras__frame", {"name": path, "objects": ["Large"], "angle": "front"})
        assert bench.port(CAMERAS).get(path)["clip"][1] > 20000

    def test_the_front_is_where_the_world_has_it(self, bench: Bench) -> None:
        bench.cube("Cube")
        path = _make(bench)
        bench.call("cameras__frame", {"name": path, "objects": ["Cube"], "angle": "front"})
        x, y, z = bench.get(path)["translate"]
        upright = bench.reader.info()["up_axis"] == "Y"
        assert close([x, y if upright else z], [0, 0])
        assert (z if upright else -y) > 2

    def test_a_copy_is_set_alone(self, bench: Bench) -> None:
        path = _make(bench, lens=50)
        copy = bench.editor.duplicate(path, "Copy")
        bench.call("cameras__set", {"name": copy, "lens": 100})
        assert close([bench.port(CAMERAS).get(path)["lens"]], [50])

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        cube, path = bench.cube("Cube"), _make(bench, name="Hero")
        before = _all(bench)
        wrong: list[tuple[str, Json]] = [
            ("create", {"lens": 0}),
            ("create", {"clip": [5, 1]}),
            ("set", {"name": path}),
            ("set", {"name": cube, "lens": 50}),
            ("set", {"name": "Hreo", "lens": 50}),
            ("look_at", {"name": path, "target": "Nobody"}),
            ("frame", {"name": path, "objects": ["Nobody"]}),
            ("frame", {"name": path, "objects": []}),
        ]
        for tool, asked in wrong:
            raised((ValueError, HostError, ObjectNotFound), bench.call, f"cameras__{tool}", asked)  # type: ignore[arg-type]
            assert _all(bench) == before, (tool, asked)

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        bench.cube("Cube")
        path = _make(bench, name="Hero", translate=[1, 2, 3])
        other = _make(bench, name="Other")
        changes: list[tuple[str, Json]] = [
            ("create", {"lens": 30, "translate": [1, 1, 1]}),
            ("set", {"name": path, "fstop": 4}),
            ("set", {"name": other, "active": True}),
        ]
        for tool, asked in changes:
            check_change(bench, CAMERAS, _READING, f"cameras__{tool}", asked, lambda: _all(bench))
        moves: list[tuple[str, Json]] = [
            ("look_at", {"name": path, "target": "Cube"}),
            ("frame", {"name": path, "objects": ["Cube"], "angle": "three_quarter"}),
        ]
        reading = ("get", "info", "names", "summaries", "selection")
        for tool, asked in moves:
            check_change(
                bench, SCENE_MUTATE, reading, f"cameras__{tool}", asked, lambda: _all(bench)
            )


class SavedCameras:
    needs = (SCENE_READ, SCENE_MUTATE, CAMERAS, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_they_are_in_the_file(self, bench: Bench) -> None:
        _make(bench, name="One", **VALUES, translate=[1, 2, 3], rotate=[10, 20, 30])
        _make(bench, name="Two", active=True)
        before = bench.call("cameras__list")
        file = str(bench.folder / f"cameras{bench.port(FILESYSTEM_WRITE).suffixes[0]}")
        bench.call("scene__save_file", {"path": file})
        bench.call("scene__open_file", {"path": file, "discard_changes": True})
        assert bench.call("cameras__list") == before

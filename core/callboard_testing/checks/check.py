"""Checks that each fault is found and reported with the call that fixes it, and that nothing is
changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import CAMERAS, CHECK, FILESYSTEM_READ, MATERIALS, SCENE_MUTATE, SCENE_READ
from callboard.host_kit.mesh_facts import mesh_facts
from callboard_testing.checks.materials import picture
from callboard_testing.checks.objects import close, raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_PLACES = ["floating", "sunk", "interpenetrating", "doubles"]


def _run(bench: Bench, *rules: str, **asked: Any) -> list[Json]:
    findings: list[Json] = bench.call("check__run", {"rules": list(rules), **asked})["findings"]
    return findings


def _up(bench: Bench, height: float, across: float = 0.0) -> list[float]:
    return [across, 0.0, height] if bench.reader.info()["up_axis"] == "Z" else [across, height, 0.0]


def _place(bench: Bench, name: str, height: float, across: float = 0.0, size: float = 2.0) -> str:
    path = bench.cube(name, size)
    bench.editor.set_transform(path, _up(bench, height, across), None, None)
    return path


class Checking:
    needs = (SCENE_READ, SCENE_MUTATE, CHECK)

    def test_a_scene_that_is_right_has_no_findings(self, bench: Bench) -> None:
        # An application may keep data that no object uses anymore, such as earlier checks'
        # pictures.
        kept = _run(bench, "missing_files")
        _place(bench, "Table", 1.0)
        _place(bench, "Vase", 2.5, size=1.0)
        before = bench.everything()
        assert _run(bench, *_PLACES, "default_names", "scale", "missing_files") == kept
        assert bench.everything() == before

    def test_what_floats_or_sinks_is_mended_by_the_call_that_is_told(self, bench: Bench) -> None:
        above, below = _place(bench, "Above", 4.0), _place(bench, "Below", 0.5, across=10.0)
        reported = {each["object"]: each for each in _run(bench, "floating", "sunk")}
        assert reported[above]["rule"] == "floating"
        assert reported[below]["rule"] == "sunk"
        for each in reported.values():
            bench.call(each["fix"]["tool"], each["fix"]["arguments"])
        assert _run(bench, "floating", "sunk") == []

    def test_what_runs_into_each_other_and_what_is_there_twice_is_told(self, bench: Bench) -> None:
        _place(bench, "Wall", 1.0)
        _place(bench, "Shelf", 1.0, across=1.0)
        assert [each["rule"] for each in _run(bench, "interpenetrating")] == ["interpenetrating"]
        _place(bench, "Twin", 1.0)
        (double,) = _run(bench, "doubles")
        assert "Wall" in f"{double['why']}{double['object']}"
        bench.call(double["fix"]["tool"], double["fix"]["arguments"])
        assert _run(bench, "doubles") == []

    def test_default_names_and_scales_are_told(self, bench: Bench) -> None:
        path = bench.cube("Cube_001")
        bench.editor.set_transform(path, None, None, [1.0, -2.0, 1.0])
        reported = {each["rule"]: each for each in _run(bench, "default_names", "scale")}
        assert reported["default_names"]["object"] == path
        assert "scene__rename" in reported["default_names"]["why"]
        assert "fix" not in reported["default_names"], "only the caller can choose the name"
        assert "negative" in reported["scale"]["why"]

    def test_a_specification_tells_what_differs(self, bench: Bench) -> None:
        path = _place(bench, "Crate", 1.0)
        asked: Json = {"name": "Crate", "size": [2, 2, 2], "center": _up(bench, 1.0)}
        matching = bench.call("check__compare", {"objects": [{**asked, "visible": True}]})
        assert matching == {"matches": True, "differences": []}
        asked = {"name": "Crate", "size": [4, 2, 2], "center": _up(bench, 3.0), "parent": None}
        wrong = bench.call("check__compare", {"objects": [asked, {"name": "Lamp"}]})
        assert [each["what"] for each in wrong["differences"]] == ["size", "center", "object"]
        assert wrong["differences"][0]["object"] == path
        for each in wrong["differences"][:2]:
            bench.call(each["fix"]["tool"], each["fix"]["arguments"])
        assert bench.call("check__compare", {"objects": [asked]})["matches"]
        other = bench.call(
            "check__compare", {"objects": [{"name": bench.cube("Other")}], "nothing_else": True}
        )
        assert [each["object"] for each in other["differences"]] == [path]

    def test_a_mesh_is_told_in_its_own_space_with_its_faces_outwards(self, bench: Bench) -> None:
        path = bench.cube("Crate", 4.0)
        bench.editor.set_transform(path, [5.0, 1.0, 2.0], [10.0, 20.0, 30.0], None)
        mesh = bench.port(CHECK).mesh(path)
        if mesh.counts:  # A shape without faces has no counts.
            corners = [(min(axis), max(axis)) for axis in zip(*mesh.points, strict=True)]
            assert all(close(pair, [-2.0, 2.0]) for pair in corners)
            assert close([mesh_facts(mesh).volume], [64.0])
        assert _run(bench, "non_manifold", "inside_out", "zero_faces", "ngons") == []

    def test_without_a_camera_nothing_is_seen(self, bench: Bench) -> None:
        bench.cube("Crate")
        seen = {"objects": [{"name": "Crate", "seen": True}], "camera": "Crate"}
        raised(HostError, bench.call, "check__compare", seen)


class CheckingPictures:
    needs = (SCENE_READ, SCENE_MUTATE, CHECK, CAMERAS)

    def test_what_a_camera_sees_is_told(self, bench: Bench) -> None:
        bench.cube("Crate")
        camera = bench.call("cameras__create", {"name": "Eye", "translate": [1, 2, 10]})
        path = camera["created"][0]
        bench.call("cameras__look_at", {"name": path, "target": "Crate"})
        asked = {"objects": [{"name": "Crate", "seen": True}], "camera": path}
        assert bench.call("check__compare", asked)["matches"]
        bench.call("cameras__look_at", {"name": path, "target": [1, 2, 90]})
        (seen,) = bench.call("check__compare", asked)["differences"]
        assert seen["what"] == "seen"


class CheckingFiles:
    needs = (SCENE_READ, SCENE_MUTATE, CHECK, MATERIALS, FILESYSTEM_READ)

    def test_a_picture_that_is_gone_is_told(self, bench: Bench) -> None:
        kept = _run(bench, "missing_files")
        file = Path(picture(bench.folder, "gone.png"))
        made = bench.call("materials__create", {"objects": [bench.cube("Crate")]})
        asked = {"name": made["created"][0], "slot": "color", "path": str(file)}
        bench.call("materials__set_texture", asked)
        assert _run(bench, "missing_files") == kept
        file.unlink()
        reported = [each for each in _run(bench, "missing_files") if each not in kept]
        assert len(reported) == 1
        assert file.name in reported[0]["why"]

"""Checks that need a modeller: modifiers, edits of faces, UVs, text and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    EXCHANGE,
    FILESYSTEM_READ,
    GEOMETRY,
    MODELLING,
    SCENE_MUTATE,
    SCENE_READ,
    ObjectNotFound,
)
from callboard_testing.checks.geometry import BOX, CORNERS, shape, told_of, volume_of
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class Modelling:
    needs = (SCENE_READ, SCENE_MUTATE, GEOMETRY, MODELLING, EXCHANGE, FILESYSTEM_READ)

    def test_modifiers_stay_live_until_they_are_applied(self, bench: Bench) -> None:
        path = shape(bench)
        values: dict[str, Json] = {
            "bevel": {"width": 0.25, "segments": 3, "angle": 40},
            "mirror": {"axis": "y"},
            "array": {"count": 3, "offset": [3, 0, 1]},
            "solidify": {"thickness": 0.2},
            "decimate": {"ratio": 0.5},
            "triangulate": {},
            "weld": {"distance": 0.01},
        }
        for kind, asked in values.items():
            reported = bench.call("geometry__modify", {"name": path, "kind": kind, **asked})
            entry = reported["shape"]["modifiers"][-1]
            assert (entry["name"], entry["kind"]) == (reported["modifier"], kind)
            assert reported["shape"]["mesh"]["faces"] == 6
        bevel = reported["shape"]["modifiers"][0]["name"]
        asked = {"name": path, "modifier": bevel, "segments": 1}
        assert bench.call("geometry__modify", asked)["shape"]["modifiers"][0]["segments"] == 1
        bench.call("geometry__remove_modifier", {"name": path, "modifier": bevel})
        before = bench.call("geometry__info", {"name": path})
        assert bevel not in [each["name"] for each in before["modifiers"]]
        after = bench.call("geometry__apply", {"name": path})["shape"]
        assert (after["mesh"], after["modifiers"]) == (before["result"], [])

    def test_a_boolean_cuts_what_it_meets_and_says_where_it_meets_nothing(
        self, bench: Bench
    ) -> None:
        body, cutter, away = (shape(bench) for _ in range(3))
        bench.editor.set_transform(cutter, [1, 1, 1], None, None)
        bench.editor.set_transform(away, [50, 0, 0], None, None)
        asked = {"name": body, "kind": "boolean", "operation": "difference"}
        cut = bench.call("geometry__modify", {**asked, "other": cutter})
        assert cut["verified"] is True
        assert cut["shape"]["modifiers"][0]["other"] == cutter
        bench.call("geometry__apply", {"name": body})
        assert close([volume_of(bench, body)], [7.0], 0.01)
        miss = bench.call("geometry__modify", {**asked, "other": away})
        assert miss["verified"] is False
        assert "doesn't change the shape" in miss["doubt"]

    def test_faces_are_pulled_out_and_bordered(self, bench: Bench) -> None:
        path = bench.cube("Box")
        bench.call("geometry__extrude", {"name": path, "faces": "top", "distance": 1})
        up = "XYZ".index(bench.reader.info()["up_axis"])
        assert close([bench.get(path)["bounds"]["max"][up]], [2.0])
        reported = bench.call("geometry__info", {"name": path})
        assert (reported["mesh"]["faces"], reported["closed"], reported["type"]) == (
            10,
            True,
            "mesh",
        )
        assert close([reported["volume"]], [12.0])
        asked = {"name": path, "faces": "top", "thickness": 0.5, "depth": -0.5}
        bench.call("geometry__inset", asked)
        reported = bench.call("geometry__info", {"name": path})
        assert reported["mesh"]["faces"] == 14
        assert reported["closed"] is True
        assert reported["volume"] < 12
        flat = bench.cube("Flat")
        inside = bench.call("geometry__inset", {"name": flat, "faces": "top", "thickness": 0.5})
        pushed = {"name": flat, "faces": inside["faces"], "distance": -1}
        (floor,) = bench.call("geometry__extrude", pushed)["faces"]
        assert close([volume_of(bench, flat)], [7.0])
        bench.call("geometry__extrude", {"name": flat, "faces": [floor], "distance": 1.5})
        assert close([volume_of(bench, flat)], [8.5])
        plain = shape(bench)
        bench.call("geometry__extrude", {"name": plain, "faces": [0, 2], "distance": 0.5})
        nothing = {"name": plain, "faces": [99], "distance": 1}
        raised(HostError, bench.call, "geometry__extrude", nothing)

    def test_an_applied_scale_leaves_everything_where_it_is(self, bench: Bench) -> None:
        path, below = shape(bench), bench.cube("Below")
        bench.editor.set_transform(path, [1, 2, 3], [0, 0, 30], [2, -1, 0.5])
        below = bench.editor.set_parent(below, path, keep_world=True)
        bench.editor.set_transform(below, [1, 0, 0], None, None)
        boxes = [bench.get(each)["bounds"] for each in (path, below)]
        reported = bench.call("geometry__apply_scale", {"name": path})
        assert reported["verified"] is True
        assert close(bench.get(path)["scale"], [1, 1, 1])
        for box, each in zip(boxes, (path, below), strict=True):
            for end in ("min", "max"):
                assert close(bench.get(each)["bounds"][end], box[end], 1e-4), (each, end)
        assert close([volume_of(bench, path)], [8.0])  # The faces point outwards again.

    def test_a_mesh_is_cleaned(self, bench: Bench) -> None:
        flat = [*BOX, (0, 2, 8)]
        path = shape(bench, flat, [*CORNERS, (-1, 0, -1)])
        asked = {"name": path, "fault": "zero_faces"}
        check_change(bench, MODELLING, (), "geometry__clean", asked, lambda: told_of(bench, path))
        bench.call("geometry__clean", asked)
        reported = bench.call("geometry__info", {"name": path})
        assert reported["closed"] is True
        for _ in range(2):  # The second call finds nothing to fix.
            reported = bench.call("geometry__clean", {"name": path, "fault": "ngons"})
        assert bench.call("geometry__info", {"name": path})["ngons"] == 0
        assert close([volume_of(bench, path)], [8.0])

    def test_points_at_one_place_become_one(self, bench: Bench) -> None:
        loose = [tuple(range(4 * n, 4 * n + 4)) for n in range(6)]
        points = [CORNERS[at] for face in BOX for at in face]
        path = shape(bench, loose, points)
        reported = bench.call("geometry__merge", {"name": path, "distance": 0.001})
        assert reported["merged"] == 16
        assert close([volume_of(bench, path)], [8.0])
        assert bench.call("geometry__merge", {"name": path, "distance": 0.001})["merged"] == 0

    def test_unwrapped_faces_do_not_lie_over_each_other(self, bench: Bench) -> None:
        path = bench.cube("Crate")
        selected = bench.cube("Selected")
        bench.editor.select([selected])
        facts = bench.call("geometry__unwrap", {"name": path})["uvs"]
        assert facts["inside"] is True
        assert facts["overlap"] < 0.02
        assert facts["area"] > 0.2
        assert bench.reader.selection() == [selected]
        error = raised(HostError, bench.call, "geometry__unwrap", {"name": path})
        assert "replace" in str(error)
        asked = {"name": path, "method": "box", "replace": True}
        assert close([bench.call("geometry__unwrap", asked)["uvs"]["area"]], [24.0], 0.05)

    def test_text_and_curves_are_made_as_asked(self, bench: Bench) -> None:
        values: Json = {"size": 2, "depth": 0.5, "align": "center", "translate": [1, 2, 3]}
        reported = bench.call("geometry__create_text", {"text": "Öl 5", "name": "Sign", **values})
        (sign,) = reported["created"]
        assert reported["shape"]["text"] == {
            "text": "Öl 5",
            "size": 2,
            "depth": 0.5,
            "align": "center",
        }
        assert reported["shape"]["result"]["faces"] > 10
        assert close(bench.get(sign)["translate"], [1, 2, 3])
        points = [[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 1]]
        for smooth in (False, True):
            asked = {"points": points, "smooth": smooth, "closed": True, "radius": 0.1}
            curve = bench.call("geometry__create_curve", asked)["shape"]
            assert curve["result"]["faces"] > 10
            assert curve["curve"]["closed"] is True
        modified = {"name": sign, "kind": "bevel", "width": 0.01}
        bench.call("geometry__modify", modified)
        raised(HostError, bench.call, "geometry__triangulate", {"name": sign})

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        path = shape(bench)
        before = told_of(bench, path)
        wrong: list[tuple[str, Json]] = [
            ("modify", {"name": path}),
            ("modify", {"name": path, "kind": "bevel", "ratio": 0.5}),
            ("modify", {"name": path, "kind": "boolean"}),
            ("modify", {"name": path, "kind": "boolean", "other": path}),
            ("modify", {"name": path, "kind": "boolean", "other": "Nobody"}),
            ("modify", {"name": path, "modifier": "None", "width": 1}),
            ("remove_modifier", {"name": path, "modifier": "None"}),
            ("apply", {"name": path}),
            ("merge", {"name": path, "distance": 0}),
            ("extrude", {"name": path, "faces": [], "distance": 1}),
            ("extrude", {"name": path, "faces": "up", "distance": 1}),
            ("extrude", {"name": path, "faces": [0, 99], "distance": 1}),
            ("inset", {"name": path, "faces": "top", "thickness": -1}),
            ("unwrap", {"name": path, "method": "best"}),
            ("clean", {"name": path, "fault": "beauty"}),
            ("create_curve", {"points": [[0, 0, 0]]}),
            ("create_text", {"text": ""}),
        ]
        for tool, asked in wrong:
            raised((ValueError, HostError, ObjectNotFound), bench.call, f"geometry__{tool}", asked)  # type: ignore[arg-type]
            assert told_of(bench, path) == before, (tool, asked)

    def test_no_more_is_made_than_there_is_memory_for(self, bench: Bench) -> None:
        path = shape(bench)
        repeated = {"name": path, "kind": "array", "count": 1000}
        if bench.call("geometry__modify", repeated)["shape"]["result"] is None:
            return
        before = told_of(bench, path)
        asked = {"name": path, "levels": 6}
        error = raised(HostError, bench.call, "geometry__subdivide", asked)
        assert "32,768,000 vertices" in str(error)
        assert told_of(bench, path) == before

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        loose = [tuple(range(4 * n, 4 * n + 4)) for n in range(6)]
        path = shape(bench, loose, [CORNERS[at] for face in BOX for at in face])
        changes: list[tuple[str, Json]] = [
            ("merge", {"distance": 0.01}),
            ("modify", {"kind": "array", "count": 2}),
            ("modify", {"modifier": "Array", "count": 4}),
            ("modify", {"kind": "solidify"}),
            ("remove_modifier", {"modifier": "Solidify"}),
            ("apply", {}),
            ("apply_scale", {}),
            ("extrude", {"faces": "top", "distance": 1}),
            ("inset", {"faces": [0], "thickness": 0.1}),
            ("unwrap", {}),
        ]
        bench.editor.set_transform(path, None, None, [1, 2, 1])
        for tool, asked in changes:
            called = {"name": path, **asked}
            check_change(
                bench, MODELLING, (), f"geometry__{tool}", called, lambda: told_of(bench, path)
            )
            bench.call(f"geometry__{tool}", called)  # This redoes the change for the next tool.
        made: list[tuple[str, Json]] = [
            ("create_text", {"text": "A"}),
            ("create_curve", {"points": [[0, 0, 0], [1, 1, 1]], "radius": 0.1}),
        ]
        for tool, asked in made:
            check_change(
                bench, MODELLING, (), f"geometry__{tool}", asked, lambda: told_of(bench, path)
            )

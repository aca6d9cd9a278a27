"""Shapes: what they are made of, and that a change of one is what it says."""

from __future__ import annotations

from collections.abc import Sequence
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
from callboard.hosting.mesh_facts import faces_of, mesh_facts
from callboard.testing.check_objects import close, raised
from callboard.testing.trust import check_change

if TYPE_CHECKING:
    from callboard.testing.bench import Bench

_READING = ("info", "mesh")
_CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
#: Against the clock, seen from outside.
_BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
_SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


def shape(
    bench: Bench,
    faces: Sequence[Sequence[int]] = _BOX,
    points: Sequence[Sequence[float]] = _CORNERS,
    *,
    uvs: bool = False,
) -> str:
    """A mesh with these faces, each of which has the whole square for its UVs; its path."""
    formats = {each.name: each for each in bench.port(EXCHANGE).formats()}
    places = [_SQUARE[at % 4] for face in faces for at in range(len(face))]
    if ".obj" in formats["obj"].reads:
        file = bench.folder / "Shape.obj"
        lines = ["o Shape", *(f"v {x} {y} {z}" for x, y, z in points)]
        lines += [f"vt {u} {v}" for u, v in places] if uvs else []
        at = 0
        for face in faces:
            words = []
            for corner in face:
                at += 1
                words.append(f"{corner + 1}/{at}" if uvs else str(corner + 1))
            lines.append(f"f {' '.join(words)}")
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        file = bench.folder / "Shape.usda"
        axis = bench.reader.info()["up_axis"]
        indices = ", ".join(str(corner) for face in faces for corner in face)
        st = (
            f" texCoord2f[] primvars:st = [{', '.join(map(str, places))}] (\n"
            '  interpolation = "faceVarying"\n )\n'
        )
        file.write_text(
            f'#usda 1.0\n(\n upAxis = "{axis}"\n)\ndef Xform "Top"\n{{\ndef Mesh "Shape"\n{{\n'
            f" int[] faceVertexCounts = [{', '.join(str(len(face)) for face in faces)}]\n"
            f" int[] faceVertexIndices = [{indices}]\n"
            f" point3f[] points = [{', '.join(map(str, points))}]\n"
            ' uniform token subdivisionScheme = "none"\n' + (st if uvs else "") + "}\n}\n",
            encoding="utf-8",
        )
    created = bench.call("exchange__import", {"path": str(file)})["created"]
    (path,) = [each for each in created if each.rsplit("/", 1)[-1].startswith("Shape")][-1:]
    file.unlink()
    return str(path)


def _volume(bench: Bench, path: str) -> float:
    return mesh_facts(bench.port(GEOMETRY).mesh(path)).volume


def _told(bench: Bench, *paths: str) -> list[object]:
    port = bench.port(GEOMETRY)
    return [*([port.info(path), *_faces(bench, path)] for path in paths), bench.everything()]


def _faces(bench: Bench, path: str) -> list[object]:
    mesh = bench.port(GEOMETRY).mesh(path)
    return [[tuple(each) for each in faces_of(mesh.counts, mesh.corners)], mesh.uvs]


def _placed(bench: Bench, path: str) -> set[object]:
    """Each point with the UVs that it has."""
    mesh = bench.port(GEOMETRY).mesh(path)
    assert mesh.uvs is not None
    return {
        (point, *(round(each, 4) for each in uv))
        for point, uv in zip(mesh.corners, mesh.uvs, strict=True)
    }


class Geometry:
    needs = (SCENE_READ, SCENE_MUTATE, GEOMETRY, EXCHANGE, FILESYSTEM_READ)

    def test_a_shape_is_counted(self, bench: Bench) -> None:
        info = bench.call("geometry__info", {"name": shape(bench)})
        wanted = {"vertices": 8, "edges": 12, "faces": 6, "triangles": 12}
        assert info["mesh"] == wanted
        assert info["result"] in (None, wanted)
        assert (info["closed"], info["uv_sets"], info["modifiers"]) == (True, [], [])
        assert close([info["volume"]], [8.0])
        info = bench.call("geometry__info", {"name": shape(bench, _BOX[1:])})
        assert (info["open_edges"], info["closed"], info["volume"]) == (4, False, None)

    def test_uvs_are_told(self, bench: Bench) -> None:
        told = bench.call("geometry__uv_info", {"name": shape(bench, uvs=True)})
        assert len(told["uv_sets"]) == 1
        assert close([*told["bounds"][0], *told["bounds"][1]], [0, 0, 1, 1])
        assert close([told["area"], told["overlap"]], [6, 1])
        assert told["inside"] is True
        assert bench.call("geometry__uv_info", {"name": shape(bench)})["overlap"] is None
        one = bench.call("geometry__uv_info", {"name": shape(bench, _BOX[:1], uvs=True)})
        assert (one["islands"], one["overlap"]) == (1, 0)

    def test_it_is_rounded_and_edged_again(self, bench: Bench) -> None:
        path = shape(bench)
        told = bench.call("geometry__subdivide", {"name": path, "levels": 3})["shape"]
        assert told["subdivision"]["scheme"] == "catmull_clark"
        if told["result"] is not None:
            assert told["result"]["faces"] == 6 * 4**3
        assert told["mesh"]["faces"] == 6
        again = bench.call("geometry__subdivide", {"name": path, "scheme": "none"})["shape"]
        assert again["subdivision"] == {"scheme": "none", "levels": 0}

    def test_faces_look_where_they_should(self, bench: Bench) -> None:
        turned = [tuple(reversed(_BOX[0])), *_BOX[1:]]
        path = shape(bench, turned)
        assert mesh_facts(bench.port(GEOMETRY).mesh(path)).flipped == 4
        for side, volume in (("outside", 8), ("flip", -8), ("outside", 8), ("inside", -8)):
            bench.call("geometry__normals", {"name": path, "side": side})
            assert close([_volume(bench, path)], [volume]), side
        plane = shape(bench, _BOX[:1], uvs=True)
        before, places = _faces(bench, plane)[0], _placed(bench, plane)
        bench.call("geometry__normals", {"name": plane, "side": "flip"})
        assert _faces(bench, plane)[0] != before
        assert _placed(bench, plane) == places

    def test_triangles_keep_their_uvs(self, bench: Bench) -> None:
        path = shape(bench, uvs=True)
        before = _placed(bench, path)
        told = bench.call("geometry__triangulate", {"name": path})["shape"]["mesh"]
        assert told == {"vertices": 8, "edges": 18, "faces": 12, "triangles": 12}
        assert _placed(bench, path) == before
        assert close([_volume(bench, path)], [8.0])
        # A face that goes inwards at a corner: its triangles stay inside of it.
        points = [(0, 0, 0), (4, 0, 0), (4, 0, 4), (2, 0, 1), (0, 0, 4)]
        arrow = shape(bench, [(0, 4, 3, 2, 1)], points)
        bench.call("geometry__triangulate", {"name": arrow})
        mesh = bench.port(GEOMETRY).mesh(arrow)
        areas = 0.0
        for a, b, c in faces_of(mesh.counts, mesh.corners):
            (ax, _, az), (bx, _, bz), (cx, _, cz) = (mesh.points[each] for each in (a, b, c))
            areas += abs((bx - ax) * (cz - az) - (cx - ax) * (bz - az)) / 2
        assert close([areas], [10.0], 0.01)

    def test_light_runs_over_edges_or_stops(self, bench: Bench) -> None:
        path = shape(bench)
        for asked, words in (
            ({"smooth": True}, ["smooth"]),
            ({"smooth": False}, ["flat"]),
            ({"smooth": True, "angle": 30}, ["mixed"]),
            ({"smooth": True}, ["smooth"]),
        ):
            told = bench.call("geometry__shade", {"name": path, **asked})
            assert told["shape"]["shading"] in words, asked

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        path = shape(bench)
        before = _told(bench, path)
        wrong: list[tuple[str, Json]] = [
            ("info", {"name": "Nobody"}),
            ("uv_info", {"name": "Nobody"}),
            ("subdivide", {"name": path, "levels": 0}),
            ("subdivide", {"name": path, "scheme": "loop"}),
            ("normals", {"name": path, "side": "up"}),
            ("triangulate", {"name": "Nobody"}),
            ("shade", {"name": path, "smooth": False, "angle": 30}),
        ]
        for tool, asked in wrong:
            raised((ValueError, HostError, ObjectNotFound), bench.call, f"geometry__{tool}", asked)  # type: ignore[arg-type]
            assert _told(bench, path) == before, (tool, asked)

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        path = shape(bench, [tuple(reversed(face)) for face in _BOX], uvs=True)
        changes: list[tuple[str, Json]] = [
            ("shade", {"smooth": True}),
            ("subdivide", {"levels": 1}),
            ("normals", {}),
            ("normals", {"side": "flip"}),
            ("triangulate", {}),
        ]
        for tool, asked in changes:
            check_change(
                bench,
                GEOMETRY,
                _READING,
                f"geometry__{tool}",
                {"name": path, **asked},
                lambda: _told(bench, path),
            )


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
            told = bench.call("geometry__modify", {"name": path, "kind": kind, **asked})
            entry = told["shape"]["modifiers"][-1]
            assert (entry["name"], entry["kind"]) == (told["modifier"], kind)
            assert told["shape"]["mesh"]["faces"] == 6
        bevel = told["shape"]["modifiers"][0]["name"]
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
        assert close([_volume(bench, body)], [7.0], 0.01)
        miss = bench.call("geometry__modify", {**asked, "other": away})
        assert miss["verified"] is False
        assert "changes nothing" in miss["doubt"]

    def test_faces_are_pulled_out_and_bordered(self, bench: Bench) -> None:
        path = bench.cube("Box")
        bench.call("geometry__extrude", {"name": path, "faces": "top", "distance": 1})
        up = "XYZ".index(bench.reader.info()["up_axis"])
        assert close([bench.get(path)["bounds"]["max"][up]], [2.0])
        told = bench.call("geometry__info", {"name": path})
        assert (told["mesh"]["faces"], told["closed"], told["type"]) == (10, True, "mesh")
        assert close([told["volume"]], [12.0])
        asked = {"name": path, "faces": "top", "thickness": 0.5, "depth": -0.5}
        bench.call("geometry__inset", asked)
        told = bench.call("geometry__info", {"name": path})
        assert told["mesh"]["faces"] == 14
        assert told["closed"] is True
        assert told["volume"] < 12
        plain = shape(bench)
        bench.call("geometry__extrude", {"name": plain, "faces": [0, 2], "distance": 0.5})
        nothing = {"name": plain, "faces": [99], "distance": 1}
        raised(HostError, bench.call, "geometry__extrude", nothing)

    def test_points_at_one_place_become_one(self, bench: Bench) -> None:
        loose = [tuple(range(4 * n, 4 * n + 4)) for n in range(6)]
        points = [_CORNERS[at] for face in _BOX for at in face]
        path = shape(bench, loose, points)
        told = bench.call("geometry__merge", {"name": path, "distance": 0.001})
        assert told["merged"] == 16
        assert close([_volume(bench, path)], [8.0])
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
        told = bench.call("geometry__create_text", {"text": "Öl 5", "name": "Sign", **values})
        (sign,) = told["created"]
        assert told["shape"]["text"] == {"text": "Öl 5", "size": 2, "depth": 0.5, "align": "center"}
        assert told["shape"]["result"]["faces"] > 10
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
        before = _told(bench, path)
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
            ("create_curve", {"points": [[0, 0, 0]]}),
            ("create_text", {"text": ""}),
        ]
        for tool, asked in wrong:
            raised((ValueError, HostError, ObjectNotFound), bench.call, f"geometry__{tool}", asked)  # type: ignore[arg-type]
            assert _told(bench, path) == before, (tool, asked)

    def test_no_more_is_made_than_there_is_memory_for(self, bench: Bench) -> None:
        path = shape(bench)
        repeated = {"name": path, "kind": "array", "count": 1000}
        if bench.call("geometry__modify", repeated)["shape"]["result"] is None:
            return
        before = _told(bench, path)
        asked = {"name": path, "levels": 6}
        error = raised(HostError, bench.call, "geometry__subdivide", asked)
        assert "32,768,000 vertices" in str(error)
        assert _told(bench, path) == before

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        loose = [tuple(range(4 * n, 4 * n + 4)) for n in range(6)]
        path = shape(bench, loose, [_CORNERS[at] for face in _BOX for at in face])
        changes: list[tuple[str, Json]] = [
            ("merge", {"distance": 0.01}),
            ("modify", {"kind": "array", "count": 2}),
            ("modify", {"modifier": "Array", "count": 4}),
            ("modify", {"kind": "solidify"}),
            ("remove_modifier", {"modifier": "Solidify"}),
            ("apply", {}),
            ("extrude", {"faces": "top", "distance": 1}),
            ("inset", {"faces": [0], "thickness": 0.1}),
            ("unwrap", {}),
        ]
        for tool, asked in changes:
            called = {"name": path, **asked}
            check_change(
                bench, MODELLING, (), f"geometry__{tool}", called, lambda: _told(bench, path)
            )
            bench.call(f"geometry__{tool}", called)  # it was undone, and the next one needs it
        made: list[tuple[str, Json]] = [
            ("create_text", {"text": "A"}),
            ("create_curve", {"points": [[0, 0, 0], [1, 1, 1]], "radius": 0.1}),
        ]
        for tool, asked in made:
            check_change(
                bench, MODELLING, (), f"geometry__{tool}", asked, lambda: _told(bench, path)
            )

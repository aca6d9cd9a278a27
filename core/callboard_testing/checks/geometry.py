"""Checks the facts about shapes, and changes to shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    EXCHANGE,
    FILESYSTEM_READ,
    GEOMETRY,
    SCENE_MUTATE,
    SCENE_READ,
    ObjectNotFound,
)
from callboard.host_kit.mesh_facts import faces_of, mesh_facts
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_READING = ("info", "mesh")
CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
#: Counterclockwise, seen from outside.
BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
_SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


def shape(
    bench: Bench,
    faces: Sequence[Sequence[int]] = BOX,
    points: Sequence[Sequence[float]] = CORNERS,
    *,
    uvs: bool = False,
) -> str:
    """Return the path of a mesh with these faces. Each face's UVs fill the whole unit square."""
    info, counts = bench.reader.info(), {}
    formats = {each.name: each for each in bench.port(EXCHANGE).formats()}
    places = [_SQUARE[at % 4] for face in faces for at in range(len(face))]
    if ".obj" in formats["obj"].reads:
        counts = {"meters_per_unit": 1 / info["units_per_meter"], "up_axis": info["up_axis"]}
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
        indices = ", ".join(str(corner) for face in faces for corner in face)
        st = (
            f" texCoord2f[] primvars:st = [{', '.join(map(str, places))}] (\n"
            '  interpolation = "faceVarying"\n )\n'
        )
        file.write_text(
            f'#usda 1.0\n(\n upAxis = "{info["up_axis"]}"\n)\n'
            'def Xform "Top"\n{\ndef Mesh "Shape"\n{\n'
            f" int[] faceVertexCounts = [{', '.join(str(len(face)) for face in faces)}]\n"
            f" int[] faceVertexIndices = [{indices}]\n"
            f" point3f[] points = [{', '.join(map(str, points))}]\n"
            ' uniform token subdivisionScheme = "none"\n' + (st if uvs else "") + "}\n}\n",
            encoding="utf-8",
        )
    created = bench.call("exchange__import", {"path": str(file), **counts})["created"]
    (path,) = [each for each in created if re.split(r"[/|]", each)[-1].startswith("Shape")][-1:]
    file.unlink()
    return str(path)


def volume_of(bench: Bench, path: str) -> float:
    return mesh_facts(bench.port(GEOMETRY).mesh(path)).volume


def told_of(bench: Bench, *paths: str) -> list[object]:
    port = bench.port(GEOMETRY)
    return [*([port.info(path), *_faces(bench, path)] for path in paths), bench.everything()]


def _faces(bench: Bench, path: str) -> list[object]:
    mesh = bench.port(GEOMETRY).mesh(path)
    return [[tuple(each) for each in faces_of(mesh.counts, mesh.corners)], mesh.uvs]


def _placed(bench: Bench, path: str) -> set[object]:
    """Return each point with its UVs."""
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
        info = bench.call("geometry__info", {"name": shape(bench, BOX[1:])})
        assert (info["open_edges"], info["closed"], info["volume"]) == (4, False, None)

    def test_uvs_are_told(self, bench: Bench) -> None:
        reported = bench.call("geometry__uv_info", {"name": shape(bench, uvs=True)})
        assert len(reported["uv_sets"]) == 1
        assert close([*reported["bounds"][0], *reported["bounds"][1]], [0, 0, 1, 1])
        assert close([reported["area"], reported["overlap"]], [6, 1])
        assert reported["inside"] is True
        assert bench.call("geometry__uv_info", {"name": shape(bench)})["overlap"] is None
        one = bench.call("geometry__uv_info", {"name": shape(bench, BOX[:1], uvs=True)})
        assert (one["islands"], one["overlap"]) == (1, 0)

    def test_it_is_rounded_and_edged_again(self, bench: Bench) -> None:
        path = shape(bench)
        reported = bench.call("geometry__subdivide", {"name": path, "levels": 3})["shape"]
        assert reported["subdivision"]["scheme"] == "catmull_clark"
        if reported["result"] is not None:
            assert reported["result"]["faces"] == 6 * 4**3
        assert reported["mesh"]["faces"] == 6
        again = bench.call("geometry__subdivide", {"name": path, "scheme": "none"})["shape"]
        assert again["subdivision"] == {"scheme": "none", "levels": 0}

    def test_faces_look_where_they_should(self, bench: Bench) -> None:
        turned = [tuple(reversed(BOX[0])), *BOX[1:]]
        path = shape(bench, turned)
        assert mesh_facts(bench.port(GEOMETRY).mesh(path)).flipped == 4
        for side, volume in (("outside", 8), ("flip", -8), ("outside", 8), ("inside", -8)):
            bench.call("geometry__normals", {"name": path, "side": side})
            assert close([volume_of(bench, path)], [volume]), side
        plane = shape(bench, BOX[:1], uvs=True)
        before, places = _faces(bench, plane)[0], _placed(bench, plane)
        bench.call("geometry__normals", {"name": plane, "side": "flip"})
        assert _faces(bench, plane)[0] != before
        assert _placed(bench, plane) == places

    def test_triangles_keep_their_uvs(self, bench: Bench) -> None:
        path = shape(bench, uvs=True)
        before = _placed(bench, path)
        reported = bench.call("geometry__triangulate", {"name": path})["shape"]["mesh"]
        assert reported == {"vertices": 8, "edges": 18, "faces": 12, "triangles": 12}
        assert _placed(bench, path) == before
        assert close([volume_of(bench, path)], [8.0])
        # The triangles of a face with a concave corner must stay inside the face.
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
        # One side is two triangles, so one edge is flat.
        path = shape(bench, [*BOX[1:], (0, 1, 3), (0, 3, 2)])
        for asked, words in (
            ({"smooth": True}, ["smooth"]),
            ({"smooth": False}, ["flat"]),
            ({"smooth": True, "angle": 30}, ["mixed"]),
            ({"smooth": True}, ["smooth"]),
        ):
            reported = bench.call("geometry__shade", {"name": path, **asked})
            assert reported["shape"]["shading"] in words, asked
        reported = bench.call(
            "geometry__shade", {"name": shape(bench), "smooth": True, "angle": 30}
        )
        assert reported["shape"]["shading"] in ("mixed", "flat")

    def test_what_makes_no_sense_changes_nothing(self, bench: Bench) -> None:
        path = shape(bench)
        before = told_of(bench, path)
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
            assert told_of(bench, path) == before, (tool, asked)

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        path = shape(bench, [tuple(reversed(face)) for face in BOX], uvs=True)
        changes: list[tuple[str, Json]] = [
            # The file or its host decides whether a shape is smooth.
            ("shade", {"smooth": bench.port(GEOMETRY).info(path)["shading"] != "smooth"}),
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
                lambda: told_of(bench, path),
            )

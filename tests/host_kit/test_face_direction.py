"""The direction of faces, the triangles of a face and facts about UVs, without a host."""

from __future__ import annotations

import pytest

from callboard.host_kit.face_direction import normals_of, outward, triangles_of
from callboard.ports.check import MeshData
from callboard.skill_kit.uv_facts import uv_facts

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def mesh(faces: list[tuple[int, ...]], points: object = CORNERS, uvs: object = None) -> MeshData:
    corners = [at for face in faces for at in face]
    return MeshData(points, [len(face) for face in faces], corners, uvs)  # type: ignore[arg-type]


@pytest.mark.parametrize("turned", [(), (0,), (1, 2, 5), range(6)])
def test_faces_are_turned_outside(turned: tuple[int, ...]) -> None:
    faces = [tuple(reversed(face)) if number in turned else face for number, face in enumerate(BOX)]
    assert outward(mesh(faces)) == [number in turned for number in range(6)]


def test_each_part_far_from_the_origin_counts_for_itself() -> None:
    far = [tuple(each + 100 for each in point) for point in CORNERS]
    second = [tuple(at + 8 for at in reversed(face)) for face in BOX]
    assert outward(mesh([*BOX, *second], [*CORNERS, *far])) == [False] * 6 + [True] * 6


@pytest.mark.parametrize(
    "points",
    [
        [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        [(0, 0, 0), (4, 0, 0), (4, 4, 0), (2, 1, 0), (0, 4, 0)],
        [(0, 4, 0), (2, 1, 0), (4, 4, 0), (4, 0, 0), (0, 0, 0)],
        [(0, 0, 1), (0, 4, 1), (0, 4, 5), (0, 1, 2), (0, 0, 5)],
    ],
)
def test_triangles_fill_the_face_and_no_more(points: list[tuple[float, ...]]) -> None:
    def area(corners: list[tuple[float, ...]]) -> float:
        turned = list(zip(corners, [*corners[1:], corners[0]], strict=True))
        across = [
            sum(a[n] * b[m] - a[m] * b[n] for a, b in turned) for n, m in ((1, 2), (2, 0), (0, 1))
        ]
        return float(sum(each * each for each in across) ** 0.5 / 2)

    triangles = triangles_of(points)
    assert len(triangles) == len(points) - 2
    whole = sum(area([points[at] for at in each]) for each in triangles)
    assert whole == pytest.approx(area(points))


@pytest.mark.parametrize("points", [[(0, 0, 0)] * 5, [(n, 0, 0) for n in range(6)], []])
def test_a_broken_face_has_triangles_as_well(points: list[tuple[float, ...]]) -> None:
    assert len(triangles_of(points)) == max(0, len(points) - 2)


def test_normals_of_faces_points_and_corners() -> None:
    flat, kind = normals_of(mesh(BOX), False, None)
    assert (len(flat), kind, flat[0]) == (6, "face", (-1, 0, 0))
    smooth, kind = normals_of(mesh(BOX), True, None)
    assert (len(smooth), kind) == (8, "point")
    assert smooth[7] == pytest.approx([3**-0.5] * 3)
    for angle, same in ((30, False), (120, True)):
        corners, kind = normals_of(mesh(BOX), True, angle)
        assert (len(corners), kind) == (24, "corner")
        assert (corners[0] == pytest.approx(smooth[0])) is same


def test_islands_and_area_of_uvs() -> None:
    square = [(0, 0), (0.25, 0), (0.25, 0.25), (0, 0.25)]
    moved = [(u + 0.5, v) for u, v in square]
    facts = uv_facts(mesh(BOX[:2], uvs=[*square, *moved]))
    assert (facts["islands"], facts["inside"]) == (2, True)
    assert facts["area"] == pytest.approx(0.125)
    assert facts["overlap"] == 0
    assert uv_facts(mesh(BOX[:1], uvs=[(u * 9, v) for u, v in square]))["inside"] is False
    assert uv_facts(mesh(BOX))["islands"] == 0

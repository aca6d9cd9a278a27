"""The facts that are computed about a mesh."""

from __future__ import annotations

import pytest

from callboard.host_kit.mesh_facts import mesh_facts
from callboard.ports.check import MeshData
from callboard.skill_kit.uv_facts import uv_facts

_CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
#: Corners run counterclockwise, seen from outside.
_BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
_SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


def mesh(faces: list[tuple[int, ...]], uvs: list[tuple[float, float]] | None = None) -> MeshData:
    corners = [index for face in faces for index in face]
    return MeshData(_CORNERS, [len(face) for face in faces], corners, uvs)


def test_a_box_is_right() -> None:
    facts = mesh_facts(mesh(_BOX))
    assert facts.volume == pytest.approx(1)
    wrong = (facts.non_manifold, facts.flipped, facts.open_edges, facts.zero_faces, facts.ngons)
    assert wrong == (0, 0, 0, 0, 0)
    assert facts.overlap is None


def test_a_box_inside_out_has_a_negative_volume() -> None:
    assert mesh_facts(mesh([face[::-1] for face in _BOX])).volume == pytest.approx(-1)


def test_one_face_the_wrong_way_round_is_flipped_at_its_edges() -> None:
    facts = mesh_facts(mesh([_BOX[0][::-1], *_BOX[1:]]))
    assert (facts.flipped, facts.non_manifold) == (4, 0)


def test_an_open_box_a_wall_inside_and_what_has_no_area() -> None:
    assert mesh_facts(mesh(_BOX[1:])).open_edges == 4
    assert mesh_facts(mesh([*_BOX, (0, 1, 7, 6)])).non_manifold == 2
    assert mesh_facts(mesh([*_BOX, (0, 1, 1)])).zero_faces == 1
    assert mesh_facts(mesh([(0, 1, 3, 7, 6)])).ngons == 1


def test_uvs_that_lie_on_each_other_overlap() -> None:
    beside = [(u + 2 * n, v) for n in range(6) for u, v in _SQUARE]
    assert mesh_facts(mesh(_BOX, beside)).overlap == 0
    assert mesh_facts(mesh(_BOX, _SQUARE * 6)).overlap == 1
    half = [*_SQUARE, *((u + 0.5, v) for u, v in _SQUARE)]
    assert mesh_facts(mesh(_BOX[:2], half)).overlap == pytest.approx(1 / 3, abs=0.02)
    # If all UVs are at one point, they have no area.
    assert mesh_facts(mesh(_BOX, [(0.0, 0.0)] * 24)).overlap == 1


def test_small_uvs_have_an_area() -> None:
    small = [(u / 1000, v / 1000) for u, v in _SQUARE]
    assert uv_facts(mesh(_BOX, small * 6))["area"] == pytest.approx(6e-6)
    assert uv_facts(mesh(_BOX, [(0.5, 0.5)] * 24))["area"] == 0


def test_nothing_is_no_reason_to_fail() -> None:
    assert mesh_facts(MeshData([], [], [], [])).faces == 0
    broken = mesh(_BOX, [(float("nan"), 0.0)] * 24)
    assert mesh_facts(broken).overlap == 1

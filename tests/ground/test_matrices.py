from __future__ import annotations

import pytest

from callboard.errors import HostError
from callboard.ground.matrices import (
    compose,
    decompose,
    inverse,
    rows_of_sixteen,
    sixteen_of,
    times,
    without_jumps,
)


@pytest.mark.parametrize("turn", [89.9, 90.0, 90.1, -90.0, 0.0])
def test_what_is_taken_apart_can_be_put_together(turn: float) -> None:
    rows = compose([1, 2, 3], [30, turn, 50], [1, 2, -0.5])
    # Single precision, as some applications keep it.
    noisy = [[value + 1e-8 for value in row] for row in rows]
    for matrix in (rows, noisy):
        again = compose(*decompose(matrix))
        for row, other in zip(again, matrix, strict=True):
            assert row == pytest.approx(other, abs=1e-4)


def test_upright_all_of_the_turn_is_about_x() -> None:
    _, rotate, _ = decompose(compose([0, 0, 0], [20, 90, 30], [1, 1, 1]))
    assert rotate == pytest.approx([-10, 90, 0], abs=1e-4)


def test_a_matrix_and_its_inverse_are_nothing() -> None:
    rows = compose([1, 2, 3], [10, 20, 30], [2, 2, 2])
    for row, other in zip(times(rows, inverse(rows)), compose([0] * 3, [0] * 3, [1] * 3),
                          strict=True):  # fmt: skip
        assert row == pytest.approx(other, abs=1e-9)
    with pytest.raises(HostError, match="scaled to zero"):
        inverse(compose([0] * 3, [0] * 3, [1, 0, 1]))


def test_sixteen_numbers_are_four_rows() -> None:
    rows = compose([1, 2, 3], [10, 20, 30], [2, 2, 2])
    assert rows_of_sixteen(sixteen_of(rows)) == rows


def test_angles_go_on_where_they_were() -> None:
    assert without_jumps([[170, 0, 0], [-170, 0, 0], [-150, 0, 0]]) == [
        [170, 0, 0],
        [190, 0, 0],
        [210, 0, 0],
    ]

"""Converts lengths. Channels and commands use the artist's unit, but a matrix is always in
centimeters."""

from __future__ import annotations

from maya import cmds

from callboard.host import Rows

_PER_METER = {
    "mm": 1000.0,
    "cm": 100.0,
    "m": 1.0,
    "km": 0.001,
    "in": 1 / 0.0254,
    "ft": 1 / 0.3048,
    "yd": 1 / 0.9144,
    "mi": 1 / 1609.344,
}


def units_per_meter() -> float:
    return _PER_METER[str(cmds.currentUnit(query=True, linear=True))]


def from_centimetres(rows: Rows) -> Rows:
    """Return one of Maya's matrices with its translation in the artist's unit."""
    return _moved(rows, units_per_meter() / 100.0)


def to_centimetres(rows: Rows) -> Rows:
    return _moved(rows, 100.0 / units_per_meter())


def _moved(rows: Rows, factor: float) -> Rows:
    return [*rows[:3], [value * factor for value in rows[3]]]

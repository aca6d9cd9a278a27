"""Values: points, matrices, colors, names, times; numbers are in single precision."""

from __future__ import annotations

import struct
from math import sqrt


def single(value) -> float:
    return struct.unpack("f", struct.pack("f", float(value)))[0]


class Point2:
    def __init__(self, x, y) -> None:
        self.x, self.y = x, y


class Point3:
    def __init__(self, x, y, z) -> None:
        self.x, self.y, self.z = single(x), single(y), single(z)

    def __iter__(self):
        return iter((self.x, self.y, self.z))


class Ray:
    def __init__(self, pos, dir) -> None:
        size = sqrt(sum(value * value for value in dir))
        self.pos, self.dir = pos, Point3(*(value / size for value in dir))


class Matrix3:
    def __init__(self, row1, row2, row3, row4) -> None:
        self.row1, self.row2, self.row3, self.row4 = row1, row2, row3, row4

    def rows(self):
        return [list(row) for row in (self.row1, self.row2, self.row3, self.row4)]

    @classmethod
    def of(cls, rows):
        return cls(*(Point3(*row) for row in rows))


class Color:
    def __init__(self, r, g, b) -> None:
        self.r, self.g, self.b = single(r), single(g), single(b)


class Name:
    def __init__(self, text) -> None:
        self.text = text

    def __str__(self):
        return f"#{self.text}"


class Time:
    def __init__(self, frame) -> None:
        self.frame = single(frame)


class Interval:
    def __init__(self, start, end) -> None:
        if start > end:
            raise RuntimeError("-- Runtime error: interval ends before it starts")
        self.start, self.end = Time(start), Time(end)


class Array(list):
    def __init__(self, *values) -> None:
        super().__init__(values)


class BitArray:
    """The bits that are set, counted from 1. Consecutive bits are written as MAXScript writes
    them."""

    def __init__(self, on) -> None:
        self._on = sorted(on)

    def __str__(self):
        runs = []
        for bit in self._on:
            if runs and runs[-1][1] == bit - 1:
                runs[-1][1] = bit
            else:
                runs.append([bit, bit])
        text = ", ".join(f"{a}" if a == b else f"{a}..{b}" for a, b in runs)
        return f"#{{{text}}}"


class Class:
    """A result of ``classOf``."""

    def __init__(self, name) -> None:
        self._name = name

    def __str__(self):
        return self._name


class Strict:
    """A value of which only declared names can be read or set, as in 3ds Max."""

    _settable: tuple[str, ...] = ()

    def __getattr__(self, name):
        raise AttributeError(f"-- Unknown property: {name!r} in {type(self).__name__}")

    def __setattr__(self, name, value):
        if not name.startswith("_") and name not in self._settable:
            raise AttributeError(f"-- Unknown property: {name!r} in {type(self).__name__}")
        object.__setattr__(self, name, value)

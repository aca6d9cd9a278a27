"""Intersections of a line with faces."""

from __future__ import annotations

from itertools import pairwise


def met(points, faces, start, along):
    """Yield, for each triangle that the line meets after ``start``, the distance as a
    multiple of ``along``, and whether the line met the side from which the corners run
    counterclockwise."""
    for face in faces:
        for second, third in pairwise(face[1:]):
            a, b, c = (points[index] for index in (face[0], second, third))
            u, v = _from(a, b), _from(a, c)
            across = cross(along, v)
            turned = dot(u, across)
            if abs(turned) < 1e-15:
                continue
            away = _from(a, start)
            first = dot(away, across) / turned
            other = cross(away, u)
            second_share = dot(along, other) / turned
            distance = dot(v, other) / turned
            if first >= 0 and second_share >= 0 and first + second_share <= 1 and distance >= 0:
                yield distance, turned > 0


def _from(a, b):
    return [y - x for x, y in zip(a, b, strict=True)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]

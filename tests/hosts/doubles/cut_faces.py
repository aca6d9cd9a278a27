"""Triangles of a face, for doubles that triangulate."""

from __future__ import annotations


def triangles_of(points):
    """Return triangles as indices of the face's corners. No triangle extends beyond the face."""
    across = [
        sum(
            (a[i] - b[i]) * (a[j] + b[j])
            for a, b in zip(points, [*points[1:], points[0]], strict=True)
        )
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    most = max(range(3), key=lambda axis: abs(across[axis]))
    sign = 1 if across[most] >= 0 else -1
    flat = [(p[(most + 1) % 3] * sign, p[(most + 2) % 3]) for p in points]
    left, cut = list(range(len(points))), []
    while len(left) > 3:
        at = next((k for k in range(len(left)) if _is_ear(flat, left, k)), 1)
        cut.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return [*cut, tuple(left)]


def _is_ear(flat, left, at):
    a, b, c = (flat[left[k % len(left)]] for k in (at - 1, at, at + 1))
    corners = {left[k % len(left)] for k in (at - 1, at, at + 1)}
    return _side(a, b, c) > 0 and not any(
        _side(a, b, p) >= 0 and _side(b, c, p) >= 0 and _side(c, a, p) >= 0
        for p in (flat[k] for k in left if k not in corners)
    )


def _side(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

"""Draws triangles, so that a double's views show its scene. The views don't look like the
application's. Each style differs from the others; nothing else is promised."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from math import sqrt

#: The color behind everything.
BACKGROUND = (40, 40, 40)


class Eye:
    """A camera that looks along its own -Z. ``axes`` are its X, Y and Z in the world. ``wide``
    is the tangent of half the horizontal field of view."""

    def __init__(self, axes, place, wide, width, height) -> None:
        self._axes, self._place = axes, place
        self.width, self.height = width, height
        self._across = width / 2 / wide

    def project(self, point):
        """Return column, row and depth, or None for a point behind the camera."""
        away = [a - b for a, b in zip(point, self._place, strict=True)]
        x, y, back = (sum(a * b for a, b in zip(away, axis, strict=True)) for axis in self._axes)
        if back >= -1e-6:
            return None
        return (
            self.width / 2 + x / -back * self._across,
            self.height / 2 - y / -back * self._across,
            -back,
        )


def draw(eye: Eye, shapes, style: str) -> bytes:
    """Return a PNG of ``shapes``."""
    return png(eye.width, eye.height, pixels_of(eye, shapes, style))


def pixels_of(eye: Eye, shapes, style: str) -> bytes:
    """Return the pixels of ``shapes``: points in the world, faces as their indices, and a color in
    bytes."""
    pixels = [list(BACKGROUND) for _ in range(eye.width * eye.height)]
    depths = [float("inf")] * len(pixels)
    for number, (points, faces, color) in enumerate(shapes):
        for face in faces:
            corners = [eye.project(points[index]) for index in face]
            if any(corner is None for corner in corners):
                continue
            if style == "wireframe":
                for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
                    _line(eye, pixels, a, b)
                continue
            # Shapes that face the same way get different shades.
            light = _light([points[index] for index in face]) * (1 - 0.2 * (number % 4))
            paint = color if style == "material" else (200, 200, 200)
            shade = [round(light * each) for each in paint]
            for second, third in pairwise(corners[1:]):
                _fill(eye, pixels, depths, (corners[0], second, third), shade, style == "xray")
    return bytes(value for pixel in pixels for value in pixel)


def _light(points) -> float:
    u, v = ([b - a for a, b in zip(points[0], other, strict=True)] for other in points[1:3])
    normal = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    length = sqrt(sum(value * value for value in normal)) or 1.0
    towards = sum(n * s for n, s in zip(normal, (0.3, 0.9, 0.3), strict=True)) / length
    return 0.4 + 0.6 * abs(towards)


def _line(eye, pixels, a, b) -> None:
    steps = max(1, round(max(abs(a[0] - b[0]), abs(a[1] - b[1]))))
    if steps > 4 * (eye.width + eye.height):
        return
    for step in range(steps + 1):
        x, y, depth = (p + (q - p) * step / steps for p, q in zip(a, b, strict=True))
        column, row = int(x), int(y)
        if 0 <= column < eye.width and 0 <= row < eye.height:
            pixels[row * eye.width + column] = [60, round(120 + 100 / (1 + depth)), 90]


def _fill(eye, pixels, depths, corners, shade, blend) -> None:
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if not area:
        return
    for row in range(max(0, int(min(ay, by, cy))), min(eye.height, int(max(ay, by, cy)) + 1)):
        for column in range(max(0, int(min(ax, bx, cx))), min(eye.width, int(max(ax, bx, cx)) + 1)):
            x, y = column + 0.5, row + 0.5
            u = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
            v = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
            if u < 0 or v < 0 or u + v > 1:
                continue
            at, depth = row * eye.width + column, az + u * (bz - az) + v * (cz - az)
            if blend:
                pixels[at] = [(a + b) // 2 for a, b in zip(pixels[at], shade, strict=True)]
            elif depth < depths[at]:
                depths[at], pixels[at] = depth, shade


def png(width, height, rgb) -> bytes:
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + rgb[at : at + 3 * width] for at in range(0, len(rgb), 3 * width))
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body

"""Scales and turns OBJ files, because Maya's translator doesn't."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from callboard.errors import HostError
from callboard.host import Rows, sixteen_of


def changes_nothing(rows: Rows) -> bool:
    same = [float(n in (0, 5, 10, 15)) for n in range(16)]
    return all(abs(a - b) < 1e-9 for a, b in zip(sixteen_of(rows), same, strict=True))


def convert_obj(file: Path, rows: Rows) -> None:
    """Rewrite the points and normals of an OBJ file. ``rows`` is the matrix to apply. It must scale
    all axes alike."""
    if changes_nothing(rows):
        return
    other = file.with_suffix(".converted")
    with file.open("rb") as lines, other.open("wb") as written:
        for line in _converted(lines, rows):
            written.write(line)
    other.replace(file)


def _converted(lines: Iterator[bytes], rows: Rows) -> Iterator[bytes]:
    for line in lines:
        if not line.startswith((b"v ", b"v\t", b"vn ", b"vn\t")):
            yield line
            continue
        word, *numbers = line.split()
        try:
            point = [float(each) for each in numbers[:3]]
        except ValueError:
            raise HostError("a coordinate in the OBJ file isn't a number") from None
        moved = [sum(at * row[n] for at, row in zip(point, rows, strict=False)) for n in range(3)]
        if word == b"vn":
            length = sum(value * value for value in moved) ** 0.5 or 1.0
            moved = [value / length for value in moved]
        yield b" ".join([word, *(b"%.9g" % value for value in moved), *numbers[3:]]) + b"\n"

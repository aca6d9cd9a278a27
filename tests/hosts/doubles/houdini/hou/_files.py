"""Files of geometry: points and faces as OBJ, STL and PLY. Houdini's other formats aren't modelled.
An unknown suffix gets Houdini's own format."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

from ._errors import OperationFailed
from ._session import session


def write(points, faces, uvs, file: Path) -> None:
    own = file.suffix not in _FORMATS or file.suffix in session.no_translator
    try:
        file.write_bytes(b"PGEOMETRY V5" if own else _FORMATS[file.suffix][0](points, faces, uvs))
    except OSError:
        raise OperationFailed("The attempted operation failed.\nUnable to write file.") from None


def read(file: Path):
    try:
        if file.suffix in session.no_translator:
            raise ValueError
        return _FORMATS[file.suffix][1](file.read_bytes())
    except (OSError, KeyError, ValueError, IndexError, struct.error):
        raise OperationFailed("The attempted operation failed.\nUnable to read file.") from None


def _obj(points, faces, uvs) -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    # Houdini's polygons have the opposite winding.
    placed = 0
    for face, corners in zip(faces, uvs, strict=True):
        words = [str(i + 1) for i in face]
        if corners is not None:
            lines += [f"vt {u:.9g} {v:.9g}" for u, v in corners]
            words = [f"{word}/{placed + n}" for n, word in enumerate(words, 1)]
            placed += len(face)
        lines.append("f " + " ".join(reversed(words)))
    return ("\n".join(lines) + "\n").encode()


def _of_obj(data: bytes):
    points, faces, placed, uvs = [], [], [], []
    for line in data.decode().splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(each) for each in rest[:3]])
        elif word == "f":
            corners = [each.split("/") for each in reversed(rest)]
            faces.append([int(corner[0]) - 1 for corner in corners])
            if all(len(corner) > 1 and corner[1] for corner in corners):
                uvs.append(tuple(placed[int(corner[1]) - 1] for corner in corners))
        elif word == "vt":
            placed.append(tuple(float(each) for each in rest[:2]))
    return points, faces, uvs if len(uvs) == len(faces) else None


def _stl(points, faces, uvs) -> bytes:
    lines = ["solid houdini"]
    for first, *rest in (tuple(reversed(face)) for face in faces):
        for second, third in pairwise(rest):
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += [
                "vertex " + " ".join(f"{v:.9g}" for v in points[i]) for i in (first, second, third)
            ]
            lines += ["endloop", "endfacet"]
    return ("\n".join([*lines, "endsolid"]) + "\n").encode()


def _of_stl(data: bytes):
    lines = data.decode().splitlines()
    if not lines[0].startswith("solid"):
        raise NotImplementedError("the double doesn't model binary STL")
    corners = [line.split()[1:] for line in lines if line.split()[:1] == ["vertex"]]
    points = [[float(each) for each in corner] for corner in corners]
    return points, [(i + 2, i + 1, i) for i in range(0, len(points), 3)], None


def _ply(points, faces, uvs) -> bytes:
    lines = ["ply", "format ascii 1.0", f"element vertex {len(points)}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    lines += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    lines += [f"{x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    lines += [" ".join(map(str, (len(face), *reversed(face)))) for face in faces]
    return ("\n".join(lines) + "\n").encode()


def _of_ply(data: bytes):
    lines = data.decode().splitlines()
    if lines[1] != "format ascii 1.0":
        raise NotImplementedError("the double doesn't model binary PLY")
    counts = [int(line.split()[2]) for line in lines if line.startswith("element ")]
    rest = lines[lines.index("end_header") + 1 :]
    points = [[float(each) for each in line.split()[:3]] for line in rest[: counts[0]]]
    faces = rest[counts[0] : counts[0] + counts[1]]
    return points, [[int(i) for i in reversed(line.split()[1:])] for line in faces], None


_FORMATS = {".obj": (_obj, _of_obj), ".stl": (_stl, _of_stl), ".ply": (_ply, _of_ply)}

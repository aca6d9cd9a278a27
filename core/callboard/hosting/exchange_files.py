"""What files of other programs say of themselves, read without the application: whether one is what
its name says, and which files it names. Raises HostError. Any thread."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from callboard.errors import HostError
from callboard.hosting.exchanging import Axes
from callboard.hosting.named_files import held_to_roots, refuse_outside

#: Bytes of a glTF's description that are still read.
_LARGEST = 512 * 2**20
_STARTS = {
    ".glb": (b"glTF",),
    ".fbx": (b"Kaydara FBX Binary", b";"),
    ".ply": (b"ply\n", b"ply\r"),
    ".abc": (b"Ogawa", b"\x89HDF"),
}
#: Of an OBJ's lines and of its materials': what names a file.
_OBJ_NAMES = ("mtllib ",)
#: Where an FBX keeps its settings, and how, as bytes and as text.
_SETTINGS = 2**20
_UNIT = (
    re.compile(rb"UnitScaleFactorS.{4}doubleS.{4}NumberS\0{4}D(.{8})", re.DOTALL),
    re.compile(rb'"UnitScaleFactor",[^,]*,[^,]*,[^,]*,\s*([0-9.eE+-]+)'),
)
_UP = (
    re.compile(rb"UpAxisS.{4}intS.{4}IntegerS\0{4}I(.{4})", re.DOTALL),
    re.compile(rb'"UpAxis",[^,]*,[^,]*,[^,]*,\s*([0-9]+)'),
)
_MTL_NAMES = ("map_", "bump ", "norm ", "disp ", "decal ", "refl ")


def check_file(path: str) -> None:
    """Refuses what can't be such a file, before an application stumbles over it; and, where the
    call is held to its roots, what names files outside of them."""
    file = Path(path)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' there")
    if not is_such(file):
        raise HostError(f"'{file.name}' is not the {file.suffix.lower()} file that it is called")
    if held_to_roots():
        refuse_outside(named_in(path), file.name, "imported")


def named_in(path: str) -> list[str]:
    """The files that a glTF or an OBJ names, absolute, as an application would look for them."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in (".gltf", ".glb"):
        return list(_named_by_gltf(file))
    if suffix == ".obj":
        return list(_named_by_obj(file))
    return []


def fbx_axes(path: str) -> Axes:
    """What an FBX says of its units and up axis; centimetres, Y up, where it says nothing."""
    with Path(path).open("rb") as stream:
        start = stream.read(_SETTINGS)
    units, ups = ([each.search(start) for each in kinds] for kinds in (_UNIT, _UP))
    unit, up = 1.0, 1
    if units[0]:
        (unit,) = struct.unpack("<d", units[0][1])
    elif units[1]:
        unit = float(units[1][1])
    if ups[0]:
        (up,) = struct.unpack("<i", ups[0][1])
    elif ups[1]:
        up = int(ups[1][1])
    return Axes(unit / 100, "XYZ"[up] if 0 <= up < 3 else "Y", told=any(units))


def gltf_parts(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """The description and the binary part of a .glb, or of a .gltf without one."""
    binary = b""
    try:
        if data[:4] == b"glTF":
            length = int.from_bytes(data[12:16], "little")
            data, rest = data[20 : 20 + length], data[20 + length :]
            binary = rest[8 : 8 + int.from_bytes(rest[:4], "little")]
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("asset"), dict):
        raise HostError(f"'{name}' is not a glTF file that can be read")
    return parsed, binary


def glb(described: dict[str, Any], binary: bytes) -> bytes:
    """A .glb of both parts."""
    text = json.dumps(described, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        binary += b"\0" * (-len(binary) % 4)
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def is_such(file: Path) -> bool:
    """Whether the file begins as its suffix says."""
    suffix, size = file.suffix.lower(), file.stat().st_size
    with file.open("rb") as stream:
        start = stream.read(84)
    if suffix == ".stl":
        counted = int.from_bytes(start[80:84], "little")
        return start.lstrip()[:5].lower() == b"solid" or (
            len(start) == 84 and counted > 0 and size >= 84 + 50 * counted
        )
    if suffix == ".gltf":
        gltf_parts(_read(file), file.name)
    if suffix == ".obj":
        # Nothing marks one; text it is.
        return size > 0 and b"\0" not in start
    return start.startswith(_STARTS.get(suffix, b""))


def _read(file: Path) -> bytes:
    if file.stat().st_size > _LARGEST:
        raise HostError(f"'{file.name}' is larger than {_LARGEST // 2**20} MiB")
    return file.read_bytes()


def _named_by_gltf(file: Path) -> Iterator[str]:
    described, _ = gltf_parts(_read(file), file.name)
    for kind in ("buffers", "images"):
        entries = described.get(kind)
        for entry in entries if isinstance(entries, list) else ():
            uri = entry.get("uri") if isinstance(entry, dict) else None
            if isinstance(uri, str) and not uri.startswith("data:"):
                # Readers differ in which of the two they open.
                for each in {uri, unquote(uri)}:
                    yield str(file.parent / each.removeprefix("file://").replace("\\", "/"))


def _named_by_obj(file: Path) -> Iterator[str]:
    for name in _after(file, _OBJ_NAMES):
        # One name with spaces, or several names.
        for each in {name, *name.split()}:
            library = file.parent / each.strip('"').replace("\\", "/")
            yield str(library)
            if library.is_file():
                for picture in _after(library, _MTL_NAMES):
                    parts = picture.split()
                    for first in range(len(parts)):
                        yield str(library.parent / " ".join(parts[first:]).replace("\\", "/"))


def _after(file: Path, words: tuple[str, ...]) -> Iterator[str]:
    """What follows the first word of the lines that begin with one of these."""
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            text = line.strip()
            if text.lower().startswith(words):
                yield text.partition(" ")[2].strip()

"""Reads files of other programs without the help of the application: checks that the format of a
file matches its suffix, and finds the files that it refers to. Raises HostError. Use it from any
thread."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from callboard.content import json_object
from callboard.errors import HostError
from callboard.ground.named_files import held_to_roots, refuse_outside, unreadable
from callboard.ports.exchange import Axes

#: Maximum size in bytes of a glTF file that is read.
_LARGEST = 512 * 2**20
_STARTS = {
    ".glb": (b"glTF",),
    ".fbx": (b"Kaydara FBX Binary", b";"),
    ".ply": (b"ply\n", b"ply\r"),
    ".abc": (b"Ogawa", b"\x89HDF"),
}
#: Prefixes of the keywords that precede a file name, in an OBJ and in its material files.
_OBJ_NAMES = (b"mtllib",)
_MTL_NAMES = (b"map_", b"bump", b"norm", b"disp", b"decal", b"refl")
#: The bytes that readers of these files treat as spaces, and a pattern that splits a line into its
#: first word and the rest.
_SPACES = bytes(range(33))
_AS_SPACE = bytes.maketrans(_SPACES, b" " * 33)
_WORD = re.compile(rb"([^\0-\x20]+)[\0-\x20]+(.+)", re.DOTALL)
#: Maximum number of words that are checked in a line that refers to a file, and maximum number of
#: file names checked in all.
_WORDS, _NAMES = 100, 100_000
#: Number of bytes at the beginning of an FBX that are searched for its settings, and the patterns
#: of the settings in binary and in text files.
_SETTINGS = 2**20
_UNIT = (
    re.compile(rb"UnitScaleFactorS.{4}doubleS.{4}NumberS\0{4}D(.{8})", re.DOTALL),
    re.compile(rb'"UnitScaleFactor",[^,]*,[^,]*,[^,]*,\s*([0-9.eE+-]+)'),
)
_UP = (
    re.compile(rb"UpAxisS.{4}intS.{4}IntegerS\0{4}I(.{4})", re.DOTALL),
    re.compile(rb'"UpAxis",[^,]*,[^,]*,[^,]*,\s*([0-9]+)'),
)


def check_file(path: str) -> None:
    """Refuse a file whose content doesn't match its suffix, before an application fails on it. If
    the call is restricted to its roots, also refuse a file that refers to files outside them."""
    file = Path(path)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' at that path")
    if not is_such(file):
        raise HostError(f"'{file.name}' isn't really a {file.suffix.lower()} file")
    if held_to_roots():
        refuse_outside(named_in(path), file.name, "imported")


def named_in(path: str) -> list[str]:
    """Return the files that a glTF or an OBJ refers to, as absolute paths."""
    file = Path(path)
    suffix = file.suffix.lower()
    names: Iterator[str] = iter(())
    if suffix in (".gltf", ".glb"):
        names = _named_by_gltf(file)
    if suffix == ".obj":
        names = _named_by_obj(file)
    named = list(islice(names, _NAMES + 1))
    if len(named) > _NAMES:
        raise unreadable(path, f"refers to more than {_NAMES} files")
    return named


def fbx_axes(path: str) -> Axes:
    """Return an FBX's units and up axis, by default centimeters and Y up."""
    with Path(path).open("rb") as stream:
        start = stream.read(_SETTINGS)
    units, ups = ([each.search(start) for each in kinds] for kinds in (_UNIT, _UP))
    unit, up = math.nan, 1
    with suppress(ValueError):
        if units[0]:
            (unit,) = struct.unpack("<d", units[0][1])
        elif units[1]:
            unit = float(units[1][1])
    with suppress(ValueError):
        if ups[0]:
            (up,) = struct.unpack("<i", ups[0][1])
        elif ups[1]:
            up = int(ups[1][1])
    reported = math.isfinite(unit) and unit > 0
    return Axes(unit / 100 if reported else 0.01, "XYZ"[up] if 0 <= up < 3 else "Y", reported)


def gltf_parts(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """Return the description and the binary part of a .glb, or of a .gltf, which has no binary
    part."""
    binary = b""
    if data[:4] == b"glTF":
        length = int.from_bytes(data[12:16], "little")
        data, rest = data[20 : 20 + length], data[20 + length :]
        binary = rest[8 : 8 + int.from_bytes(rest[:4], "little")]
    parsed = json_object(data)
    if parsed is None or not isinstance(parsed.get("asset"), dict):
        raise HostError(f"'{name}' can't be read as a glTF file")
    return parsed, binary


def gltf_bytes(described: dict[str, Any], binary: bytes, suffix: str) -> bytes:
    """Return a file made of both parts: a .glb or, for the suffix ".gltf", a .gltf that needs no
    other file. The .gltf's description gets the binary part, too."""
    if suffix == ".gltf" and binary:
        data = base64.b64encode(binary).decode("ascii")
        described["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{data}"
    text = json.dumps(described, separators=(",", ":")).encode()
    if suffix == ".gltf":
        return text
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        binary += b"\0" * (-len(binary) % 4)
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def is_such(file: Path) -> bool:
    """Return whether the beginning of the file matches its suffix."""
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
        # An OBJ has no signature, but it is text.
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
            # Without ";base64," the URI is the name of a file, which may begin with "data:".
            if isinstance(uri, str) and not (uri.startswith("data:") and ";base64," in uri):
                # Readers differ in which of the two they open.
                for each in {uri, unquote(uri)}:
                    yield from _places(file.parent, each)
                    yield from _places(file.parent, each.removeprefix("file://"))


def _named_by_obj(file: Path) -> Iterator[str]:
    # Blender reads the library with the same name, even if the OBJ doesn't name it.
    libraries = {str(file.with_suffix(".mtl")): None}
    for name, words in _after(file, _OBJ_NAMES):
        # The line has either one name that contains spaces or several names.
        for each in {name, *words}:
            libraries |= dict.fromkeys(_places(file.parent, each))
    for each in libraries:
        yield each
        library = Path(each)
        for name, words in _after(library, _MTL_NAMES) if library.is_file() else ():
            if len(words) > _WORDS:
                raise unreadable(each, f"has a name of more than {_WORDS} words")
            # Options come before the name, which may have spaces.
            for picture in {name, *(" ".join(words[at:]) for at in range(len(words)))}:
                yield from _places(library.parent, picture)


def _places(folder: Path, name: str) -> set[str]:
    """Return the paths at which readers look for the file with this name. Readers differ in how
    they treat quotes, backslashes, and ``..`` after a link."""
    names = {name, name.strip('"')}
    names |= {each.replace("\\", "/") for each in names}
    places = {str(folder / each) for each in names}
    return places | {os.path.normpath(each) for each in places}


def _after(file: Path, starts: tuple[bytes, ...]) -> Iterator[tuple[str, list[str]]]:
    """For each line whose first word has one of these prefixes, yield the rest of the line, both as
    text and as a list of words."""
    holds = re.compile(b"|".join(starts), re.IGNORECASE)
    for line in _lines(file):
        # Most lines of a large file are points.
        if holds.search(line) is None:
            continue
        named = _WORD.fullmatch(line.removeprefix(b"\xef\xbb\xbf").strip(_SPACES))
        if named and named[1].lower().startswith(starts):
            words = named[2].translate(_AS_SPACE).split()
            yield _decoded(named[2]), [*map(_decoded, words)]


def _lines(file: Path) -> Iterator[bytes]:
    """Yield each line. Lines joined by backslashes are also yielded as one line, because not all
    readers join them."""
    whole: list[bytes] = []
    with file.open("rb") as lines:
        for line in lines:
            yield line
            if b"\r" in line.rstrip(b"\r\n"):
                yield from line.split(b"\r")
            if not whole and b"\\" not in line:
                continue
            start = line.rstrip(_SPACES)
            goes_on = start.endswith(b"\\")
            if whole or goes_on:
                whole.append(start[:-1] if goes_on else start)
            if whole and not goes_on:
                yield b" ".join(whole)
                whole.clear()
    if whole:
        yield b" ".join(whole)


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")

"""Reads the memory layout of Blender's structures from a .blend file."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The kind of machine that wrote a file: its byte order, in the notation of ``struct``, and the
    number of bytes in a pointer."""

    order: str = "<"
    pointer: int = 8

    def number(self, content: bytes) -> int:
        """Return the address that these bytes encode."""
        return int.from_bytes(content, "little" if self.order == "<" else "big")


USUAL = Machine()


@dataclass(frozen=True)
class Member:
    """One member of a structure. ``kind`` is its type, or the type it points at. ``offset`` and
    ``size`` are in bytes; ``size`` covers all ``count`` elements."""

    name: str
    kind: str
    offset: int
    size: int
    count: int
    points: bool


@dataclass(frozen=True)
class Structure:
    name: str
    size: int
    members: tuple[Member, ...]


@cache
def own_structures() -> tuple[Structure, ...]:
    """Return Blender's own structures, read from a small file that Blender writes. Raises
    ValueError and OSError."""
    import bpy

    path = Path(bpy.app.tempdir) / "callboard_layout.blend"
    try:
        bpy.data.libraries.write(str(path), set())
        content = path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
    at = content.rfind(b"SDNANAME")
    if at < 0:
        raise ValueError("the file has no description of its structures")
    return tuple(structures(content[at:]))


def structures(block: bytes, machine: Machine = USUAL) -> list[Structure]:
    """Return the structures of a ``DNA1`` block in the block's order. Raises ValueError when the
    block is malformed."""
    try:
        return _Block(block, machine).read()
    except (struct.error, IndexError, RecursionError) as error:
        raise ValueError(f"the file's DNA1 block is malformed: {error}") from None


class _Block:
    def __init__(self, block: bytes, machine: Machine) -> None:
        self._block = block
        self._machine = machine
        self._at = 4

    def read(self) -> list[Structure]:
        names = self._strings(b"NAME")
        types = self._strings(b"TYPE")
        self._expect(b"TLEN")
        sizes = self._shorts(len(types))
        self._align()
        self._expect(b"STRC")
        return [self._structure(names, types, sizes) for _ in range(self._count())]

    def _structure(self, names: list[str], types: list[str], sizes: tuple[int, ...]) -> Structure:
        kind, count = self._shorts(2)
        members, offset = [], 0
        for _ in range(count):
            of, name = self._shorts(2)
            bare, many = _counted(names[name])
            points = names[name][0] in "*("
            size = many * (self._machine.pointer if points else sizes[of])
            members.append(Member(bare, types[of], offset, size, many, points))
            offset += size
        if offset != sizes[kind]:
            raise ValueError(f"the members of {types[kind]} don't add up to its size")
        return Structure(types[kind], offset, tuple(members))

    def _strings(self, code: bytes) -> list[str]:
        self._expect(code)
        strings = []
        for _ in range(self._count()):
            end = self._block.index(b"\0", self._at)
            strings.append(self._block[self._at : end].decode("ascii"))
            self._at = end + 1
        self._align()
        return strings

    def _expect(self, code: bytes) -> None:
        if self._block[self._at : self._at + 4] != code:
            raise ValueError(f"the file's DNA1 block has no {code.decode()} where expected")
        self._at += 4

    def _count(self) -> int:
        (count,) = struct.unpack_from(f"{self._machine.order}i", self._block, self._at)
        self._at += 4
        return int(count)

    def _shorts(self, count: int) -> tuple[int, ...]:
        shorts = struct.unpack_from(f"{self._machine.order}{count}H", self._block, self._at)
        self._at += 2 * count
        return shorts

    def _align(self) -> None:
        self._at = (self._at + 3) // 4 * 4


def _counted(name: str) -> tuple[str, int]:
    """Return the bare name and the number of elements of a declaration such as ``*name[2][3]``."""
    bare, *counts = name.replace("]", "").split("[")
    many = 1
    for count in counts:
        many *= int(count)
    return bare.strip("*()"), many

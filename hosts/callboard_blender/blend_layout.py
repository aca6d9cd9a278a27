"""How Blender lays out its structures in memory, as each file that it writes says at its end."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

#: Structure to member to offset, bytes.
Layout = dict[str, dict[str, int]]
_POINTER = 8


def layout(path: Path, write: Callable[[Path], None]) -> Layout:
    """Has ``write`` write a file, reads its block ``DNA1`` and removes it. Raises ValueError where
    that block is not what it should be."""
    try:
        write(path)
        content = path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
    at = content.rfind(b"SDNANAME")
    if at < 0:
        raise ValueError("the file does not say how its structures are laid out")
    try:
        return _Block(content[at:]).read()
    except (struct.error, IndexError) as error:
        raise ValueError(f"the layout of structures ends early: {error}") from None


class _Block:
    def __init__(self, block: bytes) -> None:
        self._block = block
        self._at = 4

    def read(self) -> Layout:
        names = self._strings(b"NAME")
        types = self._strings(b"TYPE")
        self._expect(b"TLEN")
        sizes = self._shorts(len(types))
        self._align()
        self._expect(b"STRC")
        found: Layout = {}
        for _ in range(self._count()):
            kind, members = self._shorts(2)
            offsets, offset = found.setdefault(types[kind], {}), 0
            for _ in range(members):
                of, name = self._shorts(2)
                bare, length = _member(names[name], sizes[of])
                offsets[bare] = offset
                offset += length
            if offset != sizes[kind]:
                raise ValueError(f"the members of {types[kind]} don't fill it")
        return found

    def _strings(self, code: bytes) -> list[str]:
        self._expect(code)
        found = []
        for _ in range(self._count()):
            end = self._block.index(b"\0", self._at)
            found.append(self._block[self._at : end].decode("ascii"))
            self._at = end + 1
        self._align()
        return found

    def _expect(self, code: bytes) -> None:
        if self._block[self._at : self._at + 4] != code:
            raise ValueError(f"the layout of structures has no {code.decode()} where it should")
        self._at += 4

    def _count(self) -> int:
        (count,) = struct.unpack_from("<i", self._block, self._at)
        self._at += 4
        return int(count)

    def _shorts(self, count: int) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{count}H", self._block, self._at)
        self._at += 2 * count
        return found

    def _align(self) -> None:
        self._at = (self._at + 3) // 4 * 4


def _member(name: str, size: int) -> tuple[str, int]:
    """The bare name of ``*name[2][3]``, and how many bytes it takes where one takes ``size``."""
    bare, *counts = name.replace("]", "").split("[")
    length = _POINTER if bare[0] in "*(" else size
    for count in counts:
        length *= int(count)
    return bare.strip("*()"), length

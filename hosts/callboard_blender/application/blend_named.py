"""The files that a .blend file uses, read from its blocks before Blender opens it: Blender reads
libraries, and their libraries, as soon as it opens a file.

Every text with room for a path counts, except texts that name outputs, which are checked when
something is written, and texts that nothing reads. So a kind of path that a later Blender adds
counts too.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from callboard.host import held_to_roots, of_many, outside, refuse_outside, unreadable
from callboard_blender.application.blend_layout import Structure, structures

#: The fewest bytes of a text field that has room for a path.
_ROOM = 768
#: Texts that name no file to read.
_OTHERS = re.compile(
    r"FileGlobal\.|FileSelectParams\.|RenderData\.|BakeData\.|NodeImageMultiFile|Script\.|"
    r"DynamicPaintSurface\.|FluidsimSettings\.|LibraryWeakReference\.|ImagePackedFile\.|"
    r"CacheObjectPath\.|KeyingSet\.|Brush\.icon|Editing\.act_|bPathCompare\.|b?User|bTheme\.|"
    r"Library\.filepath_abs|.*object_path$"
)
#: Structures that hold a file's bare name. Another text holds its folder.
_BARE = {"StripElem", "StripProxy"}
#: Structures with texts of any kind, which may be paths.
_TEXTS = {"bNodeSocketValueString"}
_PACKED = {"PackedFile", "ImagePackedFile"}
_MOST_BYTES = 2**28
#: The structures of datablocks that name files.
_KINDS = {
    **{b"LI": "Library", b"IM": "Image", b"SO": "bSound", b"VF": "VFont", b"MC": "MovieClip"},
    **{b"CF": "CacheFile", b"VO": "Volume", b"TX": "Text", b"SC": "Scene", b"OB": "Object"},
    **{b"NT": "bNodeTree", b"PA": "ParticleSettings", b"LS": "FreestyleLineStyle"},
}


def refuse_blend_outside(path: str, own: Sequence[str]) -> None:
    """Raise HostError when this call is held to its roots, and the file or a library that it uses,
    at any depth, names a file outside them or can't be read. The caller checks ``path`` itself.
    ``own`` are folders that come with Blender."""
    if not held_to_roots():
        return
    waiting, seen = [path], {os.path.realpath(path)}
    all_leaving: list[str] = []
    while waiting:
        file = waiting.pop()
        try:
            named = _read(file)
        except (OSError, ValueError, EOFError, struct.error, ImportError) as error:
            raise unreadable(file, f"can't be looked into ({error})") from None
        theirs = [(kind, _place(text, file)) for kind, text in named]
        theirs = [(kind, place) for kind, place in theirs if not is_own(place, own)]
        leaving = outside(each for _, place in theirs for each in of_many(place, sequences=True))
        all_leaving += leaving
        for kind, place in theirs:
            real = os.path.realpath(place)
            library = kind == "Library" and place not in leaving and Path(place).is_file()
            if library and real not in seen:
                seen.add(real)
                waiting.append(place)
    refuse_outside(all_leaving, Path(path).name, "opened")


def is_own(place: str, own: Sequence[str]) -> bool:
    """Return whether the file is in one of the folders that come with Blender."""
    real = Path(os.path.realpath(place))
    return any(real.is_relative_to(os.path.realpath(each)) for each in own)


def _place(text: str, file: str) -> str:
    """Return the path that Blender opens for a path in a file. Two slashes stand for the file's
    folder, and outside Windows a path loses its drive letter."""
    if os.name != "nt":
        text = re.sub(r"^[A-Za-z]:(?=[\\/])", "", text.replace("\\", "/"))
    if text.startswith("//"):
        return f"{Path(file).parent}/{text[2:].lstrip('/')}"
    return str(Path(text).absolute())


def _read(file: str) -> set[tuple[str, str]]:
    """Return each path in the file with the structure that holds it. Raises ValueError, OSError,
    EOFError or struct.error when this isn't a .blend file, and ImportError when it can't be
    unpacked."""
    known = _layout(file)
    places = {index: list(_texts(known, each)) for index, each in enumerate(known)}
    packed = {
        address
        for _, index, address, _, _ in _blocks(file)
        if index < len(known) and known[index].name in _PACKED
    }
    ids = next((each for each in known if each.name == "ID"), None)
    names = [] if ids is None else [one.offset for one in ids.members if one.name == "name"]
    name_at = (names or [0])[0]
    named = set()
    for code, index, _, count, content in _blocks(file, places):
        kind = known[index]
        _check_label(code, kind, content, name_at)
        for number in range(min(count, len(content) // kind.size)):
            each = content[number * kind.size : (number + 1) * kind.size]
            if _is_packed(kind, each, packed):
                continue
            for holder, offset, size in places[index]:
                text = os.fsdecode(each[offset : offset + size].split(b"\0", 1)[0])
                if _counts(holder, text):
                    named.add((holder, text))
    return named


def _check_label(code: bytes, kind: Structure, content: bytes, name_at: int) -> None:
    """Raise ValueError when a datablock's code, its structure and the first letters of its name
    disagree, because Blender may use any of the three."""
    if len(code) != 2 or code == b"ID":  # the code "ID" stands for a datablock in a library
        return
    is_one = bool(kind.members) and kind.members[0].kind == "ID"
    if not is_one or _KINDS.get(code, kind.name) != kind.name:
        raise ValueError("a datablock's structure doesn't match its code")
    # A screen's code differs from the first letters of its name.
    if content[name_at : name_at + 2] not in (code, b"SR" if code == b"SN" else code):
        raise ValueError("a datablock's name doesn't match its kind")


def _counts(holder: str, text: str) -> bool:
    if not text or text == "<builtin>":
        return False
    if holder in _BARE:
        return text == ".." or "/" in text or "\\" in text
    if holder in _TEXTS:
        return bool(re.match(r"[\\/]|[A-Za-z]:[\\/]", text))
    return True


def _texts(known: Sequence[Structure], kind: Structure) -> Iterator[tuple[str, int, int]]:
    """Yield the structure that holds each path, with the path's offset and size in ``kind``."""
    by_name = {each.name: each for each in known}
    waiting = [(kind, 0, 0)]
    while waiting:
        at, start, depth = waiting.pop()
        for member in at.members:
            offset = start + member.offset
            if member.points or depth > 8:
                continue
            if member.kind in by_name:
                inner = by_name[member.kind]
                for number in range(min(member.count, 64)):
                    waiting.append((inner, offset + number * inner.size, depth + 1))
                continue
            room = 2 if at.name in _BARE else _ROOM
            other = _OTHERS.match(f"{at.name}.{member.name}")
            if member.kind == "char" and member.size >= room and not other:
                yield at.name, offset, member.size


def _is_packed(kind: Structure, content: bytes, packed: set[int]) -> bool:
    """Return whether the file contains the content itself, so that Blender doesn't open the
    path."""
    for member in kind.members:
        if member.name in ("packedfile", "packedfiles"):
            (address,) = struct.unpack_from("<Q", content, member.offset)
            if address in packed:
                return True
    return False


def _layout(file: str) -> list[Structure]:
    for _, _, _, _, content in _blocks(file, code=b"DNA1"):
        return structures(content)
    raise ValueError("it does not say how its structures are laid out")


Block = tuple[bytes, int, int, int, bytes]


def _blocks(
    file: str, wanted: dict[int, list[Any]] | None = None, code: bytes | None = None
) -> Iterator[Block]:
    """Yield each block's code, structure, address, count and content. Content is read only for
    blocks with that code, datablocks, and structures of ``wanted`` that are not empty."""
    with _opened(file) as stream:
        head = _head(stream)
        while True:
            started = stream.read(head.size)
            if len(started) < head.size or started.startswith(b"ENDB"):
                return
            name, length, address, index, count = _fields(head, started)
            if length < 0 or count < 0 or index < 0:
                raise ValueError("one of its blocks has no valid length")
            if code is None and wanted is None:
                _skip(stream, length)
                yield name, index, address, count, b""
            elif name == code or (wanted is not None and (wanted.get(index) or len(name) == 2)):
                if length > _MOST_BYTES:
                    raise ValueError("one of its blocks is too large")
                content = stream.read(length)
                if len(content) < length:
                    raise ValueError("it ends early")
                yield name, index, address, count, content
            else:
                _skip(stream, length)


#: Before 5.0, and since: code, then length, address, structure and count in different orders.
_SHORT = struct.Struct("<4siQii")
_LONG = struct.Struct("<4siQqq")


def _head(stream: IO[bytes]) -> struct.Struct:
    start = stream.read(12)
    if start[:7] != b"BLENDER":
        raise ValueError("it does not begin as a Blender file")
    if start[7:9] == b"-v":
        return _SHORT
    if re.fullmatch(rb"BLENDER17-01", start):
        stream.read(5)
        return _LONG
    raise ValueError("Blender wrote it on another kind of machine; save it again here")


def _fields(head: struct.Struct, started: bytes) -> tuple[bytes, int, int, int, int]:
    if head is _SHORT:
        code, length, address, index, count = head.unpack(started)
    else:
        code, index, address, length, count = head.unpack(started)
    return code.rstrip(b"\0"), length, address, index, count


def _skip(stream: IO[bytes], length: int) -> None:
    if stream.seekable():
        stream.seek(length, os.SEEK_CUR)
        return
    while length > 0:
        read = len(stream.read(min(length, 2**20)))
        if not read:
            return
        length -= read


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    """Open the file's content, unpacked."""
    with Path(file).open("rb") as plain:
        start = plain.read(4)
        plain.seek(0)
        if start[:2] == b"\x1f\x8b":
            with gzip.open(plain) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif start == b"\x28\xb5\x2f\xfd":
            import zstandard  # comes with Blender

            reader = zstandard.ZstdDecompressor().stream_reader(plain, read_across_frames=True)
            with reader:
                yield reader
        else:
            yield plain

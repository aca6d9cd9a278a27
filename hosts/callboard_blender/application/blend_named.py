"""Finds the files that a .blend file uses by reading its blocks, before Blender opens it. As soon
as Blender opens a file, it reads the file's libraries, and in turn their libraries.

Every string field with room for a path is treated as a path, so this also covers paths that later
versions of Blender add. The exceptions are fields that name outputs, which are checked when
something is written, and fields that nothing reads.

Blender trusts the labels in a file, but they may be false. A file may call a path's field something
else, and a block may be used as a different structure from the one that its label names. Blender's
own layout, which the caller passes in, shows where a path would be in that case.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Protocol

from callboard.host import held_to_roots, of_many, outside, refuse_outside, unreadable
from callboard_blender.application.blend_layout import (
    USUAL,
    Machine,
    Member,
    Structure,
    structures,
)

#: The minimum size in bytes of a string field with room for a path.
_ROOM = 768
#: Strings that don't name a file to read.
_OTHERS = re.compile(
    r"FileGlobal\.|FileSelectParams\.|RenderData\.|BakeData\.|NodeImageMultiFile|Script\.|"
    r"DynamicPaintSurface\.|FluidsimSettings\.|LibraryWeakReference\.|ImagePackedFile\.|"
    r"CacheObjectPath\.|KeyingSet\.|Brush\.icon|Editing\.act_|bPathCompare\.|b?User|bTheme\.|"
    r"Library\.filepath_abs|.*object_path$"
)
#: Structures that hold a file's bare name. Its folder is in a different string.
_BARE = {"StripElem", "StripProxy"}
#: Structures whose strings can hold any text, including a path.
_TEXTS = {"bNodeSocketValueString"}
_PACKED = {"PackedFile", "ImagePackedFile"}
_MOST_BYTES = 2**28
#: Maximum number of bytes in a path in Blender.
_LONGEST = 1024
#: Used as the structure's name for a text in a block with a false label.
_UNLABELLED = ""
#: Matches a text in a block with a false label if the text may be a path. Bare names count too,
#: because Blender looks for them in its working folder.
_LEADING = re.compile(rb"[\\/]|\.\.|[A-Za-z]:[\\/]|[^\0-\x1f]+\.[A-Za-z0-9]{1,5}$")
#: Codes of blocks that aren't datablocks. ``ID`` marks a link to a datablock in a library.
_NO_DATABLOCKS = {b"DATA", b"DNA1", b"TEST", b"REND", b"GLOB", b"USER", b"ID"}
#: The structures of datablocks that name files, by code.
_KINDS = {
    **{b"LI": "Library", b"IM": "Image", b"SO": "bSound", b"VF": "VFont", b"MC": "MovieClip"},
    **{b"CF": "CacheFile", b"VO": "Volume", b"TX": "Text", b"SC": "Scene", b"OB": "Object"},
    **{b"NT": "bNodeTree", b"PA": "ParticleSettings", b"LS": "FreestyleLineStyle"},
}


def refuse_blend_outside(
    path: str, own: Sequence[str], blenders: Callable[[], Sequence[Structure]]
) -> None:
    """If this call is restricted to its roots, raise HostError when the file, or a library that it
    uses at any depth, names a file outside the roots or can't be read. The caller checks ``path``
    itself. ``own`` are the folders that come with Blender, and ``blenders`` returns Blender's own
    structures."""
    if not held_to_roots():
        return
    paths = _paths(blenders)
    waiting, seen = [path], {os.path.realpath(path)}
    all_leaving: list[str] = []
    while waiting:
        file = waiting.pop()
        try:
            named = _read(file, paths)
        except (OSError, ValueError, EOFError, struct.error, ImportError) as error:
            raise unreadable(file, f"can't be checked ({error})") from None
        # Parts of Blender turn backslashes into slashes before they look for the two leading
        # slashes.
        theirs = [
            (kind, place_of(each, file))
            for kind, text in named
            for each in dict.fromkeys((text, text.replace("\\", "/")))
        ]
        theirs = [
            (kind, place)
            for kind, place in theirs
            if not is_own(place, own) and (kind != _UNLABELLED or os.path.lexists(place))
        ]
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


def place_of(text: str, file: str) -> str:
    """Return the path that Blender opens for a path in a file. Two leading slashes mean the file's
    folder. Outside Windows, a drive becomes a folder named after its letter."""
    if text.startswith("//"):  # Like Blender, check this before turning backslashes into slashes.
        relative = text[2:] if os.name == "nt" else text[2:].replace("\\", "/")
        return f"{Path(file).parent}/{relative.lstrip('/')}"
    if os.name != "nt":
        text = re.sub(r"^([A-Za-z]):(?=[\\/])", lambda drive: f"/{drive[1].lower()}", text)
        text = text.replace("\\", "/")
    return str(Path(text).absolute())


class _Paths:
    """The fields that Blender treats as paths."""

    def __init__(self, blenders: Callable[[], Sequence[Structure]]) -> None:
        known = blenders()
        by_name = {each.name: each for each in known}
        self.fields = {
            (each.name, member.name)
            for each in known
            for member in each.members
            if _is_path(each.name, member)
        }
        #: Offsets of paths in structures that aren't datablocks. Shorter strings, such as bare
        #: names, are left out.
        self.places = sorted(
            {
                offset
                for each in known
                if not _is_datablock(each)
                for holder, offset, size in _texts(by_name, each)
                if size >= _ROOM
            }
        )
        #: Number of bytes at the start of a block that can contain these paths.
        self.most = max(self.places, default=-_LONGEST) + _LONGEST

    def check(self, known: Sequence[Structure]) -> None:
        """Raise ValueError when two of a file's structures have the same name, or when the file's
        layout declares a path as something other than a string."""
        if len({each.name for each in known}) < len(known):
            raise ValueError("two of the file's structures have the same name")
        for each in known:
            for member in each.members:
                name, is_text = (each.name, member.name), member.kind == "char"
                if (name in self.fields or name == ("ID", "name")) and not is_text:
                    raise ValueError(f"the file's {each.name}.{member.name} isn't a string")

    def unlabelled(self, content: bytes, labelled: Collection[int]) -> Iterator[str]:
        """Yield the texts at the offsets where any of Blender's structures has a path, because the
        block's label may be false. ``labelled`` are the offsets of long texts in the structure that
        the label names. An offset in the middle of such a text is skipped."""
        for place in self.places:
            text = content[place : place + _LONGEST].split(b"\0", 1)[0]
            is_end = any(at <= place and b"\0" not in content[at:place] for at in labelled)
            if not is_end and len(text) > 1 and _LEADING.match(text):
                yield os.fsdecode(text)


class _Layout:
    """The layout of a file's structures, and where they hold paths. Raises ValueError."""

    def __init__(self, block: bytes, paths: _Paths) -> None:
        self.known = structures(block)
        by_name = {each.name: each for each in self.known}
        paths.check(self.known)
        self.places = [list(_texts(by_name, each, paths.fields)) for each in self.known]
        self.texts = [
            [one.offset for one in each.members if one.kind == "char" and one.size >= _ROOM]
            for each in self.known
        ]
        ids = by_name.get("ID")
        names = [] if ids is None else [one.offset for one in ids.members if one.name == "name"]
        self.name_at = (names or [0])[0]

    def is_read(self, index: int) -> bool:
        """Return whether blocks of the structure with the given index are read in full."""
        if index >= len(self.known):
            raise ValueError("one of the file's blocks has an unknown structure")
        return bool(self.places[index]) or self.known[index].name in _PACKED


#: Only a few layouts are cached, because most files on a machine come from one version of Blender.
_paths = lru_cache(maxsize=2)(_Paths)
_layout = lru_cache(maxsize=4)(_Layout)
#: The blocks of one datablock that may hold its packed file, by address.
_Group = dict[int, tuple[Structure, bytes]]


def _read(file: str, paths: _Paths) -> set[tuple[str, str]]:
    """Return the paths in the file, as pairs of the containing structure's name and the path.
    Raises ValueError, OSError, EOFError or struct.error when this isn't a .blend file, and
    ImportError when it can't be unpacked."""
    with _opened(file) as stream:
        if _head(stream)[1] != USUAL:
            raise ValueError("the file is from another kind of machine; save it again in Blender")
    layout = next((_layout(block, paths) for *_, block in _blocks(file, code=b"DNA1")), None)
    if layout is None:
        raise ValueError("the file has no description of its structures")
    named: set[tuple[str, str]] = set()
    group: _Group = {}
    waiting: list[tuple[Structure, bytes, str, str]] = []
    for code, index, address, content in _blocks(file, layout, most=paths.most):
        kind, places = layout.known[index], layout.places[index]
        if code not in _NO_DATABLOCKS:
            _check_label(code, kind, content, layout.name_at)
            named |= _not_packed(waiting, group)
            group, waiting = {}, []
        elif code == b"DATA":
            texts = paths.unlabelled(content[: paths.most], layout.texts[index])
            named |= {(_UNLABELLED, text) for text in texts}
            group[address] = kind, content if kind.name in _PACKED else b""
        # Blender reads all of the content, regardless of the number of structures in the label.
        for start in range(0, len(content), kind.size) if places else ():
            each = content[start : start + kind.size]
            for holder, offset, size in places:
                text = os.fsdecode(each[offset : offset + size].split(b"\0", 1)[0])
                if _counts(holder, text):
                    waiting.append((kind, each, holder, text))
    return named | _not_packed(waiting, group)


def _not_packed(
    waiting: Sequence[tuple[Structure, bytes, str, str]], group: _Group
) -> set[tuple[str, str]]:
    return {
        (holder, text) for kind, each, holder, text in waiting if not _packed(kind, each, group)
    }


def _packed(kind: Structure, content: bytes, group: _Group) -> bool:
    """Return whether the .blend file contains the named file's content, so that Blender doesn't
    open the path. If a pointer to that content leads nowhere, Blender opens the path after all."""
    at = _pointed(kind, content, ("packedfile", "packedfiles"), group)
    if at is not None and at[0].name == "ImagePackedFile":
        at = _pointed(*at, ("packedfile",), group)
    if at is None or at[0].name != "PackedFile":
        return False
    return _pointed(*at, ("data",), group) is not None


def _pointed(
    kind: Structure, content: bytes, names: Collection[str], group: _Group
) -> tuple[Structure, bytes] | None:
    """Return the block that the first of these members points at, or None."""
    for member in kind.members:
        if member.name in names:
            address = int.from_bytes(content[member.offset : member.offset + 8], "little")
            return group.get(address)
    return None


def _check_label(code: bytes, kind: Structure, content: bytes, name_at: int) -> None:
    """Raise ValueError when a datablock's code, its structure and the first letters of its name
    disagree, because Blender may use any of the three."""
    if len(code) != 2:
        raise ValueError("a datablock has an unknown code")
    if not _is_datablock(kind) or _KINDS.get(code, kind.name) != kind.name:
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


def _is_datablock(kind: Structure) -> bool:
    first = kind.members[0] if kind.members else None
    return first is not None and (first.kind, first.name, first.points) == ("ID", "id", False)


def _is_path(holder: str, member: Member) -> bool:
    room = 2 if holder in _BARE else _ROOM
    is_text = member.kind == "char" and not member.points and member.size >= room
    return is_text and not _OTHERS.match(f"{holder}.{member.name}")


def _texts(
    by_name: dict[str, Structure], kind: Structure, fields: Collection[tuple[str, str]] = ()
) -> Iterator[tuple[str, int, int]]:
    """For each path in ``kind``, yield the name of the structure that contains it, and the path's
    offset and size. Strings in ``fields`` count even if they have less room than a path, as in
    files from old versions."""
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
            if _is_path(at.name, member) or (at.name, member.name) in fields:
                yield at.name, offset, member.size


Block = tuple[bytes, int, int, bytes]


class _Choice(Protocol):
    def is_read(self, index: int) -> bool: ...


class _Some:
    def __init__(self, indices: Collection[int]) -> None:
        self._indices = indices

    def is_read(self, index: int) -> bool:
        return index in self._indices


def layout_of(file: str) -> tuple[Machine, list[Structure]]:
    """Return the kind of machine that wrote the file, and the file's structures. Raises the same
    errors as ``datablocks``."""
    with _opened(file) as stream:
        _, machine = _head(stream)
    for *_, block in _blocks(file, code=b"DNA1"):
        return machine, structures(block, machine)
    raise ValueError("the file has no description of its structures")


def datablocks(file: str, also: Collection[int], whole: Collection[bytes]) -> Iterator[Block]:
    """Yield each datablock's code, the index of its structure, its address, and its content, as the
    file labels them. For a datablock in a library, the code is ``ID`` and the content is empty.
    A datablock with a code in ``whole`` is followed by its other blocks, with the code ``DATA``.
    Blocks of the structures in ``also`` are yielded with that code, too. Raises ValueError,
    OSError, EOFError or struct.error when this isn't a .blend file, and ImportError when it can't
    be unpacked."""
    for block in _blocks(file, _Some(also), whole=whole):
        if block[0] in (b"ID", b"DATA") or block[0] not in _NO_DATABLOCKS:
            yield block


def _blocks(
    file: str,
    layout: _Choice | None = None,
    code: bytes = b"",
    most: int = 0,
    whole: Collection[bytes] = (),
) -> Iterator[Block]:
    """Yield the code, structure index, address and content of each block with the given ``code``,
    or of every block if a ``layout`` is given. A block that isn't read in full has at most ``most``
    bytes of content. All blocks of a datablock whose code is in ``whole`` are read in full."""
    is_whole = False
    with _opened(file) as stream:
        head, _ = _head(stream)
        while True:
            started = stream.read(head.size)
            if len(started) < head.size or started.startswith(b"ENDB"):
                return
            name, length, address, index, count = _fields(head, started)
            if length < 0 or count < 0 or index < 0:
                raise ValueError("one of the file's blocks has no valid length")
            if is_datablock := name not in _NO_DATABLOCKS:
                is_whole = name in whole
            if (code and name == code) or (
                layout is not None and (layout.is_read(index) or is_datablock or is_whole)
            ):
                if length > _MOST_BYTES:
                    raise ValueError("one of the file's blocks is too large")
                content = stream.read(length)
                if len(content) < length:
                    raise ValueError("the file ends early")
                yield name, index, address, content
                continue
            start = stream.read(min(length, most)) if length >= _ROOM else b""
            _skip(stream, length - len(start))
            if layout is not None:
                yield name, index, address, start


#: The format of a block's header since Blender 5.0. As in the older formats, it contains code,
#: length, address, structure and count, but in a different order.
_LONG = struct.Struct("<4siQqq")


def _head(stream: IO[bytes]) -> tuple[struct.Struct, Machine]:
    """Return the format of the blocks' headers, and the kind of machine that wrote the file."""
    start = stream.read(12)
    if start[:7] != b"BLENDER":
        raise ValueError("the file doesn't start with a Blender file header")
    if re.fullmatch(rb"BLENDER17-01", start):
        stream.read(5)
        return _LONG, USUAL
    if not re.fullmatch(rb"BLENDER[-_][vV]\d+", start):
        raise ValueError("the file is from another kind of machine; save it again in Blender")
    order, pointer = "<" if start[8:9] == b"v" else ">", 8 if start[7:8] == b"-" else 4
    address = "Q" if pointer == 8 else "I"
    return struct.Struct(f"{order}4si{address}ii"), Machine(order, pointer)


def _fields(head: struct.Struct, started: bytes) -> tuple[bytes, int, int, int, int]:
    if head is _LONG:
        code, index, address, length, count = head.unpack(started)
    else:
        code, length, address, index, count = head.unpack(started)
    if head.format.startswith(">"):  # Big-endian: two-letter codes are at the end.
        code = code.lstrip(b"\0")
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


def _unpacked(packed: IO[bytes]) -> Any:
    """Return a reader that decompresses Zstandard data. Raises ImportError."""
    try:
        import zstandard  # Builds of Blender from blender.org include this module.
    except ImportError:
        # The standard library has included this module since Python 3.14.
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        return zstd.open(packed)
    return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    """Open the file, and yield its uncompressed content as a stream."""
    with Path(file).open("rb") as plain:
        start = plain.read(4)
        plain.seek(0)
        if start[:2] == b"\x1f\x8b":
            with gzip.open(plain) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif start == b"\x28\xb5\x2f\xfd":
            try:
                with _unpacked(plain) as reader:
                    yield reader
            except Exception as error:
                # This is the ZstdError of either module. The two classes have no common base class.
                if type(error).__name__ != "ZstdError":
                    raise
                raise ValueError(str(error)) from None
        else:
            yield plain

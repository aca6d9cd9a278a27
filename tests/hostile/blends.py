"""Mutated .blend files: every label that Blender relies on may be wrong."""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from hostile.making import spoiled_bytes

_HEAD = struct.Struct("<4siQii")
_CODES = (
    *(b"LI\0\0", b"IM\0\0", b"SO\0\0", b"VF\0\0", b"CF\0\0", b"VO\0\0", b"MC\0\0", b"TX\0\0"),
    *(b"DATA", b"OB\0\0", b"ME\0\0", b"SC\0\0", b"ID\0\0", b"TEST", b"ZZ\0\0", b"LIXX", b"L\0\0\0"),
)
#: Structures that contain a path, or that are stored where a structure with a path may be.
_STRUCTURES = (
    *("Library", "Image", "bSound", "VFont", "CacheFile", "Volume", "MovieClip", "Text", "ID"),
    *("MeshCacheModifierData", "OceanModifierData", "SubsurfModifierData", "PointCache", "Strip"),
    *("StripElem", "StripProxy", "CacheFileLayer", "ImageView", "NodeShaderTexIES", "Link"),
    *("ModifierData", "CustomDataExternal", "Object", "Mesh", "TextLine", "bNode", "Brush"),
)
_TYPES = ("char", "uchar", "short", "int", "float", "double", "int8_t", "uint64_t", "void", "ID")

_WINDOWS = (b"WM\0\0", b"SN\0\0", b"WS\0\0")

#: Paths of files in the folder ``out``, which nothing may read, and harmless paths.
PLACES = ("{out}/{name}", "//../out/{name}", "//link/{name}", "//x/../../out/{name}", "//{name}")


class Block:
    """One block of a file, whose label can be changed."""

    def __init__(self, label: tuple[bytes, int, int, int, int], content: bytes) -> None:
        self.code, _, self.address, self.structure, self.count = label
        self.content = content
        self.length: int | None = None

    def __bytes__(self) -> bytes:
        length = len(self.content) if self.length is None else self.length
        return (
            _HEAD.pack(self.code, length, self.address, self.structure, self.count) + self.content
        )


def blocks_of(whole: bytes) -> list[Block]:
    blocks, at = [], 12
    while at < len(whole):
        label = _HEAD.unpack_from(whole, at)
        at += _HEAD.size
        blocks.append(Block(label, whole[at : at + label[1]]))
        at += label[1]
    return blocks


def _without_windows(whole: bytes) -> bytes:
    """Return the file without its windows' blocks, which are most of its blocks and name no
    files."""
    kept, keeps = [], True
    for each in blocks_of(whole):
        if each.code != b"DATA":
            keeps = each.code not in _WINDOWS
        if keeps:
            kept.append(bytes(each))
    return whole[:12] + b"".join(kept)


def samples(folder: Path, out: Path) -> list[bytes]:
    """Return files, saved by Blender itself, that each use one outside file."""
    import bpy

    def empty() -> Any:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        return bpy.context.scene

    def saved() -> bytes:
        path = folder / "made.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), relative_remap=False, compress=False)
        return path.read_bytes()

    def with_object() -> Any:
        scene = empty()
        mesh = bpy.data.meshes.new("S")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        made = bpy.data.objects.new("S", mesh)
        scene.collection.objects.link(made)
        return made

    def cached(path: str) -> None:
        modifier = with_object().modifiers.new("c", "MESH_CACHE")
        modifier.cache_format, modifier.filepath = "PC2", path

    def linked(path: str) -> None:
        (folder / path.rpartition("/")[2]).write_bytes((out / "s.blend").read_bytes())
        scene = empty()
        with bpy.data.libraries.load(str(out / "s.blend"), link=True) as (there, wanted):
            wanted.objects = list(there.objects)
        scene.collection.objects.link(wanted.objects[0])
        bpy.data.libraries[0].filepath = path

    def pictured(path: str) -> None:
        empty()
        picture = bpy.data.images.load(str(out / "s.png"))
        picture.use_fake_user, picture.filepath = True, path

    def sounding(path: str) -> None:
        empty()
        sound = bpy.data.sounds.load(str(out / "s.wav"))
        sound.use_fake_user, sound.filepath = True, path

    def stripped(path: str) -> None:
        editor = empty().sequence_editor_create()
        editor.strips.new_image("s", str(out / "s.png"), 1, 1).directory = path.rpartition("/")[0]

    def simulated(path: str) -> None:
        made = with_object()
        made.modifiers.new("p", "PARTICLE_SYSTEM")
        cache = made.particle_systems[0].point_cache
        cache.use_external, cache.filepath = True, path.rpartition("/")[0]
        cache.name = "s"

    uses: dict[str, Callable[[str], None]] = {
        "s.pc2": cached,
        "s.blend": linked,
        "s.png": pictured,
        "s.wav": sounding,
        "s_000000_00.bphys": simulated,
        "s.png ": stripped,
    }
    with_object()
    (out / "s.blend").write_bytes(saved())
    body = struct.pack("<iiffi", 1, 3, 0, 1, 2) + bytes(72)
    (out / "s.pc2").write_bytes(b"POINTCACHE2\0" + body)
    (out / "s_000000_00.bphys").write_bytes(b"BPHYSICS" + bytes(64))
    wave = (
        b"WAVEfmt "
        + struct.pack("<iHHiiHH", 16, 1, 1, 8000, 8000, 1, 8)
        + b"data\4\0\0\0"
        + bytes(4)
    )
    (out / "s.wav").write_bytes(b"RIFF" + struct.pack("<i", len(wave)) + wave)
    picture = bpy.data.images.new("s", 4, 4)
    picture.filepath_raw, picture.file_format = str(out / "s.png"), "PNG"
    picture.save()
    files = []
    for name, use in uses.items():
        for place in PLACES:
            use(place.format(out=out, name=name.strip()))
            files.append(_without_windows(saved()))
    return files


def mutated(random: Random, layouts: Random, whole: bytes) -> bytes:
    """Return the file with one or a few of its labels changed, in its blocks or in its layout.
    ``layouts`` chooses the changes to its layout."""
    blocks = blocks_of(whole)
    if random.random() < 0.03:
        return _again(random, spoiled_bytes(random, whole))
    names = _structures(blocks[-2].content)
    telling = [each for each in blocks if re.search(rb"out/|link/|//s", each.content[:4096])]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        one = random.choice(telling if telling and random.random() < 0.7 else blocks)
        kind = random.randrange(9)
        if kind == 0:
            one.code = random.choice(_CODES)
        elif kind in (1, 2):
            known = [names.index(each) for each in _STRUCTURES if each in names]
            one.structure = random.choice((0, 1, len(names), -1, *known, *known))
        elif kind == 3:
            one.count = random.choice((0, 1, 2, -1, 2**20))
        elif kind == 4:
            one.length = random.choice((0, len(one.content) - 4, len(one.content) + 8, -8))
        elif kind == 5:
            one.address = random.choice(blocks).address
        elif kind == 6:
            at = one.content.find(random.choice((b"out/", b"link/", b"//")))
            one.content = one.content if at < 0 else _moved(random, one.content, at)
        else:
            blocks[-2].content = _layout(layouts, blocks[-2].content)
    return _again(random, whole[:12] + b"".join(map(bytes, blocks)))


def _again(random: Random, whole: bytes) -> bytes:
    return gzip.compress(whole, 1) if random.random() < 0.05 else whole


def _moved(random: Random, content: bytes, at: int) -> bytes:
    """Insert other bytes before a path or into it."""
    start = content.rfind(b"\0", 0, at) + 1
    put = random.choice((b"\0", b"/", b"\\", b"//", b"A:", b" ", b"\xff"))
    return content[:start] + put + content[start + len(put) * random.randrange(2) :][: len(content)]


@lru_cache
def _structures(block: bytes) -> list[str]:
    from callboard_blender.application.blend_layout import structures

    return [each.name for each in structures(block)]


def _layout(random: Random, block: bytes) -> bytes:
    """Change the layout of structures: types and names of members, and lengths of fields."""
    strc = block.index(b"STRC")
    kind = random.randrange(4)
    if kind == 0:  # a name, keeping its length
        old, new = random.choice(
            (
                (b"\0name[1024]\0", b"\0name[0768]\0"),
                (b"\0filepath[1024]\0", b"\0filepath[0700]\0"),
                (b"\0filepath[1024]\0", b"\0filepaXh[1024]\0"),
                (b"\0filepath[1024]\0", b"\0filepath[2][5]\0"),
                (b"\0name[1024]\0", b"\0*ame[1024]\0"),
                (b"\0name[1024]\0", b"\0name[3][9]\0"),
                (b"\0path[1024]\0", b"\0path[0512]\0"),
                (b"\0dir[768]\0", b"\0dir[700]\0"),
                (b"\0Library\0", b"\0LibrarY\0"),
                (b"\0MeshCacheModifierData\0", b"\0MeshCacheModifierDatA\0"),
                (b"\0Strip\0", b"\0StriP\0"),
                (b"\0Image\0", b"\0ImagE\0"),
            )
        )
        return block.replace(old, new)
    if kind == 1:  # the type or name of one member
        at = strc + 8 + 4 * random.randrange((len(block) - strc - 8) // 4)
        return block[:at] + struct.pack("<H", random.randrange(900)) + block[at + 2 :]
    with suppress(ValueError):
        return _retyped(random, block)
    return spoiled_bytes(random, block)


def _retyped(random: Random, block: bytes) -> bytes:
    """Change the type of a member that holds a path, and resize its structure to fit."""
    texts = block[block.index(b"NAME") + 8 : block.index(b"TYPE")].split(b"\0")
    types = block[block.index(b"TYPE") + 8 : block.index(b"TLEN")].split(b"\0")
    tlen, strc = block.index(b"TLEN") + 4, block.index(b"STRC") + 8
    wanted = types.index(random.choice(_STRUCTURES[:20]).encode())
    (count,) = struct.unpack_from("<i", block, strc - 4)
    made, at = bytearray(block), strc
    for _ in range(count):
        kind, members = struct.unpack_from("<2H", block, at)
        for member in range(members):
            place = at + 4 + 4 * member
            of, name = struct.unpack_from("<2H", block, place)
            if kind == wanted and types[of] == b"char" and texts[name].endswith(b"]"):
                new = types.index(random.choice(_TYPES).encode())
                struct.pack_into("<H", made, place, new)
                (size,) = struct.unpack_from("<H", block, tlen + 2 * kind)
                (one,) = struct.unpack_from("<H", block, tlen + 2 * new)
                many = int(texts[name].rpartition(b"[")[2][:-1])
                struct.pack_into("<H", made, tlen + 2 * kind, (size + many * (one - 1)) % 65536)
        at += 4 + 4 * members
    return bytes(made)


def read_blend(path: Path) -> bool:
    """Open the file as the application does, evaluate its scene and read what it uses. Return
    whether it could be opened."""
    import bpy

    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    except RuntimeError:
        return False
    with suppress(Exception):
        bpy.context.scene.frame_set(1)
    for each in bpy.data.images:
        with suppress(Exception):
            each.pixels[0]
    return True

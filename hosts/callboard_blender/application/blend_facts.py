"""Reads a .blend file's contents from its blocks on disk, without opening the file in Blender."""

from __future__ import annotations

import os
import struct
from collections import Counter
from typing import Any

from callboard.host import Json
from callboard_blender.application.blend_layout import Member, Structure
from callboard_blender.application.blend_named import datablocks, layout_of

#: Names of the collections in ``bpy.data``, by the two-letter code of their datablocks.
_COUNTS = {
    b"AC": "actions",
    b"AR": "armatures",
    b"CA": "cameras",
    b"GR": "collections",
    b"CU": "curves",
    b"VF": "fonts",
    b"IM": "images",
    b"LA": "lights",
    b"LI": "libraries",
    b"MA": "materials",
    b"ME": "meshes",
    b"NT": "node_groups",
    b"OB": "objects",
    b"SC": "scenes",
    b"KE": "shape_keys",
    b"SO": "sounds",
    b"TX": "texts",
    b"WS": "workspaces",
    b"WO": "worlds",
    b"BR": "brushes",
    b"CF": "cache_files",
    b"CV": "hair_curves",
    b"GD": "grease_pencils",
    b"GP": "grease_pencils_v3",
    b"LP": "lightprobes",
    b"LS": "linestyles",
    b"LT": "lattices",
    b"MB": "metaballs",
    b"MC": "movieclips",
    b"MS": "masks",
    b"PA": "particles",
    b"PC": "paint_curves",
    b"PL": "palettes",
    b"PT": "pointclouds",
    b"SK": "speakers",
    b"SN": "screens",
    b"SR": "screens",
    b"TE": "textures",
    b"VO": "volumes",
    b"WM": "window_managers",
}
_TYPES = {
    0: "empty",
    1: "mesh",
    2: "curve",
    3: "surface",
    4: "font",
    5: "meta",
    10: "light",
    11: "camera",
    12: "speaker",
    13: "light_probe",
    22: "lattice",
    25: "armature",
    26: "gpencil",
    27: "curves",
    28: "pointcloud",
    29: "volume",
    30: "greasepencil",
}
#: The kind of file that a datablock names, by the datablock's two-letter code.
NAMING = {
    b"LI": "library",
    b"IM": "image",
    b"SO": "sound",
    b"VF": "font",
    b"CF": "cache",
    b"VO": "volume",
    b"MC": "movie",
}
_PACKED = ("packedfile", "packedfiles")
_FORMATS = {"short": "h", "int": "i", "float": "f", "char": "b"}
#: The structure that records which file a datablock was appended from.
_ORIGIN = "LibraryWeakReference"
#: The structure of a strip in the video editor, under the name that files keep for it.
_STRIP = "Sequence"


class BlendFacts:
    """Counts of a .blend file's contents, and facts about its scenes, objects and meshes. Raises
    the same errors as ``blend_named.datablocks``."""

    def __init__(self, file: str) -> None:
        self._machine, self._known = layout_of(file)
        self._by_name = {each.name: each for each in self._known}
        self.counts: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        #: The number of faces of each mesh, by the mesh's name.
        self.faces: dict[str, int] = {}
        self.scenes: list[Json] = []
        self.workspaces: list[str] = []
        #: The number of node groups by type.
        self.node_trees: Counter[str] = Counter()
        self.linked = 0
        self.assets = 0
        #: Each named file: its kind, its path, the datablock that names it, and whether it is
        #: packed.
        self.named: list[tuple[str, str, str, bool]] = []
        #: For the text datablock that was read last: the address of the block with its path, and
        #: the datablock's name.
        self._text = (0, "")
        #: The number of strips in the video editor.
        self.strips = 0
        #: The number of scenes with a compositor.
        self.composited = 0
        origins = {n for n, each in enumerate(self._known) if each.name == _ORIGIN}
        strips = {n for n, each in enumerate(self._known) if each.name == _STRIP}
        for code, index, address, content in datablocks(file, origins | strips, (b"TX",)):
            if code == b"ID":
                self.linked += 1
            elif code == b"DATA" and index in origins:
                self._name("file", self._value(self._known[index], content, "library_filepath"))
            elif code == b"DATA" and index in strips:
                self.strips += 1
            elif code == b"DATA" and address == self._text[0]:
                self._name("file", os.fsdecode(content.split(b"\0", 1)[0]), self._text[1])
            elif code != b"DATA" and index < len(self._known):
                self._note(code, self._known[index], content)

    def _name(self, kind: str, path: str | None, owner: str = "", packed: bool = False) -> None:
        if path and not path.startswith("<"):
            self.named.append((kind, path, owner, packed))

    def _note(self, code: bytes, kind: Structure, content: bytes) -> None:
        name = (self._value(kind, content, "id.name") or "")[2:]
        if code in NAMING:
            # In a file from an older version, a library has a second path, which Blender itself
            # computes.
            path = self._value(kind, content, "name") or self._value(kind, content, "filepath")
            pointers = (self._value(kind, content, each) for each in _PACKED)
            self._name(NAMING[code], path, name, any(pointers))
        elif code == b"TX":
            at = self._value(kind, content, "name") or self._value(kind, content, "filepath")
            self._text = (at or 0, name)
        if code not in _COUNTS:
            return
        self.counts[_COUNTS[code]] += 1
        self.assets += bool(self._value(kind, content, "id.asset_data"))
        if code == b"OB":
            self.types[_TYPES.get(self._value(kind, content, "type"), "other")] += 1
        elif code == b"ME":
            faces = self._value(kind, content, "totpoly")
            faces = faces or self._value(kind, content, "faces_num")
            self.faces[name] = faces or self._value(kind, content, "totface") or 0
        elif code == b"NT":
            self.node_trees[self._value(kind, content, "idname") or ""] += 1
        elif code == b"WS":
            self.workspaces.append(name)
        elif code == b"SC":
            self.scenes.append(self._scene(kind, content, name))
            # Blender 5.0 and later have the first member instead of the others.
            own = self._value(kind, content, "nodetree") and self._value(kind, content, "use_nodes")
            self.composited += bool(own or self._value(kind, content, "compositing_node_group"))

    def _scene(self, kind: Structure, content: bytes, name: str) -> Json:
        def value(path: str) -> Any:
            return self._value(kind, content, path)

        rate, base = value("r.frs_sec") or 0, value("r.frs_sec_base") or 1.0
        return {
            "name": name,
            "frame_range": [value("r.sfra"), value("r.efra")],
            "fps": round(rate / base, 3),
            "engine": value("r.engine"),
            "resolution": [value("r.xsch"), value("r.ysch"), value("r.size")],
            "units_per_meter": 1 / (value("unit.scale_length") or 1.0),
            "view_transform": value("view_settings.view_transform"),
            "look": value("view_settings.look"),
            "exposure": value("view_settings.exposure"),
            "display": value("display_settings.display_device"),
        }

    def _value(self, kind: Structure, content: bytes, path: str) -> Any:
        """Return the string or number at a path of members, such as ``id.name``, or None if the
        file's version of Blender doesn't have such a member."""
        member_at = self._member(kind, path)
        if member_at is None:
            return None
        member, offset = member_at
        if member.kind == "char" and member.count > 1 and not member.points:
            return os.fsdecode(content[offset : offset + member.size].split(b"\0", 1)[0])
        if member.points or member.kind == "ListBase":
            return self._machine.number(content[offset : offset + self._machine.pointer])
        if member.kind not in _FORMATS or member.count > 1:
            return None
        form = f"{self._machine.order}{_FORMATS[member.kind]}"
        (number,) = struct.unpack_from(form, content, offset)
        return number

    def _member(self, kind: Structure | None, path: str) -> tuple[Member, int] | None:
        offset = 0
        member: Member | None = None
        for name in path.split("."):
            if member is not None:
                kind = self._by_name.get(member.kind)
            named = () if kind is None else kind.members
            member = next((each for each in named if each.name == name), None)
            if member is None:
                return None
            offset += member.offset
        return None if member is None else (member, offset)

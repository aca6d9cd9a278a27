"""Compares datablocks, or parts of them, by everything that Blender's description of their types
names: settings, custom properties, nodes and links, drivers, and the geometry of meshes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import bpy

from callboard.errors import HostError
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of
from callboard_blender.parts.mesh_digest import digest_of, mesh_digest
from callboard_blender.parts.property_values import FILES, plain

#: Maximum number of entries of a list that are read one by one, such as keys of a curve.
_MOST_ENTRIES = 10_000
#: Maximum length of a text in an answer.
_LONGEST = 200
#: Properties that don't determine what data does, by the type that has them: names, identifiers,
#: what is selected or active, places in the node editor, and what Blender computes.
_BESIDE = {
    "ID": (
        "name name_full session_uid session_uuid id_type is_evaluated original users tag preview "
        "use_fake_user use_extra_user is_embedded_data is_linked_packed is_missing is_editable "
        "is_runtime_data is_library_indirect is_editmode library library_weak_reference"
    ),
    "Object": (
        "matrix_world matrix_local matrix_basis bound_box dimensions mode select is_from_instancer "
        "is_from_set is_instancer use_dynamic_topology_sculpting"
    ),
    "PoseBone": (
        "matrix matrix_basis matrix_channel head tail vector length x_axis y_axis z_axis "
        "is_in_ik_chain child bone select"
    ),
    "Bone": "children select select_head select_tail vector",
    "Modifier": "execution_time persistent_uid show_expanded is_active is_override_data",
    # `enabled` is the opposite of `mute`.
    "Constraint": "show_expanded is_valid error_location error_rotation is_override_data enabled",
    # Each bone names its collections.
    "BoneCollection": "bones bones_recursive child_number index is_expanded",
    "Node": (
        "location location_absolute width width_hidden height dimensions select hide parent color "
        "use_custom_color color_tag show_options show_preview show_texture internal_links interface"
    ),
    "NodeSocket": (
        "node select show_expanded hide enabled link_limit is_linked is_icon_visible "
        "is_unavailable is_inactive display_shape"
    ),
    "NodeTree": "view_center grease_pencil",
    "NodeTreeInterfaceItem": "index position",
    "Image": (
        "size resolution channels depth is_float has_data is_dirty bindcode pixels frame_duration "
        "display_aspect"
    ),
    "Material": "paint_active_slot paint_clone_slot texture_paint_images texture_paint_slots",
    "Mesh": (
        "total_vert_sel total_edge_sel total_face_sel "
        "uv_layer_clone uv_layer_clone_index uv_layer_stencil uv_layer_stencil_index"
    ),
    "Text": (
        "current_line current_line_index current_character select_end_line select_end_line_index "
        "select_end_character is_dirty is_modified"
    ),
    "PointCache": "info",
    "PointCacheItem": "info",
    "ParticleSettings": "material_slot",
    "ViewLayer": "depsgraph objects",
    "Collection": "all_objects",
    # In Blender 4.3, one of the tools names a brush that isn't there, and reading it would crash.
    "Scene": "objects tool_settings",
    "SceneEEVEE": "gi_cache_info",
    "FCurve": "select group is_valid",
    "Keyframe": "co_ui select_control_point select_left_handle select_right_handle",
    "AnimData": "action_suitable_slots",
    "Action": "curve_frame_range frame_range",
    # Each group names its curves, and a slot is named with its curves.
    "ActionGroup": "channels",
    "ActionSlot": "handle",
    "ActionChannelbag": "slot slot_handle",
    "Library": "version",
}
#: What a pointer to one of these refers to is compared elsewhere.
_ELSEWHERE = ("Node", "Bone", "PoseBone", "BoneCollection", "ShapeKey", "NodeTreeInterfacePanel")
#: Lists whose order means nothing.
_UNORDERED = ("nodes", "objects", "children", "vertex_groups", "bones", "fcurves", "drivers")

#: A name in a path, and where a path may end before what is below it.
_QUOTED, _CUT = re.compile(r'"((?:[^"\\]|\\.)*)"'), re.compile(r"[.\[]")

#: The properties to read of each type, with their kinds.
Known = dict[tuple[str, int], list[tuple[str, str]]]


class Kind(str):
    """The type of what is at a path."""


class Names(tuple[str, ...]):
    """The marks that tell the entries of a list apart, in their order: names, or
    places such as ``2``."""


class Unordered(Names):
    """The same of a list whose order means nothing."""


class Contents:
    """The contents of a datablock or of a part of one: values by their paths. ``left`` names what
    can't be compared."""

    def __init__(self, root: Any, known: Known | None = None) -> None:
        self.values: dict[str, Any] = {}
        self.left: list[str] = []
        #: Descriptions of types, for several comparisons in one slice of the main thread.
        self._known: Known = {} if known is None else known
        self._seen: dict[Any, str] = {}
        self._own = {root.id_data}
        self._read(root, "", skipped={"name"})

    def digest(self) -> bytes:
        """Return a value that is equal only for equal contents."""
        return blake2b(repr(sorted(self.values.items())).encode(), digest_size=16).digest()

    def _read(self, owner: Any, path: str, skipped: set[str] | None = None) -> None:
        if owner is None:
            self.values[path] = None
            return
        place = (type(owner), owner.as_pointer())
        if place in self._seen:
            self.values[path] = f"see {self._seen[place]}"
            return
        self._seen[place] = path
        self.values[path] = Kind(owner.bl_rna.identifier)
        if isinstance(owner, bpy.types.ID):
            self._own.add(owner)
        for key, kind in self._properties(owner):
            if skipped is None or key not in skipped:
                at = f"{path}.{key}" if path else key
                try:
                    self._property(owner, key, kind, at)
                except (AttributeError, TypeError, ValueError, RuntimeError, ReferenceError):
                    self.left.append(at)
        self._customs(owner, path)
        if getattr(owner, "is_editmode", False):
            self.left.append("what edit mode has changed")
        if isinstance(owner, bpy.types.Mesh):
            geometry, left = mesh_digest(owner)
            self.values.update(
                {f"{path}.{key}" if path else key: geometry[key] for key in geometry}
            )
            self.left += left
        elif isinstance(owner, bpy.types.Image) and owner.is_dirty:
            self.left.append("pixels that were painted and not saved")

    def _property(self, owner: Any, key: str, kind: str, path: str) -> None:
        value = getattr(owner, key)
        if kind == "POINTER":
            self._pointed(value, key, path)
        elif kind == "IDS":
            names = [self._named(each) for each in value]
            self.values[path] = tuple(names if key == "materials" else sorted(names))
        elif kind == "COLLECTION" and isinstance(owner, bpy.types.NodeTree) and key == "links":
            self._links(value, path.removesuffix("links"))
        elif kind == "COLLECTION" and isinstance(owner, bpy.types.ShapeKey) and _is_of_mesh(owner):
            self.values[path] = digest_of(value, "co", "f", 3)
        elif key == "collections" and isinstance(owner, bpy.types.Bone):
            self.values[path] = tuple(sorted(each.name for each in value))
        elif kind == "COLLECTION":
            self._entries(value, key, path)
        elif kind == "FLAGS":
            self.values[path] = tuple(sorted(value))
        elif kind == "ARRAY":
            self.values[path] = _tuple(value)
        elif isinstance(value, bytes) or kind == "PASSWORD":
            self.values[path] = f"{len(value)} bytes, {_digest(value)}"
        elif kind in FILES and owner.id_data.library is not None:
            self.values[path] = bpy.path.abspath(value, library=owner.id_data.library)
        else:
            self.values[path] = value

    def _pointed(self, value: Any, key: str, path: str) -> None:
        if type(value) is bpy.types.ID:  # Blender doesn't know what it is, so it may not be there.
            self.left.append(path)
        elif isinstance(value, bpy.types.ID):
            # Shape keys belong to one mesh or curve, but aren't embedded in it.
            if value in self._own or not (value.is_embedded_data or key == "shape_keys"):
                self.values[path] = self._named(value)
            else:
                self._read(value, path)
        elif isinstance(value, bpy.types.NodeSocket):
            self.values[path] = f"{value.node.name}: {value.identifier}"
        elif any(isinstance(value, getattr(bpy.types, each, ())) for each in _ELSEWHERE):
            self.values[path] = value.name
        else:
            self._read(value, path)

    def _named(self, block: Any) -> Any:
        if block is None:
            return None
        return "itself" if block in self._own else block.name_full

    def _entries(self, entries: Any, key: str, path: str) -> None:
        if len(entries) > _MOST_ENTRIES:
            self.values[path] = f"{len(entries)} entries"
            self.left.append(self.values[path] + f" of {path}")
            return
        items = [each for each in entries if getattr(each, "type", "") != "FRAME"]
        # The slots of two actions are mostly named after two objects.
        names = ["0"] if key == "channelbags" and len(items) == 1 else _names(items)
        self.values[path] = Unordered(sorted(names)) if key in _UNORDERED else Names(names)
        for name, each in zip(names, items, strict=True):
            self._read(each, f"{path}[{name}]")

    def _links(self, links: Any, before: str) -> None:
        into: dict[Any, list[Any]] = defaultdict(list)
        for link in links:
            into[link.to_socket].append(link)
        outputs: dict[Any, str] = {}
        for node in {link.from_node for link in links}:
            names = (each.strip('"') for each in _names([*node.outputs]))
            outputs.update(zip(node.outputs, names, strict=True))
        for socket, several in into.items():
            several.sort(key=lambda one: getattr(one, "multi_input_sort_id", 0))
            inputs = [*socket.node.inputs]
            name = _names(inputs)[inputs.index(socket)]
            self.values[f'{before}nodes["{socket.node.name}"].inputs[{name}].links'] = tuple(
                f"{one.from_node.name}: {outputs[one.from_socket]}"
                + (" (muted)" if one.is_muted else "")
                for one in several
            )

    def _customs(self, owner: Any, path: str) -> None:
        try:
            held = {key: owner[key] for key in owner.keys()}  # noqa: SIM118
        except TypeError:  # This type has no custom properties.
            return
        for key in sorted(held):
            # Up to Blender 4.5, those that add-ons define are among them.
            if key not in owner.bl_rna.properties:
                self.values[f'{path}["{key}"]'] = self._custom(held[key])

    def _custom(self, value: Any) -> Any:
        if isinstance(value, bpy.types.ID):
            return self._named(value)
        if hasattr(value, "to_dict"):
            return tuple((key, self._custom(each)) for key, each in sorted(value.items()))
        if hasattr(value, "to_list"):
            return tuple(value.to_list())
        return tuple(map(self._custom, value)) if isinstance(value, list) else value

    def _properties(self, owner: Any) -> list[tuple[str, str]]:
        """Return the properties to read, with their kinds. Only words are kept, because an add-on
        that is disabled takes Blender's own descriptions with it."""
        rna = owner.bl_rna
        at = (rna.identifier, rna.as_pointer())
        if at not in self._known:
            skipped, base = {"rna_type"}, rna
            while base is not None:
                skipped.update(_BESIDE.get(base.identifier, "").split())
                base = base.base
            if "layers" in rna.properties and rna.identifier == "Action":
                skipped |= {"fcurves", "groups"}  # These are the first slot's again.
            self._known[at] = [
                (each.identifier, _kind(each))
                for each in rna.properties
                if each.identifier not in skipped and not each.identifier.startswith("active")
            ]
            if isinstance(owner, bpy.types.Mesh):  # The rest is in its digest.
                self._known[at] = [each for each in self._known[at] if each[1] != "COLLECTION"]
        return self._known[at]


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each value that isn't the same, with both values, None where there is
    none. The entries of lists are compared with those of the same name. Nothing more is told of
    what only one of them has, nor of what ``why_stopped`` has a reason for."""
    stopped: set[str] = set()
    for path in dict.fromkeys((*first, *second)):
        one, other = first.get(path), second.get(path)
        if _equal(one, other) or _is_below(path, stopped):
            continue
        yield path, one, other
        if not (isinstance(one, Names) and isinstance(other, Names)):
            stopped.add(path)
            continue
        stopped.update(f"{path}[{each}]" for each in {*one} ^ {*other})
        if why_stopped(one, other):
            stopped.update(f"{path}[{each}]" for each in one if each.isdigit())


def why_stopped(one: Any, other: Any) -> str | None:
    """Return why what is below two different values wasn't compared, or None if all was that both
    have."""
    if isinstance(one, Kind) and isinstance(other, Kind):
        return "what is below, because the types differ"
    if not (isinstance(one, Names) and isinstance(other, Names)):
        return None
    unpaired = any(each.isdigit() for each in {*one} ^ {*other})
    return "its entries, because they have no names and aren't as many" if unpaired else None


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Unordered) and isinstance(other, Unordered):
        return {*one} == {*other}
    return repr(one) == repr(other)


def _is_below(path: str, stopped: set[str]) -> bool:
    """Return whether this path, or one that it is below, is among ``stopped``."""
    if not stopped:
        return False
    return path in stopped or any(path[: at.start()] in stopped for at in _CUT.finditer(path))


def mirrored(value: Any) -> Any:
    """Return a value or a path with the names in it flipped from left to right and back, as Blender
    flips them: foot.L becomes foot.R."""
    if isinstance(value, tuple):
        return type(value)(map(mirrored, value))
    if not isinstance(value, str) or isinstance(value, Kind):
        return value
    if '"' in value:
        return _QUOTED.sub(lambda match: f'"{bpy.utils.flip_name(match[1])}"', value)
    name, bracket, library = value.partition(" [")
    return f"{bpy.utils.flip_name(name)}{bracket}{library}"


def contents_at(block: Any, path: str | None) -> Contents:
    """Return the contents of a datablock or, if there is a path such as ``modifiers["Bevel"]``, of
    that part of it. Raises HostError."""
    if path is None:
        return Contents(block)
    try:
        part = block.path_resolve(path)
    except (ValueError, TypeError) as error:
        raise HostError(f"'{block.name}' has no '{path}': {error}") from None
    if not isinstance(part, bpy.types.bpy_struct):
        raise HostError(f"'{path}' is a value; name what has values, such as modifiers[\"Bevel\"]")
    contents, holder = Contents(part), part.id_data
    moving = (*curves_of(holder), *strip_curves_of(holder), *drivers_of(holder))
    if part != holder and any(each.data_path.startswith(f"{path}.") for each in moving):
        contents.left.append("drivers and keys, which belong to the whole")
    return contents


def both_shown(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two different values as JSON, not longer than an answer should be. Numbers are rounded
    unless they would be equal then."""
    first, second = _shown(one, 7), _shown(other, 7)
    return (_shown(one, 17), _shown(other, 17)) if first == second else (first, second)


def _shown(value: Any, digits: int) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    if isinstance(value, tuple):
        return [_shown(each, digits) for each in value[:_LONGEST]]
    if isinstance(value, float):
        return plain(float(f"{value:.{digits}g}"))
    return plain(value)


def _kind(prop: Any) -> str:
    if prop.type == "COLLECTION":
        kind = getattr(bpy.types, prop.fixed_type.identifier, object)
        return "IDS" if issubclass(kind, bpy.types.ID) else "COLLECTION"
    if prop.type == "ENUM":
        return "FLAGS" if prop.is_enum_flag else "VALUE"
    if prop.type == "STRING":
        return str(prop.subtype)
    if prop.type != "POINTER" and prop.is_array:
        return "ARRAY"
    return str(prop.type)


def _names(entries: list[Any]) -> list[str]:
    """Return what tells each entry of a list apart: its name, its identifier, or its place."""
    names = [*map(_name, entries)]
    count = Counter(names)
    told = []
    for at, (each, name) in enumerate(zip(entries, names, strict=True)):
        if name and count[name] == 1:
            told.append(name)
        else:
            identifier = getattr(each, "identifier", "")
            told.append(f'"{identifier}"' if identifier else str(at))
    return told


def _name(each: Any) -> str:
    if isinstance(each, bpy.types.FCurve):
        return f"{each.data_path}[{each.array_index}]"
    if isinstance(each, bpy.types.Keyframe):
        return f"frame {each.co[0]:.7g}"
    slot = getattr(each, "slot", None) if hasattr(each, "slot_handle") else None
    if slot is not None:
        return f'"{slot.identifier}"'
    name = getattr(each, "name", "")
    # A group often has an input and an output of the same name.
    way = getattr(each, "in_out", "")
    return f'"{name}"{way and f" {way.lower()}"}' if name else ""


def _is_of_mesh(key: Any) -> bool:
    return isinstance(key.id_data.user, bpy.types.Mesh)


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if hasattr(value, "__len__") else value


def _digest(value: bytes | str) -> str:
    content = value if isinstance(value, bytes) else value.encode()
    return blake2b(content, digest_size=8).hexdigest()

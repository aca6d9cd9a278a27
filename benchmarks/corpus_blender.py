"""The whole contents of a Blender file, read with plain ``bpy``, without callboard.

    python benchmarks/corpus_blender.py -- FILE

prints the values of each datablock of the file, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from array import array
from collections.abc import Iterator, Sequence
from ctypes import c_uint
from hashlib import blake2b
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).parent))  # Blender itself doesn't do this for a script.
from corpus import Refused, changes

#: Collections of ``bpy.data`` that belong to windows and tools, not to a scene, and libraries,
#: which Blender keeps after undo. Linked datablocks name their library themselves.
ELSEWHERE = {
    "libraries",
    "window_managers",
    "screens",
    "workspaces",
    "brushes",
    "palettes",
    "paint_curves",
}
#: Selection, properties that Blender derives from others, and values that are already read
#: elsewhere.
DERIVED = {
    *("rna_type", "bl_rna", "original", "preview", "session_uid", "id_data", "is_evaluated"),
    *("matrix_world", "matrix_local", "matrix_basis", "matrix_channel", "dimensions", "tag"),
    *(
        "select",
        "select_head",
        "select_tail",
        "select_edge",
        "select_point",
        "select_control_point",
    ),
    *(
        "select_left_handle",
        "select_right_handle",
        "active",
        "active_clone",
        "uv_layer_clone",
        "uv_layer_stencil",
        "is_active",
        "users",
    ),
    *("bone", "all_objects", "objects_recursive", "children_recursive", "tool_settings", "cursor"),
    *("loop_triangles", "loop_triangle_polygons", "vertex_normals", "corner_normals"),
    *("polygon_normals", "color_attributes", "vertex_colors", "depsgraph", "edit_bones", "normal"),
    *("active_color_name", "default_color_name", "users_collection", "is_dirty", "has_data"),
    *(
        "frame_final_start",
        "show_expanded",
        "show_in_editmode_expanded",
        "edge_creases",
        "name_full",
    ),
    *("use_extra_user", "use_fake_user_set", "is_library_indirect", "shape_key_add_type"),
    *("execution_time", "select_right", "select_left", "is_runtime_data", "weight_paint"),
}
#: Types of scalar properties that ``foreach_get`` can read all at once.
BLOCKS = {"FLOAT", "INT", "BOOLEAN"}
#: Number of vertices above which weights are left out, because they can only be read one by one.
WEIGHED = 20_000
DEPTH = 9

#: Where nodes are.
_TREES = r"\w+NodeTree|\w+\.node_tree"
#: Tools that change nodes.
NODE_TOOLS = [
    *(f"blender_nodes__{each}" for each in ("add", "remove", "link", "unlink", "set")),
    *(f"blender_nodes__{each}" for each in ("set_modifier", "set_socket", "remove_socket")),
    "blender_nodes__replace_group",
]
#: The purposes of tools: a pattern for their names, and a pattern for the values that such tools
#: may remove from existing datablocks, or change in linked datablocks and outside of the scene.
MAY = {
    "scene__delete": "",
    # With ``delete_empty``, the group itself is deleted, too.
    "structure__remove_from_group": (
        r"Collection\.($|(collection_)?(objects|children))"
        r"|Scene\.(collection|view_layers\[[^]]*\]\.layer_collection)\b.*children\["
    ),
    # The tool keeps the former world, by giving it a fake user.
    "lights__set_environment": r"World\.use_fake_user",
    "materials__.*|scene__set_material_color": r"\w+\.(materials|material_slots|node_tree\.links)",
    # A constant value replaces the nodes that computed the value.
    "materials__set(_texture)?": r"Material\.node_tree\.nodes",
    "attributes__set": r"Object\.\['ATTRIBUTE'\]",
    "cameras__set": r"Scene\.camera$|Camera\.dof\.focus_object",
    "scene__set_parent": r"Object\.parent",
    # Blender's own command also ends the instancing, because the overrides replace the instance.
    # A linked object that isn't instanced leaves the scene, because its override takes its place.
    "blender_library__make_override": (
        r"Object\.instance_collection"
        r"|(Scene|Collection)\..*(objects|children)\[(Object|Collection) .+ \[[^]]+\]\]"
    ),
    "blender_data__(replace|purge)": "",
    # The tool sets the modifiers of all scenes.
    "blender_data__set_modifiers": r"Object\.modifiers",
    # What is linked ends, because its local copy takes its place.
    "blender_files__make_local": "",
    # A node may get other sockets, and what passes through it if it is muted changes.
    "blender_nodes__.*": rf"({_TREES})\.?(nodes|links|interface|inputs|outputs|animation_data)",
    # Blender removes the keys of a removed node.
    "blender_nodes__remove": r"Action\..*(fcurves|groups)",
    "blender_nodes__set_modifier": r"Object\.modifiers\b.*(\['|properties)",
    "blender_nodes__(set|remove)_socket|blender_nodes__replace_group": (
        r"Object\.modifiers\b.*(\['|properties|node_group)"
    ),
    "structure__(create|add_to)_group": (
        r"Collection\.(objects|collection_objects)"
        # The scene's own collection, which is first read as a part of the view layer.
        r"|Scene\.view_layers\[[^]]*\]\.layer_collection\.collection\.(objects|collection_objects)"
    ),
    # If the scheme is "none", the subdivision is a modifier.
    "geometry__subdivide": r"Object\.modifiers",
    # Blender's own command also keeps the position of a child, whatever scene the child is in.
    "geometry__apply_scale": r"Object\.matrix_parent_inverse",
    # A particle system is a modifier, too.
    "(geometry|blender_modelling)__remove_modifier": r"Object\.(modifiers|particle_systems)",
    "animation__.*keys|animation__bake": r"(Object|Action)\.(animation_data|fcurves|layers|groups)",
    "animation__bake": r"Object\.constraints",
    "(geometry|blender_modelling)__.*": (
        r"Mesh\.(vertices|edges|polygons|loops|attributes|uv_layers|weights"
        # What Blender before 4.0 also calls some of the attributes.
        r"|vertex_paint_masks|\w+_layers_\w+)"
    ),
    "(geometry|blender_modelling)__apply(_modifiers)?": r"Object\.modifiers",
}
#: When it saves, Blender rewrites relative paths to start from the saved file's folder.
PATHS = ("filepath", "filepath_raw")
#: Values that Blender doesn't write to files, or fills in when it opens one.
NOT_SAVED = r"^Image Render Result|^Image Viewer Node|library_weak_reference"
#: Values that Blender derives from the timeline when it evaluates a particle system.
FOLLOWING = r"particle_systems?\b.*point_cache\b"
FRAMES = ("frame_start", "frame_end")
#: Values that Blender derives from the shape, but not before something needs them.
TEXTURE_SPACE = ("texspace_location", "texspace_size")
#: Reading one of these properties of a UV layer creates an attribute. After a change, its name can
#: be text from freed memory. The attributes themselves are read.
CREATING = ("vertex_selection", "edge_selection", "pin")
#: Values that no tool may change as a side effect.
KEPT = r"fake_user|asset_data|\['|animation_data|constraints|particle|rigid_body|parent_(bone|type)"

#: Files with one triangle.
_OBJ = "o Corpus\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
_USD = """#usda 1.0
def Mesh "Corpus"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
"""

_members: dict[str, list[tuple[str, str, bool]]] = {}


def datablocks() -> Iterator[bpy.types.ID]:
    for prop in bpy.data.bl_rna.properties:
        # In Blender 5.2, `all_ids` has all datablocks again.
        if (
            prop.type == "COLLECTION"
            and prop.identifier not in ELSEWHERE
            and prop.fixed_type.identifier != "ID"
        ):
            yield from getattr(bpy.data, prop.identifier)


def reference(block: bpy.types.ID, by_name: bool = False) -> str:
    kind = block.bl_rna.identifier
    # Blender links removed data again when the removal is undone, with another session_uid.
    by_name = by_name or block.library is not None
    return f"{kind} {block.name_full if by_name else session_number(block)}"


def session_number(block: bpy.types.ID) -> int:
    """Return a number that stays the same when the block is renamed, and after an undo. Blender
    before 4.1 has it only in memory, behind the name and seven other numbers."""
    if hasattr(block, "session_uid"):
        return int(block.session_uid)
    return c_uint.from_address(block.as_pointer() + 132).value


def unused() -> set[str]:
    """Return the linked data that no local data uses, not even through other linked data."""
    users = bpy.data.user_map()
    linked = {block for block in users if block.library and not block.use_fake_user}
    while used := {block for block in linked if not users[block] <= linked}:
        linked -= used
    return {reference(block) for block in linked}


def animated() -> Iterator[tuple[str, str]]:
    """Yield the values that keys or drivers set: the datablock and the path."""
    from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of

    for block in datablocks():
        inside = getattr(block, "node_tree", None)
        for owner, above in ((block, ""), (inside, "node_tree.")):
            if getattr(owner, "animation_data", None) is not None:
                for curve in (*curves_of(owner), *strip_curves_of(owner), *drivers_of(owner)):
                    yield reference(block), unquoted(above + curve.data_path)


def unquoted(path: str) -> str:
    return re.sub("[\"']", "", path)


class Contents:
    """Each value of each datablock, by datablock and path: ``values[block][path]``.

    A local datablock's key is a number that stays the same when the datablock is renamed, and after
    an undo. ``names`` has its name. The name itself is the key of linked data, and of all data with
    ``by_name``, so that another process can use the same keys.
    """

    def __init__(self, by_name: bool = False) -> None:
        self._by_name = by_name
        self.values: dict[str, dict[str, str]] = {}
        self.names: dict[str, str] = {}
        self.linked: set[str] = set()
        #: Linked data that no local data uses, which neither a file nor Blender's undo keeps.
        self.unused = set() if by_name else unused()
        for block in datablocks():
            key = reference(block, by_name)
            self.names[key] = block.name_full
            if block.library:
                self.linked.add(key)
            self._seen: dict[tuple[int, str], str] = {}
            self._into = self.values[key] = {}
            if not by_name or block.users or block.use_fake_user:
                self._struct(block, "", 0)
            else:
                del self.values[key]
            if block.library or block.override_library:
                # A file doesn't keep this. Blender itself moves it from linked data to an override.
                self._into.pop("use_fake_user", None)

    def _struct(self, struct: Any, path: str, depth: int) -> None:
        kind = struct.bl_rna.identifier
        place = (struct.as_pointer(), kind)
        if place in self._seen or depth > DEPTH:
            self._into[path] = "@" + self._seen.get(place, "")
            return
        self._seen[place] = path
        if isinstance(struct, bpy.types.Mesh):
            self._weights(struct)
        for name, type, readonly in members(struct):
            try:
                value = getattr(struct, name)
            except (AttributeError, UnicodeDecodeError, RuntimeError):
                continue
            at = f"{path}.{name}" if path else name
            if name in FRAMES and re.search(FOLLOWING, path):
                continue
            if name in TEXTURE_SPACE and getattr(struct, "use_auto_texspace", False):
                continue
            if name == "pixels" and not struct.is_dirty:
                continue  # Such pixels come from the file, or are generated from other values.
            if type == "COLLECTION":
                self._collection(value, at, depth)
            elif type == "POINTER":
                if value is not None:
                    self._pointer(value, at, depth)
            elif not readonly or name in ("type", "name"):
                if self._by_name and not path and name in PATHS and value.startswith("//"):
                    value = os.path.realpath(bpy.path.abspath(value, library=struct.library))
                self._into[at] = plain(value)
        if hasattr(struct, "keys") and not isinstance(struct, bpy.types.bpy_prop_collection):
            self._custom(struct, path)

    def _pointer(self, value: Any, at: str, depth: int) -> None:
        if isinstance(value, bpy.types.ID) and not value.is_embedded_data:
            self._into[at] = reference(value, self._by_name)
        else:
            self._struct(value, at, depth + 1)

    def _collection(self, values: Any, at: str, depth: int) -> None:
        if not len(values):
            return
        first = values[0]
        if (
            first is not None
            and not isinstance(first, bpy.types.ID)
            and (block := as_block(values))
        ):
            self._into[at] = block
            return
        taken: set[str] = set()
        for number, each in enumerate(values):
            if isinstance(each, bpy.types.ID) and not each.is_embedded_data:
                self._into[f"{at}[{reference(each, self._by_name)}]"] = ""
                continue
            if each is None:
                self._into[f"{at}[{number}]"] = "None"
                continue
            name = label(each)
            name = name if name and name not in taken else str(number)
            taken.add(name)
            self._struct(each, f"{at}[{name}]", depth + 1)

    def _custom(self, struct: Any, path: str) -> None:
        try:
            custom = struct.items()
        except TypeError:
            return
        known = {prop.identifier for prop in struct.bl_rna.properties} if custom else ()
        for name, value in custom:
            if name not in known and name != "cycles":
                self._into[f"{path}[{name!r}]"] = plain(custom_value(value, self._by_name))

    def _weights(self, mesh: bpy.types.Mesh) -> None:
        if len(mesh.vertices) <= WEIGHED:
            told = [[(g.group, g.weight) for g in v.groups] for v in mesh.vertices]
            if any(told):
                self._into["weights"] = digest(repr(told).encode())


def custom_value(value: Any, by_name: bool) -> Any:
    if isinstance(value, bpy.types.ID):
        return reference(value, by_name)
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "items"):
        return {key: custom_value(each, by_name) for key, each in value.items()}
    if isinstance(value, list):
        return [custom_value(each, by_name) for each in value]
    return value


def members(struct: Any) -> list[tuple[str, str, bool]]:
    kind = struct.bl_rna.identifier
    # A node can have properties that others of its type don't have, from its group or an add-on.
    if kind not in _members:
        _members[kind] = [
            (prop.identifier, prop.type, prop.is_readonly)
            for prop in struct.bl_rna.properties
            if prop.identifier not in DERIVED
            and not (kind == "MeshUVLoopLayer" and prop.identifier in CREATING)
            and not (kind == "PoseBone" and prop.identifier == "matrix")
            and not prop.identifier.startswith(("bl_", "users_", "active_"))
        ]
    return _members[kind]


def label(struct: Any) -> str:
    if isinstance(struct, bpy.types.MaterialSlot):
        return ""  # named after its material
    if isinstance(struct, bpy.types.FCurve):
        return f"{struct.data_path}:{struct.array_index}"
    if isinstance(struct, bpy.types.NodeSocket):
        return str(struct.identifier)
    return str(getattr(struct, "name", "") or "")


def as_block(values: Any) -> str:
    """Return a digest of a collection of numbers, or an empty string if the items hold
    anything else."""
    inside = [each for each in members(values[0]) if each[0] not in ("groups", "vertices", "area")]
    numbers = [prop for prop in inside if prop[1] in BLOCKS or prop[1] == "ENUM"]
    if len(numbers) != len(inside) or not numbers or len(values) < 4:
        return ""
    told = blake2b(str(len(values)).encode(), digest_size=8)
    for name, type, readonly in numbers:
        prop = values[0].bl_rna.properties[name]
        if readonly and name not in ("vertices", "loop_start", "vertex_index"):
            continue
        size = getattr(prop, "array_length", 0) or 1
        try:
            if type in BLOCKS:
                room = [0.0 if type == "FLOAT" else 0] * (len(values) * size)
                values.foreach_get(name, room)
            else:
                room = [getattr(each, name) for each in values]
        except (RuntimeError, TypeError, AttributeError):
            room = [plain(getattr(each, name)) for each in values]
        told.update(f"{name}{room}".encode())
    return f"{len(values)} as {told.hexdigest()}"


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def plain(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} as {digest(value)}"
    if isinstance(value, bpy.types.bpy_prop_array) and len(value) > 1000:
        room = array("f", bytes(4 * len(value)))
        value.foreach_get(room)
        return f"{len(value)} as {digest(room.tobytes())}"
    if isinstance(value, float):
        told = str(value + 0.0)  # no -0.0
    elif isinstance(value, str | int | bool):
        told = str(value)
    elif isinstance(value, set):
        told = str(sorted(value))
    else:
        try:
            told = str([plain(each) if isinstance(each, float) else tuple(each) if
                        hasattr(each, "__len__") and not isinstance(each, str) else each
                        for each in value])  # fmt: skip
        except TypeError:
            told = str(value)
    return told if len(told) < 300 else f"{told[:40]}… {digest(told.encode())}"


class Stage:
    """The file that a trial changes, in this process."""

    def __init__(self, folder: Path, host: Any = None) -> None:
        from callboard_blender.host import BlenderHost
        from callboard_testing.direct_calls import DirectCaller

        self._folder = folder
        self.host = host or BlenderHost(lambda fn: None)
        self._call = DirectCaller(self.host)
        self.undo_id: str | None = None
        self._steps: list[str] = []
        self._opened = ""
        self._files = self._other_files()

    def _other_files(self) -> dict[str, list[str]]:
        """Make files that tools may import, and return them by the arguments that take them."""
        bpy.ops.wm.read_homefile(use_empty=True)
        picture = bpy.data.images.new("Picture", 4, 4)
        picture.filepath_raw = str(self._folder / "picture.png")
        picture.file_format = "PNG"
        picture.save()
        mesh = bpy.data.meshes.new("Corpus")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        obj = bpy.data.objects.new("Corpus", mesh)
        obj.asset_mark()
        bpy.context.scene.collection.objects.link(obj)
        library = str(self._folder / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library)
        (self._folder / "model.obj").write_text(_OBJ, "utf-8")
        (self._folder / "model.usda").write_text(_USD, "utf-8")
        return {
            "materials__set_texture.path": ["FOLDER/picture.png"],
            "lights__set_environment.path": ["FOLDER/picture.png"],
            "exchange__import.path": ["FOLDER/model.obj"],
            "exchange__export.path": [
                f"FOLDER/out.{kind}" for kind in ("glb", "obj", "fbx", "stl")
            ],
            "usd__import_usd.path": ["FOLDER/model.usda"],
            "usd__export_usd.path": ["FOLDER/out.usda"],
            "blender_library__append_asset.path": ["FOLDER/library.blend"],
            "blender_library__append_asset.type": ["object"],
            "blender_library__append_asset.name": ["Corpus"],
            ".folder": ["FOLDER"],
        }

    def open(self, file: str, without: Sequence[str]) -> None:
        self._opened = file
        if file.endswith(".blend"):
            self.call("scene__open_file", {"path": file, "discard_changes": True})
        else:
            bpy.ops.wm.read_homefile(use_empty=True)
            kind = "usd__import_usd" if Path(file).suffix.startswith(".usd") else "exchange__import"
            self.call(kind, {"path": file})
            if self.undo_id is not None:
                self._steps.clear()
        # A mesh can't be read in Edit Mode, and without a window undo can end in that mode.
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.data.batch_remove([bpy.data.objects[name] for name in without])
        bpy.context.view_layer.update()

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        from callboard.calls.json_schema import SchemaViolation
        from callboard.errors import CallboardBug, CallboardError

        self._call.undo_id = self.undo_id = None
        given = json.loads(json.dumps(arguments).replace("FOLDER", str(self._folder)))
        try:
            answer = self._call(tool, given)
        except CallboardBug:
            raise
        except SchemaViolation as error:
            if not error.path.startswith("arguments"):
                raise
            raise Refused(str(error)) from None
        except CallboardError as error:
            if type(error).__name__ == "NotVerified":
                raise
            raise Refused(str(error)) from None
        self.undo_id = self._call.undo_id
        if self.undo_id is not None:
            self._steps.append(self.undo_id)
        return answer

    def undo(self) -> bool:
        return bool(self.host.undo.undo(self._steps.pop()))

    def contents(self) -> Contents:
        bpy.context.view_layer.update()
        return Contents()

    def pools(self) -> dict[str, list[Any]]:
        """Return the values from which arguments are drawn: object names by skill, and values by
        argument (``.argument``) or by tool and argument (``tool.argument``)."""
        from callboard_blender.parts.curves import curves_of

        shown = list(bpy.context.scene.objects)
        meshes = [obj.name_full for obj in shown if obj.type == "MESH"] * 4
        meshes += [obj.name_full for obj in shown]
        return {
            **self._files,
            "objects": [obj.name_full for obj in shown],
            "cameras": [obj.name_full for obj in shown if obj.type == "CAMERA"],
            "lights": [obj.name_full for obj in shown if obj.type == "LIGHT"],
            "materials": [each.name_full for each in bpy.data.materials],
            "structure": [each.name_full for each in bpy.data.collections],
            "geometry": meshes,
            "blender_modelling": meshes,
            ".modifier": sorted({each.name for obj in shown for each in obj.modifiers}),
            **self._of_nodes(),
            "blender_data__set_modifiers.type": ["subsurf", "bevel", "armature", "nodes"],
            "blender_data__set_modifiers.values": [
                {"show_render": False},
                {"show_in_editmode": True},
            ],
            "blender_data__set_modifiers.where": [{"show_viewport": True}],
            "blender_data__set_values.of": [obj.name_full for obj in shown],
            "blender_data__set_values.kind": ["objects"],
            "blender_data__set_values.values": [
                {"hide_render": True},
                {"show_name": True, '["made"]': 1.5},
            ],
            "blender_animation__set_modifier.values": [{"influence": 0.5}, {"mute": True}],
            ".start": [0, 1],
            ".end": [5, 12],
            ".interpolation": ["constant", "linear", "smooth"],
            ".scenes": [[each.name for each in bpy.data.scenes], ["*"]],
            "blender_animation": [obj.name_full for obj in shown if curves_of(obj)] or meshes,
            ".bones": [[each.name] for obj in shown if obj.pose for each in obj.pose.bones],
            "blender_animation__add_modifier.type": ["cycles", "noise", "limits"],
            "blender_animation__add_modifier.values": [{"mute": True}, {}],
            "blender_files__make_local.libraries": [[each.filepath] for each in bpy.data.libraries],
            "blender_settings__set_render.engine": ["CYCLES", "BLENDER_WORKBENCH"],
            "blender_settings__set_render.file_format": ["PNG", "JPEG", "OPEN_EXR"],
            "blender_settings__set_view_layer.passes": [{"z": True, "mist": False}],
            ".attribute": ["made", *sorted({key for obj in shown for key, _ in obj.items()})],
        }

    def _of_nodes(self) -> dict[str, list[Any]]:
        """Return values for the arguments of tools for nodes."""
        groups = [each.name_full for each in bpy.data.node_groups] or ["Nothing"]
        trees = [(each.name_full, each.node_tree) for each in bpy.data.materials if each.node_tree]
        trees += [(each.name_full, each) for each in bpy.data.node_groups]
        links = [
            {
                "from": each.from_node.name,
                "output": each.from_socket.name,
                "to": each.to_node.name,
                "input": each.to_socket.name,
            }
            for _, tree in trees
            for each in tree.links
        ]
        crossed = [
            {**one, **{k: two[k] for k in ("to", "input")}} for one in links for two in links
        ]
        nodes = sorted({each.name for _, tree in trees for each in tree.nodes}) or ["Nothing"]
        common: dict[str, list[Any]] = {
            "tree": [name for name, _ in trees] or ["Nothing"],
            "trees": [[name] for name, _ in trees] or [["*"]],
            "kind": ["materials", "node_groups"],
            "group": groups,
            "by": groups,
            "socket": ["Amount", "Color", "Geometry", "More"],
        }
        return {
            **{f"{tool}.{key}": common[key] for tool in NODE_TOOLS for key in common},
            "blender_nodes__add.nodes": [
                [{"type": "Noise Texture", "inputs": {"Scale": 9}}],
                [{"type": "Group", "properties": {"node_tree": groups[0]}}],
                [{"type": "Math", "name": "Made"}, {"type": "NodeReroute"}],
            ],
            "blender_nodes__set.nodes": [["*"], *([each] for each in nodes)],
            "blender_nodes__remove.nodes": [[each] for each in nodes],
            "blender_nodes__set.type": ["Bump", "Group", "Principled BSDF"],
            "blender_nodes__set.inputs": [{"Amount": 0.25}, {"Roughness": 0.3}, {"Scale": 7}],
            "blender_nodes__set.properties": [{"invert": True}, {"node_tree": groups[-1]}],
            "blender_nodes__set.uses": groups,
            "blender_nodes__set_modifier.inputs": [{"Amount": 0.25}, {"More": 1}],
            "blender_nodes__set_modifier.modifier": ["*"],
            "blender_nodes__link.links": [[each] for each in crossed[:200]] or [[]],
            "blender_nodes__unlink.links": [[each] for each in links] or [[]],
            "blender_nodes__set_socket.type": ["float", "int", "color", "geometry"],
            "blender_nodes__set_socket.default": [0.25, 1, "#80ff20"],
        }

    def harm(
        self, tool: str, given: dict[str, Any], answer: Any, before: Contents, after: Contents
    ) -> Iterator[str]:
        """Yield everything that a call changed beyond the tool's purpose."""
        attribute = re.escape(str(given.get("attribute")))
        may = [
            MAY[each].replace("ATTRIBUTE", attribute) for each in MAY if re.fullmatch(each, tool)
        ]
        moving = set(animated()) if tool == "animation__set_timeline" else set()
        shown = {reference(obj) for obj in bpy.context.scene.objects}
        for key, path, old, new in changes(before, after):
            if old is None:
                continue
            where = f"{key.partition(' ')[0]}.{path}"
            if any(re.match(each, where) for each in may):
                continue
            if new is not None and (key, unquoted(path)) in moving:
                continue  # Keys and drivers set the values for the new frame, in linked data too.
            name = f"{before.names[key]} {where}: {old} -> {new}"
            if new is None:
                yield f"lost: {name}"
            elif key in before.linked:
                yield f"linked: {name}"
            elif key.startswith("Object ") and key not in shown:
                yield f"outside: {name}"
            elif re.search(KEPT, where):
                yield f"kept: {name}"

    def save(self, path: str) -> None:
        bpy.ops.wm.save_as_mainfile(filepath=f"{path}.blend", copy=True)

    def read_by_another(self) -> Iterator[str]:
        """Save, and yield every place whose value differs when a process without callboard reads
        the file."""
        self.save(str(self._folder / "saved"))
        here = Contents(by_name=True).values
        there, failed = read_separately(self._folder / "saved.blend")
        if failed:
            yield failed
            return
        if not (places := list(unlike(here, there))):
            return
        own: set[tuple[str, str]] = set()
        if self._opened.endswith(".blend"):
            # Blender itself doesn't save all of what it converts when it opens an old file.
            before, _ = read_separately(Path(self._opened))
            again, _ = read_separately(Path(self._opened), self._folder / "again.blend")
            own = {(key.partition(" ")[0], path) for key, path in unlike(before, again)}
        for key, path in places:
            if (key.partition(" ")[0], path) not in own:
                old, new = here[key].get(path), there.get(key, {}).get(path)
                yield f"{key} {path}: {old} here, {new} there"


Values = dict[str, dict[str, str]]


def read_separately(file: Path, saved: Path | None = None) -> tuple[Values, str]:
    """Return the contents that a process without callboard reads, or why it couldn't. With
    ``saved``, it first saves the file under that name, and reads that."""
    program = [sys.executable]
    if bpy.app.binary_path:  # Otherwise this is the wheel, which has no program.
        program = [bpy.app.binary_path, "-b", "--factory-startup", "--python"]
    command = [*program, __file__, "--", str(file), *([str(saved)] if saved else ())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    read = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return (json.loads(read[-1]), "") if read else ({}, done.stderr[-1000:])


def unlike(here: Values, there: Values) -> Iterator[tuple[str, str]]:
    """Yield each place whose saved value differs: the datablock and the path."""
    for key, old in here.items():
        if key not in there and not key.startswith(("Object ", "Scene ", "Collection ")):
            continue  # not used by any saved datablock
        new = there.get(key, {})
        for path in old.keys() | new.keys():
            if old.get(path) != new.get(path) and not re.search(NOT_SAVED, f"{key}.{path}"):
                yield key, path


if __name__ == "__main__":
    opened, *copies = sys.argv[sys.argv.index("--") + 1 :]
    bpy.ops.wm.open_mainfile(filepath=opened)
    for copy in copies:
        bpy.ops.wm.save_as_mainfile(filepath=copy, copy=True)
        bpy.ops.wm.open_mainfile(filepath=copy)
    bpy.context.view_layer.update()
    print("\n" + json.dumps(Contents(by_name=True).values))

"""Digests of a mesh's geometry and attributes, by which two meshes can be compared."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Any

from callboard.host import Json

#: The property with the value of an attribute, by the attribute's type, with the type and number of
#: its parts.
_VALUES = {
    "FLOAT": ("value", "f", 1),
    "INT": ("value", "i", 1),
    "INT8": ("value", "i", 1),
    "BOOLEAN": ("value", "b", 1),
    "FLOAT_VECTOR": ("vector", "f", 3),
    "FLOAT2": ("vector", "f", 2),
    "FLOAT_COLOR": ("color", "f", 4),
    "BYTE_COLOR": ("color", "f", 4),
    "INT32_2D": ("value", "i", 2),
    "INT16_2D": ("value", "i", 2),
    "QUATERNION": ("value", "f", 4),
    "FLOAT4X4": ("value", "f", 16),
}
#: Attributes with a dot that aren't about what is selected or hidden.
_DOTTED = (".edge_verts", ".corner_vert", ".uv_seam")
#: What no attribute contains, as list, property, and the type and number of its parts. Blender has
#: some of them in some versions only.
_BESIDE_ATTRIBUTES = (
    ("polygons", "loop_start", "i", 1),
    ("edges", "use_freestyle_mark", "b", 1),
    ("polygons", "use_freestyle_mark", "b", 1),
)
#: The same before Blender 4.0, whose attributes contain less. They are slower to read.
_GEOMETRY = (
    *_BESIDE_ATTRIBUTES,
    ("vertices", "co", "f", 3),
    ("vertices", "bevel_weight", "f", 1),
    ("edges", "vertices", "i", 2),
    ("edges", "use_seam", "b", 1),
    ("edges", "use_edge_sharp", "b", 1),
    ("edges", "crease", "f", 1),
    ("edges", "bevel_weight", "f", 1),
    ("loops", "vertex_index", "i", 1),
    ("polygons", "material_index", "i", 1),
    ("polygons", "use_smooth", "b", 1),
)
#: Lists that aren't compared.
_OTHERS = ("skin_vertices", "face_maps", "vertex_paint_masks")
#: Maximum number of vertices whose weights are compared.
_MOST_WEIGHED = 20_000


def mesh_digest(mesh: Any) -> tuple[Json, list[str]]:
    """Return numbers and digests of everything in the mesh, and the names of what can't be
    compared."""
    # From Blender 4.0 on, attributes contain the geometry.
    whole = ".edge_verts" in mesh.attributes
    others = _OTHERS if whole else (*_OTHERS, "vertex_creases")
    left = [key for key in others if len(getattr(mesh, key, ()))]
    known: Json = {
        f"number of {key}": len(getattr(mesh, key))
        for key in ("vertices", "edges", "loops", "polygons")
    }
    for key, part, kind, count in _BESIDE_ATTRIBUTES if whole else _GEOMETRY:
        entries = getattr(mesh, key)
        if len(entries) and part in entries[0].bl_rna.properties:
            known[f"{key}: {part}"] = digest_of(entries, part, kind, count)
    for each in mesh.attributes:
        if each.name.startswith(".") and each.name not in _DOTTED:
            continue
        of = f'attributes["{each.name}"]'
        known[of] = f"{each.domain} {each.data_type}"
        if (value := _VALUES.get(each.data_type)) is None:
            left.append(of)
        else:
            known[f"{of}.data"] = digest_of(each.data, *value)
    for each in mesh.uv_layers:
        if each.name not in mesh.attributes:
            known[f'uv_layers["{each.name}"].data'] = digest_of(each.data, "uv", "f", 2)
    known["uv_layers"] = tuple((each.name, each.active_render) for each in mesh.uv_layers)
    if (colors := getattr(mesh, "color_attributes", None)) is not None:
        known["color_attributes.render_color_index"] = colors.render_color_index
    if mesh.has_custom_normals and "custom_normal" not in mesh.attributes:
        left.append("custom normals")
    if len(mesh.vertices) > _MOST_WEIGHED:
        left.append("vertex weights")
    else:
        weights = [[(of.group, of.weight) for of in each.groups] for each in mesh.vertices]
        known["vertex weights"] = _short(repr(weights).encode()) if any(weights) else None
    return known, left


def digest_of(entries: Any, part: str, kind: str, count: int) -> str:
    """Return a digest of one property of all entries, which has ``count`` parts of the type
    ``kind``."""
    values = array(kind, bytes(array(kind).itemsize * count * len(entries)))
    entries.foreach_get(part, values)
    return _short(values.tobytes())


def _short(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()

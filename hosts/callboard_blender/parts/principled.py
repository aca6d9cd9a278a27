"""Reads and sets a material's Principled BSDF, with its values under our names in every version of
Blender."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json

#: Blender's names of the sockets, by our names. If version 3 has a different name, it comes second.
_SOCKETS = {
    "color": ("Base Color",),
    "metalness": ("Metallic",),
    "roughness": ("Roughness",),
    "specular": ("Specular IOR Level", "Specular"),
    "ior": ("IOR",),
    "transmission": ("Transmission Weight", "Transmission"),
    "emission": ("Emission Color", "Emission"),
    "emission_strength": ("Emission Strength",),
    "opacity": ("Alpha",),
    "normal": ("Normal",),
}
#: The value at which Blender's reflection depends only on the index of refraction.
_SPECULAR = 0.5


def shader_of(material: bpy.types.Material) -> bpy.types.Node | None:
    """Return the Principled BSDF that the surface shows, even if it is behind other shaders. Nodes
    not linked to the output don't count."""
    tree = material.node_tree
    if tree is None:
        return None
    outputs = (tree.get_output_node(renderer) for renderer in ("ALL", "CYCLES", "EEVEE"))
    output = next((node for node in outputs if node is not None), None)
    waiting = [] if output is None else [output.inputs["Surface"]]
    passed = set()
    while waiting:
        for link in waiting.pop(0).links:
            node = link.from_node
            if node.type == "BSDF_PRINCIPLED":
                return node
            if node.name not in passed:
                passed.add(node.name)
                reroute = node.type == "REROUTE"
                waiting += [each for each in node.inputs if reroute or each.type == "SHADER"]
    return None


def needed_shader(material: bpy.types.Material) -> bpy.types.Node:
    """Return the material's Principled BSDF. Raises HostError when it has none."""
    shader = shader_of(material)
    if shader is None:
        raise HostError(
            f"material '{material.name}' has no Principled BSDF connected to its surface output; "
            "make one with materials__create"
        )
    return shader


def socket_of(shader: bpy.types.Node, key: str) -> Any:
    inputs = shader.inputs
    return next(inputs[name] for name in _SOCKETS[key] if name in inputs)


def read(material: bpy.types.Material) -> Json:
    """Return the values. A linked value is None. If the material has no Principled BSDF, everything
    but the color is None."""
    shader = shader_of(material)
    keys = [key for key in _SOCKETS if key != "normal"]
    if shader is None:
        return {**dict.fromkeys(keys), "color": list(material.diffuse_color)[:3]}
    return {key: _value(socket_of(shader, key), key) for key in keys}


def linked(material: bpy.types.Material) -> dict[str, Any]:
    """Return the sockets whose value comes from other nodes. If the material has no Principled
    BSDF, that is its surface."""
    if (shader := shader_of(material)) is not None:
        return {key: each for key in _SOCKETS if (each := socket_of(shader, key)).is_linked}
    tree = material.node_tree
    output = None if tree is None else tree.get_output_node("ALL")
    return {} if output is None else {"surface": output.inputs["Surface"]}


def write(material: bpy.types.Material, values: Mapping[str, Any]) -> None:
    """Set the given values. The caller disconnects whatever drives these values."""
    shader = needed_shader(material)
    for key, value in values.items():
        socket = socket_of(shader, key)
        if key in ("color", "emission"):
            socket.default_value = (*value, socket.default_value[3])
        else:
            socket.default_value = value * _SPECULAR if key == "specular" else value
    # The view shows these values in solid mode.
    if "color" in values:
        material.diffuse_color = (*values["color"], material.diffuse_color[3])
    for key, name in (("metalness", "metallic"), ("roughness", "roughness")):
        if key in values:
            setattr(material, name, values[key])
    if values.get("opacity", 1) < 1:
        let_through(material)
    if values.get("transmission"):
        name = "use_raytrace_refraction"
        setattr(material, name if hasattr(material, name) else "use_screen_refraction", True)


def let_through(material: bpy.types.Material) -> None:
    """Make objects behind the surface visible through it. EEVEE in Blender 4.2 and later needs no
    setting for that."""
    if bpy.app.version < (4, 2) and material.blend_method == "OPAQUE":
        material.blend_method = "HASHED"
        material.shadow_method = "HASHED"


def _value(socket: Any, key: str) -> Any:
    if socket.is_linked:
        return None
    if key in ("color", "emission"):
        return list(socket.default_value)[:3]
    value = float(socket.default_value)
    return min(1.0, value / _SPECULAR) if key == "specular" else value

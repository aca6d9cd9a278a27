"""Links pictures to the sockets of a Principled BSDF, with nodes for coordinates and mapping, and a
node that turns the picture into a number or a direction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json, Texture

_SPACES = {"srgb": "sRGB", "raw": "Non-Color"}
_CHANNELS = {"r": "Red", "g": "Green", "b": "Blue"}
#: Nodes that pass a picture on, with the names of their inputs.
_PASSING = {"NORMAL_MAP": "Color", "SEPARATE_COLOR": "Color"}


def read(socket: Any) -> Json | None:
    """Return the texture that drives the socket, or None."""
    if not socket.is_linked:
        return None
    channel = None
    link = socket.links[0]
    while link.from_node.type in _PASSING:
        node = link.from_node
        if node.type == "SEPARATE_COLOR":
            channel = next(
                (key for key, name in _CHANNELS.items() if name == link.from_socket.name), None
            )
        before = node.inputs[_PASSING[node.type]]
        if not before.is_linked:
            return _unknown()
        link = before.links[0]
    node = link.from_node
    if node.type != "TEX_IMAGE" or node.image is None:
        return _unknown()
    image = node.image
    space = image.colorspace_settings.name
    return {
        "path": _path(image),
        "color_space": next((key for key, name in _SPACES.items() if name == space), space),
        "uv_scale": _uv_scale(node),
        "channel": "a" if link.from_socket.name == "Alpha" else channel,
    }


def clear(tree: Any, socket: Any) -> None:
    """Disconnect whatever drives the socket, and remove nodes that nothing else uses."""
    loose = [link.from_node for link in socket.links]
    for link in list(socket.links):
        tree.links.remove(link)
    while loose:
        node = loose.pop()
        if any(output.is_linked for output in node.outputs):
            continue
        loose += [link.from_node for each in node.inputs for link in each.links]
        loose = [each for each in loose if each != node]
        tree.nodes.remove(node)


def connect(tree: Any, shader: Any, socket: Any, slot: str, texture: Texture) -> None:
    """Link the texture to the socket. Raises HostError when Blender can't read the picture."""
    image = picture_of(texture, (_SPACES[texture.color_space],))
    clear(tree, socket)
    x, y = shader.location.x, shader.location.y - 40 * list(shader.inputs).index(socket)
    picture = _node(tree, "ShaderNodeTexImage", x - 600, y, slot)
    picture.image = image
    mapping = _node(tree, "ShaderNodeMapping", x - 800, y, slot)
    mapping.inputs["Scale"].default_value = (*texture.uv_scale, 1.0)
    place = _node(tree, "ShaderNodeTexCoord", x - 1000, y, slot)
    tree.links.new(place.outputs["UV"], mapping.inputs["Vector"])
    tree.links.new(mapping.outputs["Vector"], picture.inputs["Vector"])
    output = picture.outputs["Alpha" if texture.channel == "a" else "Color"]
    if slot == "normal":
        between = _node(tree, "ShaderNodeNormalMap", x - 250, y, slot)
        tree.links.new(output, between.inputs["Color"])
        output = between.outputs["Normal"]
    elif texture.channel in _CHANNELS:
        between = _node(tree, "ShaderNodeSeparateColor", x - 250, y, slot)
        tree.links.new(output, between.inputs["Color"])
        output = between.outputs[_CHANNELS[texture.channel]]
    tree.links.new(output, socket)


def _node(tree: Any, kind: str, x: float, y: float, slot: str) -> Any:
    node = tree.nodes.new(kind)
    node.location = (x, y)
    node.label = slot
    return node


def picture_of(texture: Texture, spaces: Sequence[str]) -> bpy.types.Image:
    """Return the picture with the first of these color spaces that this Blender supports. An
    existing image with a different color space is left alone. Raises HostError when Blender can't
    read the file."""
    names = bpy.types.ColorManagedInputColorspaceSettings.bl_rna.properties["name"].enum_items
    space = next((each for each in spaces if each in names), spaces[-1])
    for known in bpy.data.images:
        if (
            known.source == "FILE"
            and known.library is None
            and known.colorspace_settings.name == space
            and (path := _path(known)) is not None
            and Path(path) == Path(texture.path)
        ):
            return known
    name = Path(texture.path).name
    try:
        image = bpy.data.images.load(texture.path, check_existing=False)
    except RuntimeError as error:
        raise HostError(f"Blender could not read '{name}': {error}") from None
    if not image.size[0]:
        bpy.data.images.remove(image)
        raise HostError(f"'{name}' isn't a picture that Blender can read")
    image.colorspace_settings.name = space
    saved = bpy.data.filepath
    if saved and Path(texture.path).is_relative_to(Path(saved).parent):
        image.filepath = bpy.path.relpath(texture.path)
    return image


def _path(image: bpy.types.Image) -> str | None:
    return bpy.path.abspath(image.filepath, library=image.library) if image.filepath else None


def _uv_scale(picture: Any) -> list[float]:
    vector = picture.inputs["Vector"]
    before = vector.links[0].from_node if vector.is_linked else None
    if before is None or before.type != "MAPPING" or before.inputs["Scale"].is_linked:
        return [1.0, 1.0]
    return list(before.inputs["Scale"].default_value)[:2]


def _unknown() -> Json:
    return {"path": None, "color_space": None, "uv_scale": None, "channel": None}

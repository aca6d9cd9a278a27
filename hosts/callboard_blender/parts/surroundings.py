"""Reads and sets the scene's surroundings. In Blender they are the world, which shows an image, a
color or a sky."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, radians
from pathlib import Path
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_blender.application.names import scene
from callboard_blender.parts.textures import clear, picture_of

#: Marks the world that we made.
_OURS = "callboard_environment"
#: Suffixes of pictures with linear light.
_LINEAR = (".hdr", ".exr")
#: A sky at natural brightness would overexpose the scene.
_SKY_STRENGTH = 0.1


def read() -> Json:
    reported: Json = dict.fromkeys(("path", "color", "sun_elevation", "strength", "rotate"))
    world = scene().world
    if world is None:
        return {"kind": "none", **reported}
    background = _background(world)
    if background is None:
        if world.node_tree is None or not _uses_nodes(world):
            reported.update(color=list(world.color), strength=1.0, rotate=0.0)
            return {"kind": "color", **reported}
        return {"kind": "other", **reported}
    color, strength = background.inputs["Color"], background.inputs["Strength"]
    reported["strength"] = None if strength.is_linked else strength.default_value
    if not color.is_linked:
        reported.update(color=list(color.default_value)[:3], rotate=0.0)
        return {"kind": "color", **reported}
    source = color.links[0].from_node
    if source.type == "TEX_ENVIRONMENT" and source.image is not None:
        image = source.image
        reported["path"] = bpy.path.abspath(image.filepath, library=image.library) or None
        reported["rotate"] = _turn(source)
        return {"kind": "image", **reported}
    if source.type == "TEX_SKY":
        reported["sun_elevation"] = degrees(source.sun_elevation)
        reported["rotate"] = degrees(source.sun_rotation)
        return {"kind": "sky", **reported}
    return {"kind": "other", **reported}


def write(values: Mapping[str, Any]) -> None:
    """Set the values in callboard's own world. The artist's world stays in the file."""
    if values.get("rotate") and not {"path", "sun_elevation"} & values.keys():
        kind = "color" if "color" in values else read()["kind"]
        if kind not in ("image", "sky"):
            raise HostError(
                "the environment has no picture or sky to turn; give path or sun_elevation too, or "
                "leave rotate out"
            )
    image = None
    if "path" in values:
        linear = Path(values["path"]).suffix.lower() in _LINEAR
        spaces = ("Linear Rec.709", "Linear") if linear else ("sRGB",)
        image = picture_of(Texture(values["path"], "raw"), spaces)
    world = _own_world()
    tree = world.node_tree
    background = _background(world)
    if background is None:
        tree.nodes.clear()
        background = tree.nodes.new("ShaderNodeBackground")
        output = tree.nodes.new("ShaderNodeOutputWorld")
        tree.links.new(background.outputs["Background"], output.inputs["Surface"])
    color = background.inputs["Color"]
    turn = values.get("rotate", read()["rotate"] or 0.0)
    if image is not None:
        clear(tree, color)
        source = tree.nodes.new("ShaderNodeTexEnvironment")
        source.image = image
        source.location = (background.location.x - 300, background.location.y)
        tree.links.new(source.outputs["Color"], color)
    elif "color" in values:
        clear(tree, color)
        color.default_value = (*values["color"], 1.0)
    elif "sun_elevation" in values:
        clear(tree, color)
        source = tree.nodes.new("ShaderNodeTexSky")
        source.location = (background.location.x - 300, background.location.y)
        source.sun_elevation = radians(values["sun_elevation"])
        tree.links.new(source.outputs["Color"], color)
        background.inputs["Strength"].default_value = _SKY_STRENGTH
    if "strength" in values:
        clear(tree, background.inputs["Strength"])
        background.inputs["Strength"].default_value = values["strength"]
    if image is not None or "sun_elevation" in values or "rotate" in values:
        _set_turn(tree, color, turn)


def _set_turn(tree: Any, color: Any, turn: float) -> None:
    source = color.links[0].from_node if color.is_linked else None
    if source is None:
        return
    if source.type == "TEX_SKY":
        source.sun_rotation = radians(turn % 360)
        return
    rotation = (_mapping(source) or _new_mapping(tree, source)).inputs["Rotation"]
    clear(tree, rotation)
    # The mapping rotates the lookup directions, so the picture turns the other way.
    rotation.default_value[2] = radians(-turn)


def _new_mapping(tree: Any, picture: Any) -> Any:
    """Add a node that rotates the picture, after the nodes that currently position it."""
    mapping, into = tree.nodes.new("ShaderNodeMapping"), picture.inputs["Vector"]
    mapping.location = (picture.location.x - 200, picture.location.y)
    if into.is_linked:
        before = into.links[0].from_socket
    else:
        place = tree.nodes.new("ShaderNodeTexCoord")
        place.location = (picture.location.x - 400, picture.location.y)
        before = place.outputs["Generated"]
    tree.links.new(before, mapping.inputs["Vector"])
    tree.links.new(mapping.outputs["Vector"], into)
    return mapping


def _turn(source: Any) -> float | None:
    """Return the picture's rotation, or None if other nodes drive it."""
    mapping = _mapping(source)
    if mapping is None:
        return 0.0
    rotation = mapping.inputs["Rotation"]
    return None if rotation.is_linked else -degrees(rotation.default_value[2])


def _mapping(source: Any) -> Any:
    vector = source.inputs.get("Vector")
    before = vector.links[0].from_node if vector is not None and vector.is_linked else None
    return before if before is not None and before.type == "MAPPING" else None


def _background(world: bpy.types.World) -> Any:
    """Return the Background node that feeds the world's output directly, or None."""
    if world.node_tree is None or not _uses_nodes(world):
        return None
    for node in world.node_tree.nodes:
        if node.type == "OUTPUT_WORLD" and node.is_active_output:
            surface = node.inputs["Surface"]
            source = surface.links[0].from_node if surface.is_linked else None
            return source if source is not None and source.type == "BACKGROUND" else None
    return None


def _uses_nodes(world: bpy.types.World) -> bool:
    # From 5.0 on every world uses nodes, and the query is deprecated.
    return bpy.app.version >= (5, 0) or bool(world.use_nodes)


def _own_world() -> bpy.types.World:
    shown = scene()
    before = shown.world
    if before is not None and before.get(_OURS) and before.library is None and before.users == 1:
        return before
    world = before.copy() if before is not None else bpy.data.worlds.new("Environment")
    if before is not None:
        # Blender saves only datablocks that have a user.
        before.use_fake_user = True
        world.name = "Environment"
    if world.node_tree is None or not _uses_nodes(world):
        world.use_nodes = True
    world[_OURS] = True
    shown.world = world
    return world

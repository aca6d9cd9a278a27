"""Imitates the viewport's shading in a quick render when Blender has no window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from callboard_blender.application.names import scene, view_layer
from callboard_blender.parts.render_picture import Setting

_GREY = (0.05, 0.05, 0.05, 1.0)
_DARK, _CLAY, _LINE = (0.1, 0.1, 0.1, 1.0), (0.8, 0.8, 0.8, 1.0), (0.9, 0.9, 0.9, 1.0)


@contextmanager
def previewed(shading: str) -> Iterator[list[Setting]]:
    """Yield the settings for ``solid``, ``wireframe``, ``xray`` or ``material``. The caller must
    restore the scene's own settings before leaving the block, because the temporary datablocks are
    then removed."""
    shown = scene()
    world = bpy.data.worlds.new("callboard look")
    material = bpy.data.materials.new("callboard look")
    try:
        # Uniform light from all sides shows colors. Emissive surfaces don't need light.
        _lit(world, (0.6, 0.6, 0.6, 1.0) if shading == "material" else _GREY)
        wanted: list[Setting] = [
            (shown, "world", world),
            (shown.view_settings, "view_transform", "Standard"),
            (shown.view_settings, "look", "None"),
        ]
        if shading in _GLOWING:
            _glow(material, _GLOWING[shading])
            wanted.append((view_layer(), "material_override", material))
        else:
            lights = [obj for obj in view_layer().objects if obj.type == "LIGHT"]
            wanted += [(obj, "hide_render", True) for obj in lights if obj.library is None]
        yield wanted
    finally:
        bpy.data.materials.remove(material)
        bpy.data.worlds.remove(world)


def _nodes(owner: Any) -> Any:
    if owner.node_tree is None:  # This always exists in 5.0 and later.
        owner.use_nodes = True
    return owner.node_tree


def _lit(world: bpy.types.World, color: tuple[float, ...]) -> None:
    ground = next(node for node in _nodes(world).nodes if node.type == "BACKGROUND")
    ground.inputs[0].default_value = color


def _glow(material: bpy.types.Material, surface: Callable[[Any], Any]) -> None:
    tree = _nodes(material)
    tree.nodes.clear()
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(surface(tree), output.inputs["Surface"])


def _clay(tree: Any) -> Any:
    """Return a surface that is brighter where it faces the eye."""
    return _glowing(tree, _facing(tree), _DARK, _CLAY)


def _lines(tree: Any) -> Any:
    line = tree.nodes.new("ShaderNodeWireframe")
    line.use_pixel_size = True
    line.inputs[0].default_value = 1.0
    return _seen_through(tree, line.outputs[0], _glowing(tree, line.outputs[0], _LINE, _LINE))


def _glass(tree: Any) -> Any:
    """Return a surface that is more opaque where it faces away."""
    share = tree.nodes.new("ShaderNodeMath")
    share.operation = "MULTIPLY_ADD"
    tree.links.new(_facing(tree), share.inputs[0])
    share.inputs[1].default_value, share.inputs[2].default_value = -0.6, 0.8
    return _seen_through(tree, share.outputs[0], _clay(tree))


def _facing(tree: Any) -> Any:
    weight = tree.nodes.new("ShaderNodeLayerWeight")
    turned = tree.nodes.new("ShaderNodeMath")
    turned.operation = "SUBTRACT"
    turned.inputs[0].default_value = 1.0
    tree.links.new(weight.outputs["Facing"], turned.inputs[1])
    return turned.outputs[0]


def _glowing(tree: Any, share: Any, low: tuple[float, ...], high: tuple[float, ...]) -> Any:
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].color, ramp.color_ramp.elements[1].color = low, high
    tree.links.new(share, ramp.inputs[0])
    glow = tree.nodes.new("ShaderNodeEmission")
    tree.links.new(ramp.outputs[0], glow.inputs["Color"])
    return glow.outputs[0]


def _seen_through(tree: Any, share: Any, surface: Any) -> Any:
    mixed, clear = (
        tree.nodes.new("ShaderNodeMixShader"),
        tree.nodes.new("ShaderNodeBsdfTransparent"),
    )
    tree.links.new(share, mixed.inputs[0])
    tree.links.new(clear.outputs[0], mixed.inputs[1])
    tree.links.new(surface, mixed.inputs[2])
    return mixed.outputs[0]


_GLOWING: dict[str, Callable[[Any], Any]] = {"solid": _clay, "wireframe": _lines, "xray": _glass}

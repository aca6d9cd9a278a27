"""Tells images that are linked to the output of a node tree from those that are connected to
nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Any

import bpy

from callboard_blender.parts.node_json import Flow

#: What has nodes with images.
_KINDS = ("materials", "node_groups", "worlds", "lights")
#: Number of trees read between two pauses.
_STRETCH = 20


def connections() -> Generator[None, None, dict[str, dict[str, bool]]]:
    """For each image that nodes name, return whether one of the nodes reaches the output, by the
    material, node group or other data that has the nodes. Takes up to a few milliseconds between
    two pauses."""
    reaching: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for kind in _KINDS:
        at = 0
        while part := getattr(bpy.data, kind)[at : at + _STRETCH]:
            groups: dict[Any, Flow] = {}
            for each in part:
                for image, reaches in _in_tree(each, groups):
                    there = reaching[image]
                    there[each.name_full] = there.get(each.name_full, False) or reaches
            at += _STRETCH
            yield
    return reaching


def _in_tree(owner: Any, groups: dict[Any, Flow]) -> Iterator[tuple[str, bool]]:
    tree = owner if isinstance(owner, bpy.types.NodeTree) else owner.node_tree
    named = [(node, image) for node in tree.nodes for image in _images(node)] if tree else []
    if named:
        flow, used = Flow(tree, groups), getattr(owner, "use_nodes", True)
        for node, image in named:
            yield image.name_full, bool(used and flow.why_not(node) is None)


def _images(node: Any) -> Iterator[Any]:
    if (image := getattr(node, "image", None)) is not None:
        yield image
    for socket in node.inputs:
        if socket.type == "IMAGE" and socket.default_value is not None:
            yield socket.default_value

"""The ``structure`` port: groups, empties and visibility. Here a group is a node bundle, which may
contain objects from any network, and an empty is a null."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import hou

from callboard.errors import HostError
from callboard.host import GroupNotFound, nearest_names
from callboard_houdini.application.names import check_new_name, find, root, telling
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.ports.scene import is_visible

# Bundles are used, not node groups, because a node group contains nodes of a single network.
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class HoudiniStructure:
    def new(self) -> None:
        with telling("start a new scene"):
            hou.hipFile.clear(suppress_save_prompt=True)

    def create_empty(self, name: str | None) -> str:
        named = name or "Empty"
        check_new_name(named)
        with telling("create that"):
            return str(root().createNode("null", named).path())

    def set_visible(self, name: str, visible: bool) -> str:
        """Set the object's own display flag. An object that a subnet hides stays hidden."""
        node = find(name)
        refuse_inside_asset(node, values_only=True)
        if node.isObjectDisplayed() is not visible:
            with telling(f"show or hide '{node.name()}'"):
                node.setDisplayFlag(visible)
        if visible and not is_visible(node):
            raise HostError(f"a subnet hides '{node.name()}'; show the subnet")
        return str(node.path())

    def groups(self) -> Mapping[str, str]:
        return {str(each.name()): str(each.name()) for each in hou.nodeBundles()}

    def members(self, group: str) -> list[str]:
        nodes = _bundle(group).nodes()
        return [str(node.path()) for node in nodes if isinstance(node, hou.ObjNode)]

    def create_group(self, name: str | None) -> str:
        named = name or "Group"
        if len(named) > 255 or not _NAME.fullmatch(named):
            raise HostError(
                f"'{named[:64]}' can't be a bundle's name in Houdini: use letters, digits and _"
            )
        with telling("create a bundle"):
            return str(hou.addNodeBundle(_free(named)).name())

    def add(self, group: str, objects: Sequence[str]) -> str:
        bundle, nodes = _own(group), [find(name) for name in objects]
        with telling(f"add to '{group}'"):
            for node in nodes:
                if not bundle.containsNode(node):
                    bundle.addNode(node)
        return str(bundle.name())

    def remove(self, group: str, objects: Sequence[str]) -> str:
        bundle, nodes = _own(group), [find(name) for name in objects]
        with telling(f"take out of '{group}'"):
            for node in nodes:
                if bundle.containsNode(node):
                    bundle.removeNode(node)
        return str(bundle.name())


def _bundle(group: str) -> hou.Bundle:
    bundle = hou.nodeBundle(group)
    if bundle is None:
        raise GroupNotFound(group, nearest_names(group, (b.name() for b in hou.nodeBundles())))
    return bundle


def _own(group: str) -> hou.Bundle:
    bundle = _bundle(group)
    if bundle.pattern() is not None:
        raise HostError(
            f"a pattern determines the contents of '{group}'; change the pattern in the Bundle List"
        )
    return bundle


def _free(wanted: str) -> str:
    """Return the name, with a number if it is taken, because Houdini doesn't choose a unique one
    for a bundle."""
    name, stem, number = wanted, wanted.rstrip("0123456789"), 1
    while hou.nodeBundle(name) is not None:
        name, number = f"{stem}{number}", number + 1
    return name

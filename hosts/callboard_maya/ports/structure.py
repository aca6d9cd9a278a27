"""The ``structure`` port: groups, empties and visibility. Here a group is a set, and an empty is a
group in Maya's own sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maya import cmds

from callboard.errors import HostError
from callboard.host import GroupNotFound, nearest_names
from callboard_maya.application.names import (
    bare,
    check_new_name,
    find,
    full_path,
    parent_of,
    telling,
)
from callboard_maya.parts.plugs import refuse_driven
from callboard_maya.ports.scene import is_visible

# Sets are used, not display layers, because an object is in at most one layer. These are the sets
# that each scene begins with.
_MAYAS = ("defaultLightSet", "defaultObjectSet")


class MayaStructure:
    def new(self) -> None:
        with telling("start a new scene"):
            cmds.file(new=True, force=True)

    def create_empty(self, name: str | None) -> str:
        named = name or "Empty"
        check_new_name(named)
        with telling("create that"):
            return full_path(cmds.createNode("transform", name=named, skipSelect=True))

    def set_visible(self, name: str, visible: bool) -> str:
        """Set the object's own visibility. An object that a layer or a parent hides stays
        hidden."""
        path = find(name)
        above = parent_of(path)
        if visible and above is not None and not is_visible(above):
            raise HostError(
                f"'{bare(path)}' is below '{bare(above)}', which is hidden; show the parent first"
            )
        plug = f"{path}.visibility"
        if bool(cmds.getAttr(plug)) != visible:
            refuse_driven(path, [plug])
            with telling(f"show or hide '{bare(path)}'"):
                cmds.setAttr(plug, visible)
        if visible and not is_visible(path):
            raise HostError(f"a display layer hides '{bare(path)}'; show the layer in Maya")
        return path

    def groups(self) -> Mapping[str, str]:
        sets = cmds.ls(exactType="objectSet") or []
        return {str(name): str(name) for name in sets if name not in _MAYAS}

    def members(self, group: str) -> list[str]:
        # The published stubs don't include the query for a set's members.
        members = cmds.sets(self._known(group), query=True)  # type: ignore[call-overload]
        objects = cmds.ls(members, type="transform", long=True) if members else None
        return [str(path) for path in objects or []]

    def create_group(self, name: str | None) -> str:
        named = name or "Group"
        check_new_name(named)
        with telling("create a set"):
            return str(cmds.sets(empty=True, name=named))

    def add(self, group: str, objects: Sequence[str]) -> str:
        named, paths = self._known(group), [find(name) for name in objects]
        with telling(f"add to '{named}'"):
            cmds.sets(paths, edit=True, addElement=named)
        return named

    def remove(self, group: str, objects: Sequence[str]) -> str:
        named, paths = self._known(group), [find(name) for name in objects]
        with telling(f"take out of '{named}'"):
            cmds.sets(paths, edit=True, remove=named)
        return named

    def _known(self, group: str) -> str:
        known = self.groups()
        if group not in known:
            raise GroupNotFound(group, nearest_names(group, known))
        return group

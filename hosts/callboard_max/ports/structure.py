"""The ``structure`` port: groups, empties and visibility. Here a group is a named selection set.
Groups made with 3ds Max's menus are objects themselves, and a node can be in only one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import GroupNotFound, nearest_names
from callboard_max.application.named_sets import NamedSets
from callboard_max.application.names import (
    Node,
    check_new_name,
    find,
    free_name,
    handle,
    path_of,
    paths_of,
    telling,
)


class MaxStructure:
    def __init__(self, sets: NamedSets) -> None:
        self._sets = sets

    def new(self) -> None:
        with telling("start a new scene"):
            rt.resetMaxFile(rt.Name("noPrompt"))

    def create_empty(self, name: str | None) -> str:
        named = name or "Empty"
        check_new_name(named)
        with telling("create that"):
            return path_of(rt.Dummy(name=free_name(named)))

    def set_visible(self, name: str, visible: bool) -> str:
        """Set the object's own visibility. An object that a layer hides stays hidden."""
        node = find(name)
        if bool(node.isHidden) is visible:
            with telling(f"show or hide '{node.name}'"):
                node.isHidden = not visible
        if visible and node.isHiddenInVpt:
            raise HostError(
                f"a layer or a category hides '{node.name}'; show the layer or category in 3ds Max"
            )
        return path_of(node)

    def groups(self) -> Mapping[str, str]:
        return {name: name for name in self._sets.all_sets()}

    def members(self, group: str) -> list[str]:
        return paths_of(self._held(group))

    def create_group(self, name: str | None) -> str:
        named = name or "Group"
        check_new_name(named)
        known, free, number = self._sets.all_sets(), named, 1
        while free in known:
            free, number = f"{named}{number:03}", number + 1
        with telling("create a selection set"):
            self._sets.write(free, [])
        if free not in self._sets.all_sets():
            raise HostError(
                "3ds Max doesn't keep an empty selection set; name objects to put into it"
            )
        return free

    def add(self, group: str, objects: Sequence[str]) -> str:
        held = {handle(node): node for node in self._held(group)}
        held |= {handle(node): node for node in map(find, objects)}
        with telling(f"add to '{group}'"):
            self._sets.write(group, list(held.values()))
        return group

    def remove(self, group: str, objects: Sequence[str]) -> str:
        leaving = {handle(find(name)) for name in objects}
        held = [node for node in self._held(group) if handle(node) not in leaving]
        with telling(f"take out of '{group}'"):
            self._sets.write(group, held)
        return group

    def _held(self, group: str) -> list[Node]:
        held = self._sets.all_sets()
        if group not in held:
            raise GroupNotFound(group, nearest_names(group, held))
        return held[group]

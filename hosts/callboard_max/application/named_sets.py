"""3ds Max's named selection sets. Its manual doesn't say whether changes to them can be undone, so
after a failed call this module restores them."""

from __future__ import annotations

from collections.abc import Sequence

from pymxs import runtime as rt

from callboard_max.application.names import Node, handle, objects


class NamedSets:
    """The selection sets. Their content before a step's first change is remembered until the next
    step begins."""

    def __init__(self) -> None:
        #: Handles, which survive an undo.
        self._before: dict[str, list[int]] | None = None

    def all_sets(self) -> dict[str, list[Node]]:
        return {str(each.name): list(each) for each in rt.selectionSets}

    def write(self, name: str, nodes: Sequence[Node]) -> None:
        """Make the set, or replace its content."""
        if self._before is None:
            self._before = self._handles()
        rt.selectionSets[name] = rt.Array(*nodes)

    def begin(self) -> None:
        self._before = None

    def are_changed(self) -> bool:
        return self._before is not None and self._handles() != self._before

    def put_back(self) -> None:
        if self._before is None or not self.are_changed():
            return
        there = {handle(node): node for node in objects()}
        for name in self.all_sets():
            if name not in self._before:
                rt.deleteItem(rt.selectionSets, name)
        for name, handles in self._before.items():
            nodes = [there[each] for each in handles if each in there]
            rt.selectionSets[name] = rt.Array(*nodes)

    def _handles(self) -> dict[str, list[int]]:
        return {name: [handle(node) for node in nodes] for name, nodes in self.all_sets().items()}

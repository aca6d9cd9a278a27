"""``selectionSets``, by index from 0 in Python, and by name."""

from __future__ import annotations

from ._objects import Node
from ._session import session
from ._values import Array, Strict


class SelectionSet(Strict):
    def __init__(self, name) -> None:
        self._name = name

    @property
    def name(self):
        return self._name

    def __iter__(self):
        held = session.scene.sets[self._name]
        return iter([Node(id) for id in held if id in session.scene.nodes])


class SelectionSets:
    def __iter__(self):
        session.guard("rt.selectionSets")
        return iter([SelectionSet(name) for name in session.scene.sets])

    def __setitem__(self, name, nodes):
        session.guard("rt.selectionSets")
        if not isinstance(name, str) or not isinstance(nodes, Array):
            raise RuntimeError("-- Unable to convert to type: node array")
        session.scene.sets[name] = [node._data.id for node in nodes]
        session.modified = True


def delete_item(collection, name):
    if not isinstance(collection, SelectionSets):
        raise NotImplementedError("the double doesn't model items of other collections")
    if name not in session.scene.sets:
        raise RuntimeError(f"-- Runtime error: no selection set {name}")
    del session.scene.sets[name]
    session.modified = True

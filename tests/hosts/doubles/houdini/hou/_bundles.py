"""Named bundles of nodes from any network."""

from __future__ import annotations

import re

from ._errors import OperationFailed
from ._nodes import Node, wrap
from ._session import guarded, guarded_function, session


@guarded
class NodeBundle:
    def __init__(self, name) -> None:
        self._name = name

    def __eq__(self, other):
        return isinstance(other, NodeBundle) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    def name(self):
        return self._name

    def pattern(self):
        return session.scene.patterns.get(self._name)

    def nodes(self):
        return tuple(wrap(id) for id in session.scene.bundles[self._name])

    def containsNode(self, node):
        return node._data.id in session.scene.bundles[self._name]

    def addNode(self, node):
        if not isinstance(node, Node) or self.pattern() is not None or self.containsNode(node):
            raise OperationFailed("The node can't be added.")
        session.record("Add to bundle")
        session.scene.bundles[self._name].append(node._data.id)

    def removeNode(self, base_node):
        if self.pattern() is not None or not self.containsNode(base_node):
            raise OperationFailed("The node is not in the bundle.")
        session.record("Remove from bundle")
        session.scene.bundles[self._name].remove(base_node._data.id)


def addNodeBundle(name=None):
    if name is None:
        raise NotImplementedError("the double doesn't model names that Houdini chooses")
    if not re.fullmatch(r"\w+", name, re.ASCII) or name in session.scene.bundles:
        raise OperationFailed("The name is not alphanumeric, or is taken.")
    session.record("Create bundle")
    session.scene.bundles[name] = []
    return NodeBundle(name)


def nodeBundles():
    return tuple(NodeBundle(name) for name in session.scene.bundles)


def nodeBundle(name):
    return NodeBundle(name) if name in session.scene.bundles else None


for _function in (addNodeBundle, nodeBundles, nodeBundle):
    globals()[_function.__name__] = guarded_function(_function)

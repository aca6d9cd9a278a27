"""File references: nodes from another file, in a namespace.

As Maya documents, the scene's changes to attributes, connections and parents are kept as edits;
a referenced node can be neither renamed nor deleted. The file is read when it is referenced.
Maya also reads it again with the scene, which isn't modeled.
"""

from __future__ import annotations

from ._dag_commands import one
from ._registry import command
from ._scene import Node, Scene, new_scene
from ._session import session


def add(file: Scene, path: str, namespace: str | None) -> str:
    """Reference everything in the file except the nodes that every scene has. Neither this nor
    anything before it can be undone."""
    if not namespace or path in session.scene.references:
        raise NotImplementedError(
            "the double doesn't model references without a namespace, or twice to one file"
        )
    for node in bring(file, namespace):
        node.referenced = path
    session.scene.references.append(path)
    session.modified = True
    session.flush()
    return path


def bring(file: Scene, namespace: str) -> list[Node]:
    """Add the file's own nodes to the scene."""
    if file.references or any(node.keys or node.member_of for node in file.nodes.values()):
        raise NotImplementedError(
            "the double doesn't model a file's own references, or its animation curves"
        )
    scene = session.scene
    brought = []
    everybodys = new_scene().nodes
    own = {node.name: node.id for node in scene.nodes.values()}
    ids: dict[int, int] = {}
    for node in file.nodes.values():
        if node.id in everybodys:
            ids[node.id] = own[node.name]
        else:
            scene.last_id += 1
            ids[node.id] = scene.last_id
    for node in file.nodes.values():
        if node.id not in everybodys:
            node.parent = None if node.parent is None else ids[node.parent]
            node.id, node.name = ids[node.id], f"{namespace}:{node.name}"
            scene.nodes[node.id] = node
            brought.append(node)
    for a, out, b, into in file.connections:
        if not {a, b} <= everybodys.keys():
            scene.connections.append((ids[a], out, ids[b], into))
    return brought


@command()
def referenceQuery(name, filename=False, isNodeReferenced=False, withoutCopyNumber=False):
    node = one(name)
    if isNodeReferenced:
        return bool(node.referenced)
    if not filename or not withoutCopyNumber:
        raise NotImplementedError("the double doesn't model other queries about references")
    if not node.referenced:
        raise RuntimeError(f"'{name}' is not from a referenced file.")
    return node.referenced

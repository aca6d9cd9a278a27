"""Scene assemblies: a node that shows one of several files below it, in a separate namespace.

The nodes of a file are members. They aren't saved with the scene, which keeps only edits of
attributes, connections and parents. Renaming, deleting or copying a member isn't modeled. Nor is
reading the file again with the scene.
"""

from __future__ import annotations

from pathlib import Path

from ._dag_commands import one
from ._references import bring
from ._registry import command
from ._scene import ASSEMBLY_TYPES, Node
from ._session import session
from ._session_commands import scene_in


@command(undoable=True)
def assembly(
    *names, name=None, type=None, createRepresentation=None, input=None, active=None,
    listRepresentations=False, listTypes=False, repNamespace=False, mode="create",
):  # fmt: skip
    if mode == "create":
        return _made(name, type)
    if listTypes:
        return list(ASSEMBLY_TYPES) if "sceneAssembly" in session.plugins else None
    node = one(names[0])
    if node.type not in ASSEMBLY_TYPES:
        raise RuntimeError(f"'{names[0]}' is not an assembly.")
    if mode == "query":
        if repNamespace:
            return node.attributes["repNamespace"]
        if listRepresentations:
            return list(node.attributes["representations"]) or None
        return node.attributes["active"]
    if createRepresentation is not None:
        if createRepresentation != "Scene" or input is None:
            raise NotImplementedError("the double doesn't model representations that aren't scenes")
        label = Path(input).name
        node.attributes["representations"][label] = input
        return label
    if active not in node.attributes["representations"]:
        raise RuntimeError(f"'{active}' is not a representation of '{names[0]}'.")
    _activate(node, active)
    return None


def _made(name: str | None, type: str | None) -> str:
    if "sceneAssembly" not in session.plugins or type != "assemblyDefinition":
        raise RuntimeError(f"'{type}' is not a registered assembly type.")
    node = session.scene.add(type, name or type, None, dag=True)
    node.attributes["repNamespace"] = f"{node.name}_NS"
    node.attributes["representations"], node.attributes["active"] = {}, ""
    session.scene.selection = [(node.id, "")]
    return session.scene.short(node)


def _activate(node: Node, label: str) -> None:
    if node.attributes["active"]:
        raise NotImplementedError("the double doesn't model switching representations")
    file = scene_in(node.attributes["representations"][label])
    for each in bring(file, node.attributes["repNamespace"]):
        each.member_of = node.id
        if each.dag and each.parent is None:
            each.parent = node.id
    node.attributes["active"] = label

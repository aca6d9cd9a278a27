"""Commands about connections and materials."""

from __future__ import annotations

from ._dag_commands import flat, is_a, one
from ._registry import command
from ._scene import Node
from ._session import session


def plug(name: str) -> tuple[Node, str]:
    node, _, attribute = name.partition(".")
    owner = one(node)
    if attribute not in owner.attributes:
        raise ValueError(f"No object matches name: {name}")
    return owner, attribute


@command()
def listConnections(name, destination=True, plugs=False, shapes=False, source=True, type=None):
    scene = session.scene
    if "." in name:
        node, attribute = plug(name)
    else:
        node, attribute = one(name), None
    ends: list[tuple[Node, str]] = []
    for a, out, b, into in scene.connections:
        if destination and a == node.id and attribute in (None, out):
            ends.append((scene.nodes[b], into))
        if source and b == node.id and attribute in (None, into):
            ends.append((scene.nodes[a], out))
    answer = []
    for other, end in ends:
        if type is not None and not is_a(other, type):
            continue
        if other.type == "mesh" and not shapes:
            other = scene.nodes[other.parent]
        answer.append(scene.short(other) + (f".{end}" if plugs else ""))
    return answer or None


@command(undoable=True)
def connectAttr(first, second, force=False):
    scene = session.scene
    (a, out), (b, into) = plug(first), plug(second)
    taken = [c for c in scene.connections if c[2:] == (b.id, into)]
    if taken and not force:
        raise RuntimeError(f"'{second}' is already connected")
    scene.connections = [c for c in scene.connections if c not in taken]
    scene.connections.append((a.id, out, b.id, into))


@command(undoable=True)
def disconnectAttr(first, second):
    scene = session.scene
    (a, out), (b, into) = plug(first), plug(second)
    wanted = (a.id, out, b.id, into)
    if wanted not in scene.connections:
        raise RuntimeError(f"There is no connection from '{first}' to '{second}' to disconnect")
    scene.connections.remove(wanted)


@command(undoable=True)
def shadingNode(type, asShader=False, asTexture=False, name=None, skipSelect=False):
    if not (asShader or asTexture):
        raise RuntimeError("shadingNode needs asShader, asTexture or another kind")
    scene = session.scene
    made = scene.add(type, name or f"{type}1")
    if not skipSelect:
        scene.selection = [(made.id, "")]
    return made.name


@command(undoable=True)
def sets(
    *members, empty=False, forceElement=None, name=None, noSurfaceShader=False, renderable=False,
    mode="create",
):  # fmt: skip
    scene = session.scene
    if mode == "create":
        if not (renderable and noSurfaceShader and empty):
            raise NotImplementedError("sets that are no shading groups")
        return scene.add("shadingEngine", name or "set1").name
    if mode != "edit" or forceElement is None:
        raise NotImplementedError("other uses of sets")
    group = one(forceElement)
    for member in flat(members):
        shape = scene.shape(one(member))
        scene.connections = [
            c for c in scene.connections if not (c[0] == shape.id and c[3] == "dagSetMembers")
        ]
        scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))
    return None

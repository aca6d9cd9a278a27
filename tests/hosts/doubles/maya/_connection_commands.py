"""Commands for connections and materials."""

from __future__ import annotations

from . import _lights
from ._dag_commands import flat, indices, is_a, one, parts, split_part
from ._registry import command
from ._scene import Node
from ._session import session

#: The nodes that list all nodes of a kind.
_LISTS = {
    "shaders": "defaultShaderList1",
    "textures": "defaultTextureList1",
    "utilities": "defaultRenderUtilityList1",
}


def plug(name: str) -> tuple[Node, str]:
    node, _, attribute = name.partition(".")
    owner = one(node)
    if owner.split(attribute)[0] not in owner.attributes:
        raise ValueError(f"No object matches name: {name}")
    return owner, attribute


@command()
def listConnections(
    name, connections=False, destination=True, plugs=False, shapes=False, source=True, type=None
):
    scene = session.scene
    if "." in name:
        node, attribute = plug(name)
    else:
        node, attribute = one(name), None
    ends: list[tuple[Node, str, str]] = []
    this = node.id
    for a, out, b, into in scene.connections:
        if destination and a == this and attribute in (None, out):
            ends.append((scene.nodes[b], into, out))
        if source and b == this and attribute in (None, into):
            ends.append((scene.nodes[a], out, into))
    answer = []
    for other, end, own in ends:
        if type is not None and not is_a(other, type):
            continue
        if other.type == "mesh" and not shapes:
            other = scene.nodes[other.parent]
        if connections:
            answer.append(f"{scene.short(node)}.{own}")
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
def shadingNode(
    type,
    asLight=False,
    asShader=False,
    asTexture=False,
    asUtility=False,
    isColorManaged=False,
    name=None,
    skipSelect=False,
):
    if (asLight, asShader, asTexture, asUtility).count(True) != 1:
        raise RuntimeError("shadingNode needs asShader, asTexture or another kind")
    scene = session.scene
    if asLight:
        return _lights.make(scene, type, name, _lights.MTOA in session.plugins)
    made = scene.add(type, name or f"{type}1")
    kind = "shaders" if asShader else "textures" if asTexture else "utilities"
    if "message" in made.attributes:
        lists = scene.one(_LISTS[kind])
        scene.connections.append((made.id, "message", lists.id, kind))
    if not skipSelect:
        scene.selection = [(made.id, "")]
    return made.name


@command(undoable=True)
def sets(
    *members, addElement=None, empty=False, forceElement=None, name=None, noSurfaceShader=False,
    remove=None, renderable=False, mode="create",
):  # fmt: skip
    scene = session.scene
    if mode == "create":
        if not empty or renderable is not noSurfaceShader:
            raise NotImplementedError("the double doesn't model other ways to create a set")
        return scene.add("shadingEngine" if renderable else "objectSet", name or "set1").name
    if mode == "query":
        return _members(one(members[0])) or None
    if mode == "edit" and addElement is not None:
        group = one(addElement)
        for member in (one(each) for each in flat(members)):
            link = (member.id, "instObjGroups", group.id, "dagSetMembers")
            scene.connections += [link] if link not in scene.connections else []
        return None
    if mode == "edit" and remove is not None:
        group = one(remove)
        for member in (one(each) for each in flat(members)):
            link = (member.id, "instObjGroups", group.id, "dagSetMembers")
            scene.connections = [each for each in scene.connections if each != link]
        return None
    if mode != "edit" or forceElement is None:
        raise NotImplementedError("the double doesn't model other uses of sets")
    group = one(forceElement)
    for member in flat(members):
        base, part = split_part(member)
        shape = scene.shape(one(base))
        if part:
            _move_faces(shape, set(indices(one(base), part)), group)
            continue
        shape.faces.clear()
        _leave(shape)
        scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))
    return None


def _members(group: Node) -> list[str]:
    scene = session.scene
    listed: list[str] = []
    for a, _, b, into in scene.connections:
        if (b, into) == (group.id, "dagSetMembers"):
            shape = scene.nodes[a]
            if group.id in shape.faces:
                owner = scene.nodes[shape.parent]
                listed += parts(owner, "f", shape.faces[group.id], scene.short(owner))
            else:
                listed.append(scene.short(shape))
    return listed


def _leave(shape: Node, group: int | None = None) -> None:
    """Remove the shape from the group, or from all groups."""
    scene = session.scene
    scene.connections = [
        c
        for c in scene.connections
        if not (c[0] == shape.id and c[3] == "dagSetMembers" and group in (None, c[2]))
    ]


def _move_faces(shape: Node, moved: set[int], group: Node) -> None:
    """Move faces to the group. If a group held the whole object, that group keeps the other faces,
    listed one by one."""
    scene = session.scene
    there = {c[2] for c in scene.connections if c[0] == shape.id and c[3] == "dagSetMembers"}
    for id in there:
        whole = range(len(shape.mesh.faces))
        kept = set(shape.faces.get(id, whole))
        kept = kept | moved if id == group.id else kept - moved
        shape.faces[id] = sorted(kept)
        if not kept:
            del shape.faces[id]
            _leave(shape, id)
    if group.id not in there:
        shape.faces[group.id] = sorted(moved)
        scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))


@command()
def colorManagementPrefs(inputSpaceNames=False, mode="create"):
    if mode != "query" or not inputSpaceNames:
        raise NotImplementedError("the double doesn't model other queries about colors")
    return ["ACEScg", "scene-linear Rec.709-sRGB", "sRGB", "Raw"]

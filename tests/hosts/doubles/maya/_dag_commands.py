"""Commands for nodes: finding, making, parenting, naming, deleting, copying and selecting."""

from __future__ import annotations

import copy
import fnmatch
import re
from typing import Any

from . import _lights
from . import _matrices as mx
from ._registry import command
from ._scene import ASSEMBLY_TYPES, TRANSFORM_TYPES, Node
from ._session import session

#: Derived types of each type, for ``ls -type`` and the like.
_BASES = {"transform": TRANSFORM_TYPES, "surfaceShape": ("mesh", "nurbsSurface")}


def flat(arguments) -> list[str]:
    flattened: list[str] = []
    for each in arguments:
        flattened += flat(each) if isinstance(each, (list, tuple)) else [each]
    return flattened


def one(name: Any) -> Node:
    if not isinstance(name, str):
        raise TypeError(f"Invalid arguments: {name!r}")
    return session.scene.one(name)


def given_or_selected(arguments) -> list[str]:
    names = flat(arguments)
    scene = session.scene
    return names or [scene.path(scene.nodes[id]) + part for id, part in scene.selection]


def split_part(name: str) -> tuple[str, str]:
    """Split ``a|b.e[1]`` into node and component."""
    matched = re.fullmatch(r"(.+?)(\.(?:e|f|vtx)\[.+\])?", name)
    return matched[1], matched[2] or ""


def indices(node: Node, part: str) -> list[int]:
    """Return the numbers in ``.e[0:3]`` that the mesh has."""
    shape = session.scene.shape(node)
    if shape is None or shape.mesh is None:
        raise ValueError(f"No object matches name: {node.name}{part}")
    letter, written = re.fullmatch(r"\.(e|f|vtx)\[(.+)\]", part).groups()
    mesh = shape.mesh
    count = {"e": len(mesh.edges()), "f": len(mesh.faces), "vtx": len(mesh.points)}[letter]
    if written == "*":
        return list(range(count))
    first, _, last = written.partition(":")
    return [i for i in range(int(first), int(last or first) + 1) if i < count]


def parts(node: Node, letter: str, numbers: list[int], name: str) -> list[str]:
    """Return runs of numbers as Maya writes them."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [
        f"{name}.{letter}[{first}]" if first == last else f"{name}.{letter}[{first}:{last}]"
        for first, last in runs
    ]


def is_a(node: Node, type: Any) -> bool:
    wanted = [type] if isinstance(type, str) else list(type)
    return any(node.type in _BASES.get(each, (each,)) for each in wanted)


@command()
def ls(
    *names,
    allPaths=False,
    dagObjects=False,
    exactType=None,
    flatten=False,
    long=False,
    noIntermediate=False,
    objectsOnly=False,
    selection=False,
    type=None,
    visible=False,
):
    scene = session.scene
    listed: list[tuple[Node, str]] = []
    if selection:
        listed = [(scene.nodes[id], part) for id, part in scene.selection]
    elif names:
        for name in flat(names):
            base, part = split_part(name)
            if re.search(r"[*?\[]", base):
                every = scene.walk() + [n for n in scene.nodes.values() if not n.dag]
                listed += [(n, "") for n in every if fnmatch.fnmatchcase(n.name, base)]
            else:
                for node in scene.match(base):
                    if not part or indices(node, part):
                        listed.append((node, part))
    else:
        every = scene.walk() + [n for n in scene.nodes.values() if not n.dag and not dagObjects]
        listed = [(n, "") for n in every]
    if dagObjects and (selection or names):
        listed = [(each, "") for n, _ in listed if n.dag for each in (n, *scene.below(n.id))]
    answer: list[str] = []
    for node, part in listed:
        if type is not None and (part or not is_a(node, type)):
            continue
        if exactType is not None and (part or node.type != exactType):
            continue
        if visible and not is_visible(node):
            continue
        if part and objectsOnly:
            # Components belong to the shape.
            node, part = scene.shape(node) or node, ""
        name = scene.path(node) if long else scene.short(node)
        if part and flatten:
            letter = part[1 : part.index("[")]
            answer += [f"{name}.{letter}[{i}]" for i in indices(node, part)]
        else:
            answer.append(name + part)
    return answer


def is_visible(node: Node) -> bool:
    at: Node | None = node
    while at is not None:
        if not at.attributes.get("visibility", True):
            return False
        drawn = session.scene.override(at, "overrideVisibility")
        if not drawn and session.scene.override(at, "overrideEnabled"):
            return False
        at = session.scene.nodes[at.parent] if at.parent is not None else None
    return node.dag


@command()
def listRelatives(
    *names,
    allParents=False,
    children=False,
    fullPath=False,
    noIntermediate=False,
    parent=False,
    shapes=False,
    type=None,
):
    scene = session.scene
    relatives: list[Node] = []
    for name in given_or_selected(names):
        node = one(name)
        if parent or allParents:
            relatives += [scene.nodes[node.parent]] if node.parent is not None else []
        elif shapes:
            relatives += [c for c in scene.children(node.id) if c.type not in TRANSFORM_TYPES]
        else:
            relatives += scene.children(node.id)
    if type is not None:
        relatives = [n for n in relatives if is_a(n, type)]
    return [scene.path(n) if fullPath else scene.short(n) for n in relatives] or None


@command()
def listNodeTypes(classification):
    if classification != "light":
        raise NotImplementedError("the double doesn't model other classifications")
    return _lights.types(_lights.MTOA in session.plugins)


@command()
def nodeType(name):
    return one(name).type


@command()
def objExists(name):
    return bool(session.scene.match(name))


@command()
def camera(*names, startupCamera=False, mode="create"):
    if mode != "query" or not startupCamera:
        raise NotImplementedError(
            "the double doesn't model cameras other than the four default ones"
        )
    return one(names[0]).attributes["startupCamera"]


@command(undoable=True)
def createNode(type, name=None, parent=None, skipSelect=False):
    scene = session.scene
    dag = type in (*TRANSFORM_TYPES, "mesh", "camera")
    above = one(parent).id if parent else None
    if dag and type not in TRANSFORM_TYPES and above is None:
        raise NotImplementedError("the double doesn't model a shape without a parent")
    made = scene.add(type, name or f"{type}1", above, dag)
    if not skipSelect:
        scene.selection = [(made.id, "")]
    return scene.short(made)


@command(undoable=True)
def parent(*names, relative=False, world=False):
    scene = session.scene
    given = flat(names)
    above = None if world else one(given.pop())
    moved = []
    for name in given:
        node = one(name)
        if node.type not in TRANSFORM_TYPES:
            raise NotImplementedError("the double doesn't model parenting a shape")
        new = above.id if above else None
        if new == node.parent:
            session.warnings.append(f"{name} is there already")
            continue
        if above is not None and (above is node or above in scene.below(node.id)):
            raise RuntimeError("Cannot parent an object to itself or to one of its descendants.")
        place = scene.world(node)
        node.parent = new
        node.name = scene.free_name(node.name, node)
        # The node becomes the last of its new siblings.
        scene.nodes[node.id] = scene.nodes.pop(node.id)
        if not relative:
            scene.set_local(node, mx.times(place, mx.inverse(scene.world(above))))
        moved.append(scene.short(node))
    return moved


@command(undoable=True)
def rename(old, new):
    scene = session.scene
    node = one(old)
    if re.match(r"\d", new) or not new:
        raise RuntimeError("New name has no legal characters.")
    if node.referenced:
        raise RuntimeError("Cannot rename a read only node.")
    if node.member_of is not None:
        raise NotImplementedError("the double doesn't model renaming a member of an assembly")
    before = node.name
    node.name = scene.free_name(new, node)
    for shape in scene.children(node.id):
        if shape.name == f"{before}Shape":
            shape.name = scene.free_name(f"{node.name}Shape", shape)
    return scene.short(node)


@command(undoable=True)
def delete(*names, constructionHistory=False):
    scene = session.scene
    for name in given_or_selected(names):
        node = one(name)
        if node.referenced:
            raise RuntimeError(f"Cannot delete locked or read-only node '{node.name}'")
        below = [each.id for each in (node, *scene.below(node.id))]
        if any(each.referenced for each in scene.below(node.id)):
            raise NotImplementedError(
                "the double doesn't model deleting a node above a referenced one"
            )
        if any(scene.nodes[id].member_of not in (None, *below) for id in below):
            raise NotImplementedError("the double doesn't model deleting a member of an assembly")
        if constructionHistory:
            _bake(node)
            continue
        shape = scene.shape(node)
        if shape is not None and shape.attributes.get("startupCamera"):
            raise RuntimeError(f"Cannot delete locked or read-only node '{node.name}'")
        scene.remove(node)


def _bake(node: Node) -> None:
    scene = session.scene
    shape = scene.shape(node)
    makers = {c[0] for c in scene.connections if shape and c[2:] == (shape.id, "inMesh")}
    while makers:
        above = {c[0] for c in scene.connections if c[2] in makers}
        scene.connections = [
            c for c in scene.connections if c[0] not in makers and c[2] not in makers
        ]
        for id in makers:
            scene.nodes.pop(id)
        makers = above


@command(undoable=True)
def duplicate(*names, inputConnections=False, name=None, returnRootsOnly=False):
    scene = session.scene
    answer = []
    for each in given_or_selected(names):
        original = one(each)
        copied = _copy(original, original.parent, name or original.name)
        if inputConnections:
            if original.dag:
                raise NotImplementedError(
                    "the double doesn't model duplicating objects with their inputs"
                )
            into = [c for c in scene.connections if c[2] == original.id]
            scene.connections += [(c[0], c[1], copied.id, c[3]) for c in into]
        scene.selection = [(copied.id, "")]
        answer.append(scene.short(copied))
        if not returnRootsOnly:
            answer += [scene.short(n) for n in scene.below(copied.id)]
    return answer


def _copy(original: Node, above: int | None, name: str) -> Node:
    scene = session.scene
    if original.member_of is not None or original.type in ASSEMBLY_TYPES:
        raise NotImplementedError("the double doesn't model copies of assemblies and their members")
    made = copy.deepcopy(original)
    scene.last_id += 1
    made.id, made.parent, made.keys = scene.last_id, above, {}
    # A copy of a referenced node belongs to the scene, outside the namespace.
    name, made.referenced = name.rpartition(":")[2] if made.referenced else name, ""
    scene.nodes[made.id] = made
    made.name = scene.free_name(name, made)
    layers = [c for c in scene.connections if c[2:] == (original.id, "drawOverride")]
    scene.connections += [(c[0], c[1], made.id, c[3]) for c in layers]
    for child in scene.children(original.id):
        is_shape = child.type not in TRANSFORM_TYPES
        named = f"{made.name}Shape" if is_shape else child.name
        twin = _copy(child, made.id, named)
        if is_shape:
            # A copy keeps its material, but not its history.
            for source, attribute, target, there in list(scene.connections):
                if source == child.id and there == "dagSetMembers":
                    scene.connections.append((twin.id, attribute, target, there))
    return made


@command(undoable=True)
def select(*names, clear=False, replace=True):
    scene = session.scene
    if clear:
        scene.selection = []
        return
    chosen: list[tuple[int, str]] = []
    for name in flat(names):
        base, part = split_part(name)
        node = one(base)
        if part and not indices(node, part):
            raise ValueError(f"No object matches name: {name}")
        chosen.append((node.id, part))
    scene.selection = list(dict.fromkeys(chosen))

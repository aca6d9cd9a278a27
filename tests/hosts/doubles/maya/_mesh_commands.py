"""Commands that make and model polygons."""

from __future__ import annotations

from math import degrees

from . import _meshes as shapes
from ._dag_commands import flat, given_or_selected, indices, one, parts, split_part
from ._registry import command
from ._scene import Node
from ._session import session


def _made(maker: str, name: str | None, mesh: shapes.Mesh, axis) -> list[str]:
    scene = session.scene
    stem = "p" + maker[1:]
    transform = scene.add("transform", name or f"{stem}1", dag=True)
    shape = scene.add("mesh", f"{transform.name}Shape", transform.id, dag=True)
    shape.mesh = shapes.upright(mesh, axis)
    history = scene.add(maker, f"{maker}1")
    scene.connections.append((history.id, "output", shape.id, "inMesh"))
    group = scene.one("initialShadingGroup")
    scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))
    scene.selection = [(transform.id, "")]
    session.tell("event", "DagObjectCreated")
    return [scene.short(transform), history.name]


@command(undoable=True)
def polyCube(name=None, axis=(0, 1, 0), width=1.0, height=1.0, depth=1.0):
    return _made("polyCube", name, shapes.box(width, height, depth), axis)


@command(undoable=True)
def polySphere(name=None, axis=(0, 1, 0), radius=1.0):
    return _made("polySphere", name, shapes.sphere(radius), axis)


@command(undoable=True)
def polyPlane(name=None, axis=(0, 1, 0), width=1.0, height=1.0, subdivisionsX=10, subdivisionsY=10):
    return _made("polyPlane", name, shapes.grid(width, height, subdivisionsX, subdivisionsY), axis)


@command(undoable=True)
def polyCylinder(name=None, axis=(0, 1, 0), radius=1.0, height=2.0):
    return _made(
        "polyCylinder", name, shapes.lathe([(radius, -height / 2), (radius, height / 2)]), axis
    )


@command(undoable=True)
def polyCone(name=None, axis=(0, 1, 0), radius=1.0, height=2.0):
    return _made("polyCone", name, shapes.lathe([(radius, -height / 2), (0.0, height / 2)]), axis)


@command(undoable=True)
def polyTorus(name=None, axis=(0, 1, 0), radius=1.0, sectionRadius=0.5):
    return _made("polyTorus", name, shapes.torus(radius, sectionRadius), axis)


@command()
def polyEvaluate(*names, vertex=False, edge=False, face=False, triangle=False, shell=False):
    asked = [vertex, edge, face, triangle, shell]
    if asked.count(True) != 1:
        raise NotImplementedError("the double doesn't model several counts at once")
    mesh = _mesh(one(given_or_selected(names)[0]))
    if vertex:
        return len(mesh.points)
    if edge:
        return len(mesh.edges())
    if face:
        return len(mesh.faces)
    return mesh.triangles() if triangle else mesh.shells()


@command()
def polyListComponentConversion(*names, toEdge=False):
    if not toEdge:
        raise NotImplementedError("the double doesn't model conversion to anything but edges")
    scene = session.scene
    answer: list[str] = []
    for name in given_or_selected(names):
        base, part = split_part(name)
        node = one(base)
        shape = scene.shape(node)
        if shape is None or shape.mesh is None:
            continue
        edges = shape.mesh.edges()
        if part.startswith(".e["):
            chosen = indices(node, part)
        elif part.startswith(".f["):
            corners = [shape.mesh.faces[i] for i in indices(node, part)]
            around = {
                (min(a, b), max(a, b))
                for face in corners
                for a, b in zip(face, [*face[1:], face[0]], strict=True)
            }
            chosen = [i for i, edge in enumerate(edges) if edge in around]
        else:
            chosen = list(range(len(edges)))
        answer += parts(node, "e", chosen, scene.short(node))
    return answer


@command(undoable=True)
def polyBevel3(*names, constructionHistory=True, offset=0.2, offsetAsFraction=True, segments=1):
    return _edit("polyBevel3", flat(names), "e", lambda mesh, ids: mesh.bevel(ids, segments))


@command(undoable=True)
def polyExtrudeFacet(*names, keepFacesTogether=True, localTranslateZ=0.0):
    return _edit(
        "polyExtrudeFace", flat(names), "f", lambda mesh, ids: mesh.extrude(ids, localTranslateZ)
    )


@command(undoable=True)
def polySmooth(*names, divisions=1):
    node = one(flat(names)[0])
    mesh = _mesh(node)
    for _ in range(divisions):
        mesh.divide()
    return [_history("polySmoothFace", node)]


def _edit(maker: str, names: list[str], letter: str, change) -> list[str]:
    by_node: dict[int, list[int]] = {}
    for name in names:
        base, part = split_part(name)
        if not part.startswith(f".{letter}["):
            raise RuntimeError(f"{maker}: '{name}' is not a component that it can edit")
        node = one(base)
        by_node.setdefault(node.id, []).extend(indices(node, part))
    if not by_node:
        raise RuntimeError(f"{maker}: nothing to work on")
    made = []
    for id, numbers in by_node.items():
        node = session.scene.nodes[id]
        change(_mesh(node), sorted(set(numbers)))
        made.append(_history(maker, node))
    return made


def _history(maker: str, node: Node) -> str:
    scene = session.scene
    shape = scene.shape(node)
    history = scene.add(maker, f"{maker}1")
    history.attributes["inputPolymesh"] = None
    for index, (source, out, target, into) in enumerate(scene.connections):
        if (target, into) == (shape.id, "inMesh"):
            scene.connections[index] = (source, out, history.id, "inputPolymesh")
    scene.connections.append((history.id, "output", shape.id, "inMesh"))
    return history.name


def _mesh(node: Node) -> shapes.Mesh:
    shape = session.scene.shape(node)
    if shape is None or shape.mesh is None:
        raise RuntimeError(f"'{node.name}' isn't a polygon object")
    return shape.mesh


@command(undoable=True)
def polyNormal(*names, constructionHistory=True, normalMode=None):
    if normalMode != 0:
        raise NotImplementedError("the double doesn't model anything but reversing normals")
    by_node: dict[int, list[int]] = {}
    for name in flat(names):
        base, part = split_part(name)
        if not part.startswith(".f["):
            raise NotImplementedError("the double doesn't model reversing all faces at once")
        by_node.setdefault(one(base).id, []).extend(indices(one(base), part))
    for id, numbers in by_node.items():
        _mesh(session.scene.nodes[id]).turn(set(numbers))
    return [_kept("polyNormal", session.scene.nodes[id], constructionHistory) for id in by_node]


@command(undoable=True)
def polyTriangulate(*names, constructionHistory=True):
    node = one(flat(names)[0])
    shape = session.scene.shape(node)
    came_from = _mesh(node).triangulate()
    for group, numbers in shape.faces.items():
        shape.faces[group] = [new for new, old in enumerate(came_from) if old in numbers]
    return [_kept("polyTriangulate", node, constructionHistory)]


@command(undoable=True)
def polyNormalPerVertex(*names, freezeNormal=False, unFreezeNormal=False):
    if freezeNormal == unFreezeNormal:
        raise NotImplementedError(
            "the double doesn't model anything but locking or unlocking normals"
        )
    _mesh(one(flat(names)[0])).locked = freezeNormal
    return True


@command(undoable=True)
def polySoftEdge(*names, angle=30.0, constructionHistory=True):
    node = one(flat(names)[0])
    limit = angle if session.units["angle"].startswith("deg") else degrees(angle)
    _mesh(node).soften(limit)
    return [_kept("polySoftEdge", node, constructionHistory)]


def _kept(maker: str, node: Node, wanted: bool) -> str:
    """Add a maker to the mesh's history if the caller wants history, or if the mesh has some
    already. Return the maker's name, or an empty string."""
    shape = session.scene.shape(node)
    fed = any(c[2:] == (shape.id, "inMesh") for c in session.scene.connections)
    return _history(maker, node) if wanted or fed else ""

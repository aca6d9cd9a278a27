"""``polyop``, ``meshop`` and related functions, as documented in MAXScript's help, and the result
of collapsing a stack.

A poly or a mesh is a base object of that kind, or a node that has one. Positions are in world
coordinates for a node, and in local coordinates for a base object.
"""

from __future__ import annotations

from . import _objects as objects
from . import _polygons as pg
from . import _scene as sc
from . import _values as values
from ._session import session

#: The one map channel that is modelled.
_UVS = 1


class TriMesh:
    """A copy of the shown mesh, in the world. Modifiers aren't modelled here."""

    def __init__(self, node) -> None:
        data = node._data
        if data.modifiers:
            raise NotImplementedError(
                "the double doesn't model the triangles of a node with modifiers"
            )
        world = session.scene.world(data, objects.now())
        made = pg.cut(data.polygons())
        placed = ([a + b for a, b in zip(p, data.offset, strict=True)] for p in made.points)
        self._poly = pg.Polygons(
            [sc.apply(point, world) for point in placed],
            *(made.faces, made.map_points, made.map_faces, made.groups, made.ids),
        )


def _of(what, kind):
    """Return the polygons of that poly or mesh."""
    if kind == "Editable_mesh" and isinstance(what, TriMesh):
        return what._poly
    if not isinstance(what, (objects.Node, objects._Base)):
        raise RuntimeError(f"-- Unable to convert: {what!r} to type: {kind}")
    data = objects.Node(what._id)._data
    if data.type != kind:
        raise RuntimeError(f"-- Runtime error: {data.type} isn't of class {kind}")
    return data.poly


def _at(of, number, what):
    if not 1 <= number <= len(of):
        raise RuntimeError(f"-- Runtime error: no {what} {number}")
    return of[number - 1]


def _list(of, faces):
    if not isinstance(faces, values.Array):
        raise NotImplementedError("the double doesn't model other ways to choose faces")
    for number in faces:
        _at(of.faces, number, "face")
    return [number - 1 for number in faces]


def _counted(indices):
    return [at + 1 for at in indices]


class _Ops:
    """Functions that polys and meshes have in common."""

    _kind = ""

    def _of(self, what):
        return _of(what, self._kind)

    def getNumVerts(self, what):
        return len(self._of(what).points)

    def getNumFaces(self, what):
        return len(self._of(what).faces)

    def getVert(self, what, number):
        place = _at(self._of(what).points, number, "vertex")
        if isinstance(what, objects.Node):
            data = what._data
            moved = [a + b for a, b in zip(place, data.offset, strict=True)]
            place = sc.apply(moved, session.scene.world(data, objects.now()))
        return values.Point3(*place)

    def getNumMaps(self, what):
        """Return the number of channels, used or not, including channel 0 for colors."""
        self._of(what)
        return 2

    def getMapSupport(self, what, channel):
        return channel == _UVS and bool(self._of(what).map_faces)

    def getNumMapVerts(self, what, channel):
        return len(self._mapped(what, channel).map_points)

    def getMapVert(self, what, channel, number):
        return values.Point3(*_at(self._mapped(what, channel).map_points, number, "map vertex"))

    def _mapped(self, what, channel):
        if not self.getMapSupport(what, channel):
            raise RuntimeError(f"-- Runtime error: map channel {channel} is not in use")
        return self._of(what)


class Polyop(_Ops):
    _kind = "Editable_Poly"

    def getFaceVerts(self, what, number):
        return values.Array(*_counted(_at(self._of(what).faces, number, "face")))

    def getMapFace(self, what, channel, number):
        face = _at(self._mapped(what, channel).map_faces, number, "face")
        return values.Array(*_counted(face))

    def getFaceSmoothGroup(self, what, number):
        return _at(self._of(what).groups, number, "face")

    def getFaceMatID(self, what, number):
        return _at(self._of(what).ids, number, "face")

    def setFaceMatID(self, what, faces, number):
        chosen = _list(self._of(what), faces)
        session.record()
        for face in chosen:
            self._of(what).ids[face] = int(number)


class Meshop(_Ops):
    _kind = "Editable_mesh"

    def getMapFace(self, what, channel, number):
        face = _at(self._mapped(what, channel).map_faces, number, "face")
        return values.Point3(*_counted(face))

    def flipNormals(self, what, faces):
        chosen = _list(self._of(what), faces)
        session.record()
        pg.turned(self._of(what), chosen)


def getNumVerts(mesh):
    return Meshop().getNumVerts(mesh)


def getVert(mesh, number):
    return Meshop().getVert(mesh, number)


def getNumFaces(mesh):
    return Meshop().getNumFaces(mesh)


def getFace(mesh, number):
    return values.Point3(*_counted(_at(_of(mesh, "Editable_mesh").faces, number, "face")))


def getFaceSmoothGroup(mesh, number):
    return _at(_of(mesh, "Editable_mesh").groups, number, "face")


def update(node):
    """Show changes to a mesh."""
    node._data  # noqa: B018


def snapshotAsMesh(node):
    made = TriMesh(node)
    session.snapshots += 1
    return made


def free(mesh):
    session.snapshots -= 1


# -- collapsing -----------------------------------------------------------------------------------


def collapse(node, lowest) -> None:
    """Collapse the stack, up to the given modifier, into the object."""
    data = node._data
    made, type = data.polygons(), data.type
    for modifier in reversed(data.modifiers[lowest:]):
        if modifier.enabled:
            made, type = _modified(made, type, modifier)
    if type not in ("Editable_Poly", "Editable_mesh"):
        # A primitive is shown as a mesh, and becomes one.
        made, type = pg.cut(made), "Editable_mesh"
    session.record()
    data = node._data
    data.type, data.values, data.poly, data.source = type, {}, made, None
    data.modifiers = data.modifiers[:lowest]


def to_poly(node) -> None:
    data = node._data
    collapse(node, 0)
    data.type, data.poly = "Editable_Poly", pg.joined(data.poly)


def _modified(made, type, modifier):
    of = modifier.values
    if modifier.type == "Shell":
        return pg.shelled(made), type
    if modifier.type == "Smooth":
        if of["autosmooth"]:
            pg.smoothed(made, of["threshold"])
        else:
            made.groups = [of["smoothingBits"]] * len(made.faces)
        return made, type
    if modifier.type == "Turn_to_Mesh":
        return pg.cut(made), "Editable_mesh"
    if modifier.type == "Turn_to_Poly":
        if of["keepConvex"] or of["requirePlanar"] or of["removeMidEdgeVertices"]:
            raise NotImplementedError(
                "the double doesn't model Turn to Poly's convex, planar and mid-edge options"
            )
        made = pg.joined(made)
        if of["limitPolySize"]:
            if of["maxPolySize"] != 3:
                raise NotImplementedError(
                    f"the double doesn't model a maxPolySize of {of['maxPolySize']}"
                )
            made = pg.cut(made)
            made.parts = []
        return made, "Editable_Poly"
    if modifier.type in ("Bend", "Twist", "Taper"):
        return made, type  # Moved points aren't modelled.
    raise NotImplementedError(f"the double doesn't model the modifier {modifier.type}")

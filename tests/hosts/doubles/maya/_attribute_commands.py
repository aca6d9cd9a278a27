"""Commands for attributes and transforms."""

from __future__ import annotations

from . import _lights
from . import _matrices as mx
from ._dag_commands import given_or_selected, one
from ._registry import command
from ._scene import ATTRIBUTES, AXES, OVERRIDES, SHORT, TRANSFORM_TYPES
from ._session import session

_TYPES = {"string": 1, "double2": 2, "double3": 3}
_ARRAYS = {"doubleArray": float, "Int32Array": int}
#: Enumerations and their names.
_ENUMS = {
    "rotateOrder": "xyz:yzx:zxy:xzy:yxz:zyx",
    "filmFit": "Fill:Horizontal:Vertical:Overscan",
    "displayType": "Normal:Template:Reference",
    "decayRate": "No Decay:Linear:Quadratic:Cubic",
    "bumpInterp": "Bump:Tangent Space Normals:Object Space Normals",
    "displaySmoothMesh": "Off:Hull:Both",
}
_FILES = ("fileTextureName",)


#: Centimeters in each unit that channels can have. Matrices are always in centimeters.
_CM = {"mm": 0.1, "cm": 1.0, "m": 100.0, "in": 2.54, "ft": 30.48}


#: Attributes that are lengths.
LENGTHS = {"translate", "nearClipPlane", "farClipPlane", "focusDistance"}


def _unit() -> str:
    return session.units["linear"]


def centimetres() -> float:
    """Return the centimeters in the channels' current unit."""
    return _CM[_unit()]


def _scaled(matrix: mx.Matrix, factor: float) -> mx.Matrix:
    return [*matrix[:3], [*(value * factor for value in matrix[3][:3]), 1.0]]


def _plug(name: str):
    node_name, _, attribute = name.rpartition(".")
    node = one(node_name)
    attribute, axis = node.split(attribute)
    if attribute not in node.attributes:
        raise ValueError(f"No object matches name: {name}")
    return node, attribute, axis


def _type(node, attribute, axis):
    """Return the attribute's type, or None when it has no value."""
    value = node.attributes[attribute]
    if attribute in _ENUMS:
        return "enum"
    if isinstance(value, tuple):
        return "Int32Array" if all(isinstance(each, int) for each in value) else "doubleArray"
    if isinstance(value, list):
        return f"double{len(value)}" if axis is None else "double"
    return {bool: "bool", int: "long", float: "double", str: "string"}.get(type(value))


@command()
def listAttr(name, read=False):
    if not read:
        raise NotImplementedError("the double doesn't model other lists of attributes")
    return list(one(name).attributes)


@command()
def getAttr(name, asString=False, settable=False, time=None, type=False):
    scene = session.scene
    node, attribute, axis = _plug(name)
    if type:
        kind = _type(node, attribute, axis)
        if kind is None:
            raise RuntimeError("The data is not a numeric or string value.")
        return kind
    if settable:
        return attribute not in node.locked
    if asString:
        return _ENUMS[attribute].split(":")[node.attributes[attribute]]
    if attribute == "matrix":
        return [value for row in _scaled(scene.local(node), _CM[_unit()]) for value in row]
    value = node.attributes[attribute]
    if attribute in OVERRIDES:
        return scene.override(node, attribute)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, list):
        value = list(value)
        if time is not None:
            for i, letter in enumerate(AXES):
                if attribute + letter in node.keys:
                    value[i] = scene.evaluate(node, attribute + letter, time)
        return value[axis] if axis is not None else [tuple(value)]
    return value


@command(undoable=True)
def setAttr(name, *values, type=None, lock=None):
    scene = session.scene
    node, attribute, axis = _plug(name)
    if lock is not None:
        (node.locked.add if lock else node.locked.discard)(attribute)
        return
    fed = any(
        c[2] == node.id
        and (of := node.split(c[3]))[0] in (attribute, attribute in OVERRIDES and "drawOverride")
        and (axis is None or of[1] in (None, axis))
        for c in scene.connections
    )
    if attribute in node.locked or fed:
        raise RuntimeError(f"setAttr: The attribute '{name}' is locked or connected.")
    now = node.attributes[attribute]
    if type in _ARRAYS:
        if not isinstance(now, tuple) or len(values) != 1:
            raise RuntimeError(f"setAttr: Error reading data element for '{name}'.")
        node.attributes[attribute] = tuple(_ARRAYS[type](value) for value in values[0])
        return
    if type is not None and type not in _TYPES:
        raise NotImplementedError(f"the double doesn't model attributes of type {type}")
    if isinstance(now, list) and axis is None:
        if type not in ("double2", "double3") or not len(values) == len(now) == _TYPES[type]:
            raise RuntimeError(f"setAttr: Error reading data element for '{name}'.")
        node.attributes[attribute] = [float(value) for value in values]
        return
    if any(isinstance(value, str) for value in values) and type != "string":
        raise RuntimeError(f"setAttr: the type of '{name}' must be given.")
    if len(values) != 1:
        raise RuntimeError(f"setAttr: one value is needed for '{name}'.")
    if axis is not None:
        now[axis] = float(values[0])
    elif isinstance(now, str) != isinstance(values[0], str) and now is not None:
        raise RuntimeError(f"setAttr: The attribute '{name}' needs another type.")
    else:
        node.attributes[attribute] = values[0]


@command(undoable=True)
def addAttr(name, attributeType=None, dataType=None, keyable=False, longName=None):
    new = {"bool": False, "long": 0, "double": 0.0} if dataType is None else {"string": ""}
    new |= dict.fromkeys(_ARRAYS, ()) if dataType is not None else {}
    kind = dataType or attributeType
    if kind not in new:
        raise NotImplementedError(f"the double doesn't model attributes of type {kind}")
    node = one(name)
    if longName in node.attributes:
        raise RuntimeError(f"Found an attribute with the same long name, '{longName}'.")
    node.attributes[longName] = new[kind]
    node.dynamic.add(longName)


@command(undoable=True)
def deleteAttr(name, attribute=None):
    node = one(name)
    if attribute not in node.dynamic:
        raise RuntimeError(f"Cannot delete attribute '{attribute}' of '{name}'.")
    node.dynamic.discard(attribute)
    del node.attributes[attribute]


@command()
def attributeQuery(
    attribute,
    exists=False,
    listEnum=False,
    longName=False,
    node=None,
    type=None,
    usedAsFilename=False,
):
    if type is not None and listEnum:
        if attribute not in {**ATTRIBUTES.get(type, {}), **_lights.attributes(type)}:
            raise RuntimeError(f"Attribute '{attribute}' doesn't exist for type '{type}'")
        return [_ENUMS[attribute]]
    of = one(node)
    attribute = SHORT.get(attribute, attribute)
    if longName:
        return attribute
    if listEnum:
        return [_ENUMS[attribute]]
    if usedAsFilename:
        return attribute in _FILES
    if not exists:
        raise NotImplementedError("the double doesn't model other queries about attributes")
    return of.split(attribute)[0] in of.attributes


@command(undoable=True)
def xform(name, objectSpace=False, matrix=None):
    if matrix is None or not objectSpace or len(matrix) != 16:
        raise NotImplementedError("the double doesn't model other uses of xform")
    rows = [[float(value) for value in matrix[i : i + 4]] for i in range(0, 16, 4)]
    session.scene.set_local(one(name), _scaled(rows, 1 / _CM[_unit()]))


@command()
def exactWorldBoundingBox(*names):
    scene = session.scene
    low, high = [1e20] * 3, [-1e20] * 3
    for name in given_or_selected(names):
        top = one(name)
        for node in (top, *scene.below(top.id)):
            if node.mesh is None:
                continue
            place = scene.world(scene.nodes[node.parent])
            for point in node.mesh.points:
                there = mx.apply(point, place)
                low = [min(a, b) for a, b in zip(low, there, strict=True)]
                high = [max(a, b) for a, b in zip(high, there, strict=True)]
    return [*low, *high]


@command(undoable=True)
def makeIdentity(name, apply=False, rotate=False, scale=False, translate=False):
    scene = session.scene
    node = one(name)
    if not (apply and rotate and scale and translate):
        raise NotImplementedError("the double doesn't model freezing parts of a transform")
    moved = scene.local(node)
    for child in scene.children(node.id):
        if child.type in TRANSFORM_TYPES:
            scene.set_local(child, mx.times(scene.local(child), moved))
        elif child.mesh is not None:
            child.mesh.points = [mx.apply(point, moved) for point in child.mesh.points]
    scene.set_local(node, mx.identity())

"""Nodes, controllers and modifiers, as Python sees them."""

from __future__ import annotations

from math import atan, degrees

from . import _scene as sc
from ._materials import Material, Wrapper, converted, key_of
from ._session import session
from ._values import Color, Matrix3, Point3, Strict, Time, single


def now() -> float:
    return session.scene.frame if session.time is None else session.time


class Node(Wrapper):
    @property
    def _data(self):
        session.guard("a node")
        try:
            return session.scene.nodes[self._id]
        except KeyError:
            raise RuntimeError("-- Runtime error: Attempt to access deleted scene object") from None

    def _changing(self):
        self._data  # noqa: B018
        session.record()
        return self._data

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        setter = getattr(type(self), f"_set_{name}", None)
        if setter is None:
            values = self._data.values
            if name not in values or self._data.source is not None:
                raise AttributeError(f"-- Unknown property, or read-only: {name!r}")
            kind = sc.OBJECTS[self._data.type][1][name]
            self._changing().values[name] = converted(kind, value, name)
            return
        setter(self, value)

    def __getattr__(self, name):
        values = self._data.values
        if name.startswith("_") or name not in values:
            raise AttributeError(f"-- Unknown property: {name!r}")
        value = values[name]
        kind = sc.OBJECTS.get(self._data.type, ("", {}))[1].get(name, value)
        if isinstance(kind, tuple) and len(kind) == 3:
            return Color(*value)
        return Material(value) if kind is None and value is not None else value

    @property
    def fov(self):
        """The field of view. A physical camera's is computed from its lens, which breathing makes a
        little longer."""
        values = self._data.values
        if self._data.type != "Physical":
            return self.__getattr__("fov")
        length = values["focal_length_mm"] * (1 + 0.02 * values["lens_breathing_amount"])
        return degrees(2 * atan(values["film_width_mm"] / 2 / length))

    def _set_fov(self, value):
        if self._data.type == "Physical" or "fov" not in self._data.values:
            raise NotImplementedError("the double doesn't model the angle of a physical camera")
        self._changing().values["fov"] = single(value)

    @property
    def name(self):
        return self._data.name

    def _set_name(self, value):
        self._changing().name = str(value)

    @property
    def inode(self):
        self._data  # noqa: B018
        return _Inode(self._id)

    @property
    def parent(self):
        above = self._data.parent
        return Node(above) if above is not None else None

    def _set_parent(self, value):
        node = self._changing()
        world = session.scene.world(node, now())
        above = value._data if value is not None else None
        at = above
        while at is not None:
            if at is node:
                raise RuntimeError("-- Runtime error: cyclic dependency")
            at = session.scene.nodes[at.parent] if at.parent is not None else None
        node.parent = above.id if above is not None else None
        session.scene.set_world(node, world, now())

    @property
    def children(self):
        return [Node(child.id) for child in session.scene.children(self._data.id)]

    @property
    def transform(self):
        return Matrix3.of(session.scene.world(self._data, now()))

    def _set_transform(self, value):
        if not isinstance(value, Matrix3):
            raise RuntimeError("-- Unable to convert to type: Matrix3")
        if self._data.controller == "XRef_Controller" and not session.xrefs_move:
            return
        session.scene.set_world(self._changing(), value.rows(), now())

    @property
    def objectTransform(self):
        world = session.scene.world(self._data, now())
        offset = [*sc.IDENTITY[:3], list(self._data.offset)]
        return Matrix3.of(sc.times(offset, world))

    @property
    def min(self):
        return Point3(*session.scene.bounds(self._data, now())[0])

    @property
    def max(self):
        return Point3(*session.scene.bounds(self._data, now())[1])

    @property
    def objectOffsetPos(self):
        return Point3(*self._data.offset)

    def _set_objectOffsetPos(self, value):
        self._changing().offset = list(value)

    @property
    def isHiddenInVpt(self):
        layer = session.scene.layers.get(self._data.layer)
        return self._data.hidden or (layer is not None and not layer.on)

    @property
    def isHidden(self):
        return self._data.hidden

    def _set_isHidden(self, value):
        self._changing().hidden = bool(value)

    @property
    def renderable(self):
        self._data  # noqa: B018
        return True

    @property
    def xray(self):
        return self._data.xray

    def _set_xray(self, value):
        self._changing().xray = bool(value)

    @property
    def baseObject(self):
        self._data  # noqa: B018
        return _Base(self._id)

    @property
    def material(self):
        data = self._data.material
        return Material(data) if data is not None else None

    def _set_material(self, value):
        self._changing().material = value._id if value is not None else None

    @property
    def controller(self):
        return Controller(self._id, None)

    def _set_controller(self, value):
        node = self._changing()
        node.local = session.scene.local(node, now())
        node.keys = {}
        node.controller = value._type

    @property
    def modifiers(self):
        return [Modifier(self._id, modifier.id) for modifier in self._data.modifiers]


class _Inode(Strict):
    def __init__(self, id) -> None:
        self._id = id

    @property
    def handle(self):
        return self._id


class _Base(Strict):
    def __init__(self, id) -> None:
        self._id = id


class NewController:
    def __init__(self, type) -> None:
        self._type = type


class Controller(Strict):
    """A node's transform, or one of its components."""

    def __init__(self, node, component) -> None:
        self._node, self._component = node, component

    @property
    def _data(self):
        return Node(self._node)._data

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name == "value" and self._component in ("Position", "Scale"):
            self._write([single(part) for part in value])
        elif name in _TURNS and self._component == "Rotation":
            turns = self._read()
            turns[_TURNS.index(name)] = single(value)
            self._write(turns)
        else:
            raise AttributeError(f"-- Unknown property: {name!r}")

    def __getattr__(self, name):
        if name in _TURNS and self._component == "Rotation":
            return self._read()[_TURNS.index(name)]
        raise AttributeError(f"-- Unknown property: {name!r}")

    @property
    def value(self):
        if self._component not in ("Position", "Scale"):
            raise NotImplementedError("the double doesn't model values of other controllers")
        return Point3(*self._read())

    @property
    def numsubs(self):
        return 3

    def _keys(self):
        return self._data.keys.get(self._component or "", {})

    def _read(self):
        parts = sc.decompose(session.scene.local(self._data, now()))
        if self._keys():
            return list(sc.at(self._keys(), now()))
        return list(parts[sc.COMPONENTS.index(self._component)])

    def _write(self, value):
        before = self._read()
        session.record()
        node = self._data
        if session.animating:
            keys = node.keys.setdefault(self._component, {})
            if not keys and now() != 0:
                # 3ds Max keeps the value from before the first key.
                keys[0.0] = before
            keys[now()] = value
            return
        parts = list(sc.decompose(node.local))
        parts[sc.COMPONENTS.index(self._component)] = value
        node.local = sc.compose(*parts)


class SubController(Strict):
    """One of a component's three controllers, with the component's keys."""

    def __init__(self, above, index) -> None:
        self._above, self._index = above, index

    @property
    def numsubs(self):
        return 0

    @property
    def _frames(self):
        # A key of X is also a key of Y and Z.
        return sorted(self._above._keys())


class SubAnim(Strict):
    def __init__(self, controller) -> None:
        self._controller = controller

    @property
    def controller(self):
        return self._controller


_TURNS = ("x_rotation", "y_rotation", "z_rotation")


class Modifier(Strict):
    def __init__(self, node, id) -> None:
        self._node, self._id = node, id

    @property
    def _data(self):
        for modifier in Node(self._node)._data.modifiers:
            if modifier.id == self._id:
                return modifier
        raise RuntimeError("-- Runtime error: the modifier was deleted")

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        modifier = self._data
        session.record()
        modifier = self._data
        if name in ("name", "enabled"):
            setattr(modifier, name, value)
            return
        key = key_of(modifier.values, name)
        if isinstance(value, bool) != isinstance(modifier.values[key], bool):
            raise RuntimeError(f"-- Unable to convert: {value} to type of {name}")
        modifier.values[key] = type(modifier.values[key])(value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        modifier = self._data
        if name in ("name", "enabled"):
            return getattr(modifier, name)
        return modifier.values[key_of(modifier.values, name)]


class NewModifier(Strict):
    """A modifier that no object has yet."""

    def __init__(self, type) -> None:
        self._type, self._values = type, dict(sc.MODIFIERS[type])

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        key = key_of(self._values, name)
        if isinstance(value, bool) != isinstance(self._values[key], bool):
            raise RuntimeError(f"-- Unable to convert: {value} to type of {name}")
        self._values[key] = type(self._values[key])(value)


def key_time(controller, index):
    frames = controller._frames
    if not 1 <= index <= len(frames):
        raise RuntimeError("-- Runtime error: key index out of range")
    return Time(frames[index - 1])

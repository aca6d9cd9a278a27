"""Materials and maps, as Python sees them, and the lists of them in the scene's root."""

from __future__ import annotations

from pathlib import Path

from . import _scene as sc
from ._session import session
from ._values import Color, Name, Strict, single

#: The first bytes of known picture formats: PNG and Radiance.
_PICTURES = (b"\x89PNG", b"#?RADIANCE")


class Wrapper(Strict):
    """A material or map. It holds a number, and reads its data from the scene on each access."""

    def __init__(self, id) -> None:
        self._id = id

    def __eq__(self, other):
        return type(self) is type(other) and self._id == other._id

    def __hash__(self):
        return hash(self._id)


class Material(Wrapper):
    @property
    def _data(self):
        session.guard("a material")
        return session.scene.materials[self._id]

    def _write(self, key, value):
        self._data  # noqa: B018
        session.record()
        self._data.values[key] = value

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        data = self._data
        if name == "name":
            session.record()
            self._data.name = str(value)
            return
        key = key_of(data.values, name)
        kind = data.values[key] if data.type == "XRef_Material" else _default(data.type, key)
        self._write(key, converted(kind, value, name))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        data = self._data
        if name == "name":
            return data.name
        if data.type == "BitmapTexture" and name in ("bitmap", "coords"):
            return _bitmap_of(self) if name == "bitmap" else Coordinates(self)
        key = key_of(data.values, name)
        value = data.values[key]
        if isinstance(value, tuple):
            return Color(*value)
        if key == "materialList":
            return [None if each is None else Material(each) for each in value]
        if data.type != "XRef_Material" and _default(data.type, key) is None:
            return None if value is None else Material(value)
        return value


def make(type, given):
    values = dict({**sc.MATERIALS, **sc.MAPS}[type])
    name = given.pop("name", "")
    if type == "Multimaterial":
        count = given.pop("numsubs", 10)
        values = {"materialList": [None] * count, "materialIDList": list(range(1, count + 1))}
    for key in given:
        if key not in values or key.startswith("_"):
            raise RuntimeError(f"-- Runtime error: {type} has no parameter {key}")
    session.record()
    id = session.scene.next_id()
    session.scene.materials[id] = sc.Material(id, type, name, values)
    made = Material(id)
    for key, value in given.items():
        setattr(made, key, value)
    return made


def copied(material):
    """Return a copy with the same maps."""
    data = material._data
    session.record()
    id = session.scene.next_id()
    session.scene.materials[id] = sc.Material(id, data.type, data.name, dict(data.values))
    return Material(id)


def is_within(id, material):
    """Return whether the material ``id`` is ``material`` itself or part of it at any depth."""
    if material is None:
        return False
    data = session.scene.materials[material]
    defaults = {**sc.MATERIALS, **sc.MAPS}.get(data.type, {})
    parts = [data.values[key] for key, default in defaults.items() if default is None]
    parts += data.values.get("materialList", ())
    return material == id or any(is_within(id, part) for part in parts)


def _default(type, key):
    return {**sc.MATERIALS, **sc.MAPS}[type][key]


def converted(kind, value, name):
    if isinstance(kind, list):
        return [each._id if isinstance(each, Material) else each for each in value]
    if isinstance(kind, tuple) and isinstance(value, Color):
        return (value.r, value.g, value.b)
    if kind is None and (value is None or isinstance(value, Material)):
        return value if value is None else value._id
    if isinstance(kind, bool) or isinstance(value, bool):
        if isinstance(kind, bool) and isinstance(value, bool):
            return value
    elif isinstance(kind, float) and isinstance(value, (int, float)):
        return single(value)
    elif kind is not None and type(kind) is type(value):
        return value
    raise RuntimeError(f"-- Unable to convert: {value} to type of {name}")


def key_of(values, name):
    """Return the key as MAXScript finds it, ignoring case."""
    for key in values:
        if key.lower() == name.lower() and not key.startswith("_"):
            return key
    raise AttributeError(f"-- Unknown property: {name!r}")


def _bitmap_of(texture):
    path = Path(texture._data.values["filename"])
    if not path.is_file() or not path.read_bytes().startswith(_PICTURES):
        return None
    return Opened(texture)


class Opened(Strict):
    """The picture of a bitmap texture."""

    def __init__(self, texture) -> None:
        self._texture = texture

    @property
    def gamma(self):
        return self._texture._data.values["_gamma"]

    def __setattr__(self, name, value):
        if name == "gamma":
            self._texture._write("_gamma", single(value))
        else:
            super().__setattr__(name, value)


class Coordinates(Strict):
    def __init__(self, texture) -> None:
        self._texture = texture

    def __getattr__(self, name):
        if name not in ("U_Tiling", "V_Tiling"):
            raise AttributeError(f"-- Unknown property: {name!r}")
        return self._texture._data.values[f"_{name}"]

    def __setattr__(self, name, value):
        if name in ("U_Tiling", "V_Tiling"):
            self._texture._write(f"_{name}", single(value))
        else:
            super().__setattr__(name, value)


# -- data of the scene's root ----------------------------------------------------------------------


class Root(Strict):
    """``rootNode``."""


class Definition(Strict):
    """A definition of custom attributes, by their names and types."""

    def __init__(self, name, types) -> None:
        self._name, self._types = name, types

    @property
    def name(self):
        return Name(self._name)


class Attributes(Strict):
    """Custom attributes: one list of materials, and references to nodes."""

    def __init__(self, name) -> None:
        self._name = name

    def __getattr__(self, name):
        kept = self._kept(name)
        if isinstance(kept, list):
            return Kept(self._name, name)
        from ._objects import Node

        # A reference to a deleted node is undefined.
        return Node(kept) if kept in session.scene.nodes else None

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        if isinstance(self._kept(name), list):
            raise NotImplementedError("the double doesn't model another list")
        id = None if value is None else value._data.id
        session.record()
        session.scene.kept[self._name][name] = id

    def _kept(self, name):
        session.guard("custom attributes")
        kept = session.scene.kept[self._name]
        if name not in kept:
            raise AttributeError(f"-- Unknown property: {name!r}")
        return kept[name]


class Kept:
    """A list in a parameter block, which grows by ``append``."""

    def __init__(self, *place) -> None:
        self._place = place

    @property
    def _ids(self):
        attribute, name = self._place
        return session.scene.kept[attribute][name]

    def __iter__(self):
        return iter([Material(id) for id in self._ids])


def append(array, value):
    if not isinstance(array, Kept) or not isinstance(value, Material):
        raise NotImplementedError("the double doesn't model other lists")
    session.record()
    array._ids.append(value._id)
    return array

"""The ``attributes`` port: any attribute of any prim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pxr import Gf, Sdf, Usd

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS, AttributeNotFound, Json
from callboard_openusd.application.document import UsdPort, telling
from callboard_openusd.parts import variants
from callboard_openusd.parts.instances import owned
from callboard_openusd.parts.transforms import TIME, set_lasting
from callboard_openusd.ports.scene import doubt

_WHOLE = {
    "uchar": (0, 2**8),
    "int": (-(2**31), 2**31),
    "uint": (0, 2**32),
    "int64": (-(2**63), 2**63),
    "uint64": (0, 2**64),
}
_NUMBERS = ("half", "float", "double", "timecode")
_TEXTS = ("string", "token")


class UsdAttributes(UsdPort):
    def names(self, name: str) -> list[str]:
        prim = self._document.names.find(name)
        return [*variants.names(prim), *(each.GetName() for each in prim.GetAttributes())]

    @telling("read that attribute")
    def get(self, name: str, attribute: str) -> Json:
        prim = self._document.names.find(name)
        why = doubt(self._document.stage, prim)
        doubts = {"doubt": why} if why else {}
        if chosen := variants.of_name(prim, attribute):
            about = {"path": str(prim.GetPath()), "attribute": attribute}
            writable = not prim.IsInstanceProxy()
            return {**about, **variants.variant_json(chosen), "writable": writable, **doubts}
        there = _valid(attribute) and prim.GetAttribute(attribute)
        if not there:
            raise AttributeNotFound(prim.GetName(), attribute, self.names(name))
        value = there.Get(TIME)
        reported = {
            "path": str(prim.GetPath()),
            "attribute": attribute,
            "type": str(there.GetTypeName()),
            "value": _plain(value),
            "writable": not prim.IsInstanceProxy() and _refusal(there) is None,
            **doubts,
        }
        many = there.GetTypeName().isArray and value is not None and len(value) > MOST_ELEMENTS
        return {**reported, "count": len(value)} if many else reported

    @telling("set that attribute")
    def set(self, name: str, attribute: str, value: object) -> str:
        prim = owned(self._document.names.find(name))
        if chosen := variants.of_name(prim, attribute):
            variants.choose(chosen, attribute, value)
            return str(prim.GetPath())
        if not _valid(attribute):
            raise HostError(
                f"'{attribute}' can't be an attribute's name in OpenUSD: use letters, digits and _,"
                " with : between parts"
            )
        there = prim.GetAttribute(attribute)
        if not there:
            if prim.GetRelationship(attribute):
                raise HostError(f"'{attribute}' is a relationship, which has no value")
            variants.refuse_unknown(prim, attribute)
            kind = _kind_for(value, attribute)
            converted = _converted(value, kind, attribute)
            there = prim.CreateAttribute(attribute, kind, custom=True)
            there.Set(converted)
            return str(prim.GetPath())
        if why := _refusal(there):
            raise HostError(f"'{attribute}' can't be set here: {why}")
        converted = _converted(value, there.GetTypeName(), attribute)
        allowed = there.GetMetadata("allowedTokens")
        if allowed and converted not in allowed:
            raise HostError(f"'{attribute}' must be one of {', '.join(allowed)}")
        set_lasting(there, converted)
        return str(prim.GetPath())


def _valid(attribute: str) -> bool:
    return bool(Sdf.Path.IsValidNamespacedIdentifier(attribute))


def _refusal(there: Usd.Attribute) -> str | None:
    """Return why the attribute can't be set, or None."""
    name, kind = there.GetName(), there.GetTypeName().scalarType
    if name.startswith("xformOp"):
        return "use scene__transform to place objects"
    if kind == Sdf.ValueTypeNames.Asset:
        return "it names a file; use materials__set_texture or another tool for files"
    if there.HasAuthoredConnections():
        return "it is connected to another attribute, which determines its value"
    if there.GetVariability() == Sdf.VariabilityUniform and there.GetNumTimeSamples():
        return "it is declared to be constant over time, but has time samples"
    if str(kind).startswith("opaque") or str(kind) == "group":
        return "it holds no value"
    return None


def _kind_for(value: object, attribute: str) -> Sdf.ValueTypeName:
    """Return the type of a new attribute with that value."""
    if attribute.startswith("xformOp"):
        raise HostError("use scene__transform to place objects")
    types = Sdf.ValueTypeNames
    if not isinstance(value, list):
        return _single(value)
    if value and all(isinstance(each, list) and len(each) == 3 for each in value):
        return types.Double3Array
    kinds = {_single(each).type.typeName: _single(each) for each in value}
    if len(kinds) == 1:
        return next(iter(kinds.values())).arrayType
    if not value or any(isinstance(each, (str, bool)) for each in value):
        raise HostError(
            f"'{attribute}' would be a new attribute, and its list must have values of one kind"
        )
    return types.DoubleArray


def _single(value: object) -> Sdf.ValueTypeName:
    types = Sdf.ValueTypeNames
    if isinstance(value, bool):
        return types.Bool
    if isinstance(value, int):
        low, high = _WHOLE["int"]
        return types.Int if low <= value < high else types.Int64
    if isinstance(value, float):
        return types.Double
    if isinstance(value, str):
        return types.String
    raise HostError(
        "a new attribute must be true or false, a number, a string, or a list of such values"
    )


def _converted(value: Any, kind: Sdf.ValueTypeName, attribute: str) -> Any:
    """Return the value converted to that type. Raises HostError if the value doesn't fit the
    type."""
    wrong = HostError(f"'{attribute}' must be {kind}, not {_shown(value)}")
    if kind.isArray:
        if not isinstance(value, list):
            raise wrong
        scalar = kind.scalarType
        made = [_one(each, scalar, wrong) for each in value]
        return kind.type.pythonClass(made) if kind.type.pythonClass else made
    return _one(value, kind, wrong)


def _one(value: Any, kind: Sdf.ValueTypeName, wrong: HostError) -> Any:
    word = kind.type.typeName
    if word in ("bool", *_TEXTS) or word == "TfToken":
        right = isinstance(value, bool if word == "bool" else str)
        if not right:
            raise wrong
        return value
    name = str(kind)
    if name in _WHOLE:
        low, high = _WHOLE[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value < high:
            raise wrong
        return value
    if name in _NUMBERS:
        if not _is_number(value):
            raise wrong
        return Sdf.TimeCode(value) if name == "timecode" else float(value)
    cls = kind.type.pythonClass
    flat = _flat(value)
    if cls is None or flat is None or not all(map(_is_number, flat)):
        raise wrong
    if word.startswith("GfQuat"):
        if len(flat) != 4:
            raise wrong
        return cls(flat[0], type(cls().imaginary)(*flat[1:]))
    dimension = getattr(cls, "dimension", None)
    size = math.prod(dimension) if isinstance(dimension, tuple) else dimension
    if size != len(flat):
        raise wrong
    if word.endswith("i") and not all(isinstance(each, int) for each in flat):
        raise wrong
    if word.endswith("i") and not all(-(2**31) <= each < 2**31 for each in flat):
        raise wrong
    return cls(*flat)


def _flat(value: Any) -> list[Any] | None:
    """Return the numbers of a vector, or of a matrix row by row, or None if the value isn't a
    list."""
    if not isinstance(value, list):
        return None
    return [part for each in value for part in (each if isinstance(each, list) else [each])]


def _is_number(value: object) -> bool:
    finite = isinstance(value, (int, float)) and not isinstance(value, bool)
    return finite and math.isfinite(value)  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    """Return the value as JSON, with None for values that JSON can't hold and numbers that aren't
    finite."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sdf.AssetPath):
        return value.path
    if isinstance(value, Sdf.TimeCode):
        return _plain(value.GetValue())
    if hasattr(value, "imaginary"):
        return [_plain(value.real), *map(_plain, value.imaginary)]
    if isinstance(value, (Gf.Matrix2d, Gf.Matrix3d, Gf.Matrix4d, Gf.Matrix3f, Gf.Matrix4f)):
        return [_plain(row) for row in value]
    if isinstance(value, Sequence) or hasattr(value, "__len__"):
        return [_plain(value[at]) for at in range(min(len(value), MOST_ELEMENTS))]
    return str(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"

"""The ports ``scene.read`` and ``scene.mutate``. In this host, objects have a position, but no
parents and no scale. Their sizes are separate properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import FreeCAD

from callboard.errors import HostError
from callboard.host import Json, NotOffered, PrimitiveKind, Vector
from callboard_freecad.documents import current, find, objects, path_of, required, view_of

#: FreeCAD's type for each kind. Each of its properties is one of our sizes times a factor.
_KINDS: dict[str, tuple[str, dict[str, tuple[str, float]]]] = {
    "sphere": ("Part::Sphere", {"Radius": ("radius", 1)}),
    "cube": ("Part::Box", {"Length": ("size", 1), "Width": ("size", 1), "Height": ("size", 1)}),
    "plane": ("Part::Plane", {"Length": ("width", 1), "Width": ("depth", 1)}),
    "cylinder": ("Part::Cylinder", {"Radius": ("radius", 1), "Height": ("height", 1)}),
    "cone": (
        "Part::Cone",
        {"Radius1": ("radius", 1), "Radius2": ("radius", 0), "Height": ("height", 1)},
    ),
    "torus": ("Part::Torus", {"Radius1": ("major_radius", 1), "Radius2": ("minor_radius", 1)}),
}
_TYPES = {type_id: kind for kind, (type_id, _) in _KINDS.items()}
#: The color as it was set. FreeCAD's own property keeps only eight bits of each channel.
_COLOR = "CallboardColor"


class Scene:
    """Implements both ports. Use it on the main thread."""

    # -- scene.read -----------------------------------------------------------------------------

    def info(self) -> Json:
        document = current()
        return {
            "file": (document.FileName or None) if document is not None else None,
            "modified": document is not None and bool(view_of(document).Modified),
            "units_per_meter": 1000.0,
            "up_axis": "Z",
            "frame_range": None,
            "fps": 24.0,
            "object_count": sum(1 for _ in objects()),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return [path_of(each) for each in objects()]

    def get(self, name: str) -> Json:
        one = find(name)
        yaw, pitch, roll = one.Placement.Rotation.toEuler()
        return {
            **_summary(one),
            "children": [],
            "translate": list(one.Placement.multVec(_middle(one))),
            "rotate": [roll, pitch, yaw],
            "scale": [1.0, 1.0, 1.0],
            "visible": bool(one.ViewObject.Visibility),
            "color": _color(one),
            "bounds": _bounds(one),
        }

    def summaries(self) -> Iterable[Json]:
        return [_summary(each) for each in objects()]

    def selection(self) -> list[str]:
        import FreeCADGui

        document = current()
        if document is None:
            return []
        there = {each.Name for each in objects()}
        chosen = FreeCADGui.Selection.getSelection(document.Name)
        return [path_of(each) for each in chosen if each.Name in there]

    # -- scene.mutate ---------------------------------------------------------------------------

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        type_id, properties = _KINDS[kind]
        wanted = _label(name or kind)
        one = required().addObject(type_id, type_id.partition("::")[2])
        one.Label = wanted
        for own, (size, times) in properties.items():
            setattr(one, own, dimensions[size] * times)
        one.Placement.Base = -_middle(one)
        return _recomputed(one)

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        one = find(name)
        if scale is not None and any(abs(each - 1) > 1e-9 for each in scale):
            message = "FreeCAD's objects have no scale; make an object of the size that you want"
            raise NotOffered(message)
        turn = one.Placement.Rotation
        place = one.Placement.multVec(_middle(one))
        if rotate is not None:
            turn = FreeCAD.Rotation(*reversed([*map(float, rotate)]))
        if translate is not None:
            place = FreeCAD.Vector(*translate)
        # An object turns about its middle. In FreeCAD itself, a box's origin is a corner.
        one.Placement = FreeCAD.Placement(place - turn.multVec(_middle(one)), turn)
        return _recomputed(one)

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        if parent is None:
            return path_of(find(name))
        raise NotOffered("callboard's objects in FreeCAD have no parents")

    def rename(self, name: str, new_name: str) -> str:
        one, wanted = find(name), _label(new_name)
        if any(each.Label == wanted and each.Name != one.Name for each in objects()):
            raise HostError(f"an object is already called '{wanted}'; choose another name")
        one.Label = wanted
        return path_of(one)

    def delete(self, names: Sequence[str]) -> list[str]:
        gone = {path_of(one): one for one in map(find, names)}
        for one in gone.values():
            if users := [each.Label for each in one.InList if path_of(each) not in gone]:
                raise HostError(f"{one.Label} is used by {', '.join(users)}; delete those first")
        for one in gone.values():
            one.Document.removeObject(one.Name)
        return list(gone)

    def duplicate(self, name: str, new_name: str | None) -> str:
        one = find(name)
        wanted = None if new_name is None else _label(new_name)
        copy = one.Document.copyObject(one, False)
        copy.ViewObject.ShapeColor = one.ViewObject.ShapeColor
        if wanted is not None:
            copy.Label = wanted
        return _recomputed(copy)

    def select(self, names: Sequence[str]) -> list[str]:
        import FreeCADGui

        chosen = list({path_of(one): one for one in map(find, names)}.values())
        FreeCADGui.Selection.clearSelection()
        for one in chosen:
            FreeCADGui.Selection.addSelection(one)
        return self.selection()

    def set_color(self, name: str, color: Vector) -> str:
        one = find(name)
        if not hasattr(one, _COLOR):
            one.addProperty("App::PropertyFloatList", _COLOR, "Callboard", "", 0, False, True)
        setattr(one, _COLOR, [*map(float, color)])
        one.ViewObject.ShapeColor = tuple(map(_shown, color))
        return path_of(one)


def _summary(one: Any) -> Json:
    kind = _TYPES.get(one.TypeId, one.TypeId.lower())
    return {"name": one.Label, "path": path_of(one), "type": kind, "parent": None}


def _label(name: str) -> str:
    if not name.strip() or "/" in name:
        raise HostError(f"an object can't be called '{name}': choose another name, with no slash")
    return name


def _recomputed(one: Any) -> str:
    one.Document.recompute()
    if not one.isValid():
        raise HostError(f"FreeCAD can't recompute {one.Label}: {one.getStatusString()}")
    return path_of(one)


def _middle(one: Any) -> Any:
    """Return the object's middle in its own space. An object's translation is the position of this
    point."""
    sizes = {"Part::Box": ("Length", "Width", "Height"), "Part::Plane": ("Length", "Width")}
    if one.TypeId in ("Part::Cylinder", "Part::Cone"):
        return FreeCAD.Vector(0, 0, one.Height.Value / 2)
    return FreeCAD.Vector(*(getattr(one, size).Value / 2 for size in sizes.get(one.TypeId, ())))


def _bounds(one: Any) -> Json | None:
    shape = getattr(one, "Shape", None)
    if shape is None or shape.isNull():
        return None
    if one.TypeId == "Part::Torus":  # OpenCASCADE's box around a torus is far too large.
        axis = one.Placement.Rotation.multVec(FreeCAD.Vector(0, 0, 1))
        tube, ring = one.Radius2.Value, one.Radius1.Value
        reach = [ring * max(1 - part * part, 0.0) ** 0.5 + tube for part in axis]
        middle = one.Placement.Base
        low, high = ([m + way * r for m, r in zip(middle, reach, strict=True)] for way in (-1, 1))
        return {"min": low, "max": high}
    # Leave out the mesh that FreeCAD draws, because its box is a little smaller.
    box = shape.copy(True, False).BoundBox
    return {"min": [box.XMin, box.YMin, box.ZMin], "max": [box.XMax, box.YMax, box.ZMax]}


def _color(one: Any) -> list[float] | None:
    drawn = getattr(one.ViewObject, "ShapeColor", None)
    if drawn is None:
        return None
    exact = getattr(one, _COLOR, None)
    if exact and [round(_shown(part) * 255) for part in exact] == [
        round(part * 255) for part in drawn[:3]
    ]:
        return list(exact)
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in drawn[:3]]


def _shown(part: float) -> float:
    """Return one channel of a linear color, converted to sRGB as FreeCAD draws it."""
    part = min(max(float(part), 0.0), 1.0)
    return part * 12.92 if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055

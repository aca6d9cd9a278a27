"""The ``lights`` port, and the scene's environment.

``intensity`` is a radiance in watts per square meter per steradian. For a sun, it is an irradiance
in watts per square meter. Blender and Cycles write the same units. Our own lights are normalized,
so that their size doesn't make them brighter. Other lights are read as they are."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, radians, sin
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux

from callboard.errors import HostError
from callboard.host import POWER, Json, LightKind, known_values, refuse_unknown
from callboard_openusd.application.document import UsdPort, telling
from callboard_openusd.application.layout import home
from callboard_openusd.parts import transforms
from callboard_openusd.parts.instances import owned
from callboard_openusd.parts.transforms import TIME, set_lasting
from callboard_openusd.ports.edit import identifier
from callboard_openusd.ports.materials import asset_of
from callboard_openusd.ports.scene import doubt

_SCHEMAS = {
    "sun": UsdLux.DistantLight,
    "point": UsdLux.SphereLight,
    "spot": UsdLux.SphereLight,
    "area": UsdLux.RectLight,
    "dome": UsdLux.DomeLight,
}
_KINDS = {
    "DistantLight": "sun",
    "RectLight": "area",
    "DiskLight": "area",
    "DomeLight": "dome",
    "DomeLight_1": "dome",
}
#: The custom data that marks the dome that we made.
_OURS = "callboard:environment"


class UsdLights(UsdPort):
    def names(self) -> Mapping[str, str]:
        return {str(prim.GetPath()): prim.GetName() for prim in self._all()}

    @telling("read that light")
    def get(self, name: str) -> Json:
        prim = self._find(name)
        why = doubt(self._stage, prim)
        return {
            "name": prim.GetName(),
            "path": str(prim.GetPath()),
            **self._read(prim),
            **({"doubt": why} if why else {}),
        }

    @telling("create that light")
    def create(self, kind: LightKind, name: str | None) -> str:
        stem = identifier(name or kind.capitalize())
        path = self._document.opened.free_path(home(self._stage), stem)
        prim = _SCHEMAS[kind].Define(self._stage, path).GetPrim()
        light = UsdLux.LightAPI(prim)
        if kind != "dome":
            light.CreateNormalizeAttr(True)
            metre = 1 / UsdGeom.GetStageMetersPerUnit(self._stage)
            size: Json = {"size": 0.2 * metre} if kind in ("point", "spot") else {}
            size = {"size": metre} if kind == "area" else size
            power = {"power": 1.0 if kind == "sun" else 100.0}
            if kind == "spot":
                UsdLux.ShapingAPI.Apply(prim).CreateShapingConeAngleAttr(22.5)
                UsdLux.ShapingAPI(prim).CreateShapingConeSoftnessAttr(0.15)
            self._write(prim, {**size, **power})
        else:
            light.CreateIntensityAttr(1.0)
        return str(path)

    @telling("set that light")
    def set(self, name: str, values: Mapping[str, object]) -> str:
        prim = owned(self._find(name))
        self._write(prim, dict(values))
        return str(prim.GetPath())

    @telling("read the environment")
    def environment(self) -> Json:
        domes = self._domes()
        reported: Json = dict.fromkeys(("path", "color", "sun_elevation", "strength", "rotate"))
        if not domes:
            return {"kind": "none", **reported}
        light = UsdLux.LightAPI(domes[0])
        file = UsdLux.DomeLight(domes[0]).GetTextureFileAttr().Get(TIME)
        path = (file.resolvedPath or file.path) if file else None
        turn = transforms.read(domes[0]).rotate
        reported["strength"] = _number(light.GetIntensityAttr()) * 2 ** _number(
            light.GetExposureAttr()
        )
        reported["rotate"] = float(turn[2] if self._upright() else turn[1])
        if path:
            reported["path"] = path
        else:
            reported["color"] = [float(c) for c in light.GetColorAttr().Get(TIME) or (1, 1, 1)]
        why = doubt(self._stage, domes[0])
        if len(domes) > 1:
            why = f"{len(domes)} domes add up; this is only '{domes[0].GetPath()}'"
        kind = "image" if path else "color"
        return {"kind": kind, **reported, **({"doubt": why} if why else {})}

    @telling("set the environment")
    def set_environment(self, values: Mapping[str, object]) -> None:
        given: dict[str, Any] = dict(values)
        if "sun_elevation" in given:
            raise HostError("OpenUSD has no sky of its own; set path to an HDRI instead")
        rebuilt = "path" in given or "color" in given
        domes = self._domes()
        own = [dome for dome in domes if dome.GetCustomDataByKey(_OURS)]
        if rebuilt:
            dome = own[0] if own else self._new_dome()
            for other in domes:
                if other != dome:
                    # The dome stays in the scene, so it can be made visible again.
                    UsdGeom.Imageable(owned(other)).MakeInvisible()
        elif not domes:
            raise HostError("the scene has no environment yet; give path or color as well")
        else:
            dome = owned(domes[0])
        light, texture = UsdLux.LightAPI(dome), UsdLux.DomeLight(dome).CreateTextureFileAttr()
        if "path" in given:
            asset = asset_of(given["path"], self._document.opened.folder)
            texture.Set(Sdf.AssetPath(asset))
            light.CreateColorAttr(Gf.Vec3f(1))
        elif "color" in given:
            texture.Set(Sdf.AssetPath(""))
            light.CreateColorAttr(Gf.Vec3f(*given["color"]))
        if "strength" in given:
            light.CreateIntensityAttr(float(given["strength"]))
            if light.GetExposureAttr().HasAuthoredValue():
                light.GetExposureAttr().Set(0.0)
        if "rotate" in given:
            # A dome's pole is on its Y axis.
            turn = [90.0, 0.0, given["rotate"]] if self._upright() else [0.0, given["rotate"], 0.0]
            transforms.write(dome, None, turn, None)

    def _new_dome(self) -> Usd.Prim:
        path = self._document.opened.free_path(home(self._stage), "Environment")
        dome = UsdLux.DomeLight.Define(self._stage, path)
        dome.CreateIntensityAttr(1.0)
        dome.CreateTextureFormatAttr(UsdLux.Tokens.latlong)
        prim = dome.GetPrim()
        prim.SetCustomDataByKey(_OURS, True)
        if self._upright():
            transforms.write(prim, None, [90.0, 0.0, 0.0], None)
        return prim

    def _upright(self) -> bool:
        return bool(UsdGeom.GetStageUpAxis(self._stage) == UsdGeom.Tokens.z)

    def _all(self) -> list[Usd.Prim]:
        return [prim for prim in self._stage.Traverse() if _is_light(prim)]

    def _domes(self) -> list[Usd.Prim]:
        """Return the visible domes."""
        return [
            prim
            for prim in self._all()
            if _kind(prim) == "dome"
            and UsdGeom.Imageable(prim).ComputeVisibility(TIME) != UsdGeom.Tokens.invisible
        ]

    def _find(self, name: str) -> Usd.Prim:
        prim = self._document.names.find(name)
        if not _is_light(prim):
            raise HostError(f"'{prim.GetName()}' isn't a light; use lights__list to find one")
        return prim

    def _read(self, prim: Usd.Prim) -> Json:
        light, kind = UsdLux.LightAPI(prim), _kind(prim)
        color = Gf.Vec3f(light.GetColorAttr().Get(TIME) or Gf.Vec3f(1))
        if light.GetEnableColorTemperatureAttr().Get(TIME):
            kelvin = _number(light.GetColorTemperatureAttr(), 6500)
            color = Gf.CompMult(color, UsdLux.BlackbodyTemperatureAsRgb(kelvin))
        reported: Json = {
            "kind": kind,
            "color": [float(c) for c in color],
            "power": None,
            "intensity": _number(light.GetIntensityAttr()),
            "exposure": _number(light.GetExposureAttr(), 0),
            "size": (size := _size(prim)) and [_scale(prim) * side for side in size],
            "angle": None,
            "blend": None,
        }
        if kind in POWER:
            reported["power"] = reported["intensity"] * self._watts(prim)
        if kind == "sun":
            reported["angle"] = _number(UsdLux.DistantLight(prim).GetAngleAttr(), 0.53)
        elif kind == "spot":
            shaping = UsdLux.ShapingAPI(prim)
            reported["angle"] = 2 * _number(shaping.GetShapingConeAngleAttr(), 90)
            reported["blend"] = _number(shaping.GetShapingConeSoftnessAttr(), 0)
        return reported

    def _write(self, prim: Usd.Prim, values: dict[str, Any]) -> None:
        kind, light = _kind(prim), UsdLux.LightAPI(prim)
        refuse_unknown(kind, values, known_values(kind))
        if "color" in values:
            set_lasting(light.CreateColorAttr(), Gf.Vec3f(*values["color"]))
            if light.GetEnableColorTemperatureAttr().Get(TIME):
                light.GetEnableColorTemperatureAttr().Set(False)
        if "size" in values:
            # A light that isn't normalized keeps its power instead of its radiance.
            values.setdefault("power", self._read(prim)["power"])
            _set_size(prim, values["size"])
        if "power" in values:
            values["intensity"] = values["power"] / self._watts(prim)
        for key, create in (
            ("intensity", light.CreateIntensityAttr),
            ("exposure", light.CreateExposureAttr),
        ):
            if key in values:
                set_lasting(create(), float(values[key]))
        if "angle" in values and kind == "sun":
            set_lasting(UsdLux.DistantLight(prim).CreateAngleAttr(), float(values["angle"]))
        elif "angle" in values:
            set_lasting(UsdLux.ShapingAPI(prim).CreateShapingConeAngleAttr(), values["angle"] / 2)
        if "blend" in values:
            set_lasting(
                UsdLux.ShapingAPI(prim).CreateShapingConeSoftnessAttr(), float(values["blend"])
            )

    def _watts(self, prim: Usd.Prim) -> float:
        """Return the power of one unit of intensity."""
        metres = UsdGeom.GetStageMetersPerUnit(self._stage) * _scale(prim)
        normal = bool(UsdLux.LightAPI(prim).GetNormalizeAttr().Get(TIME))
        if _kind(prim) == "sun":
            angle = _number(UsdLux.DistantLight(prim).GetAngleAttr(), 0.53)
            return 1.0 if normal else pi * sin(radians(angle / 2)) ** 2 or 1.0
        size = _size(prim) or [1.0, 1.0]
        round_ = prim.GetTypeName() in ("SphereLight", "DiskLight")
        area = pi * size[0] * size[1] if round_ else size[0] * size[1]
        if prim.GetTypeName() == "DiskLight":
            area /= 4
        return float(pi * metres**2 * (1.0 if normal else area or 1.0))


def _is_light(prim: Usd.Prim) -> bool:
    return bool(prim.HasAPI(UsdLux.LightAPI)) and bool(prim.IsA(UsdGeom.Xformable))


def _kind(prim: Usd.Prim) -> str:
    name = str(prim.GetTypeName())
    if name == "SphereLight":
        return "spot" if prim.HasAPI(UsdLux.ShapingAPI) else "point"
    return _KINDS.get(name, name.lower())


def _scale(prim: Usd.Prim) -> float:
    """Return the number of scene units in one of the light's own units. A light's scale changes its
    size."""
    return abs(transforms.world_matrix(prim).GetDeterminant3()) ** (1 / 3) or 1.0


def _size(prim: Usd.Prim) -> list[float] | None:
    name = prim.GetTypeName()
    if name == "RectLight":
        area = UsdLux.RectLight(prim)
        return [_number(area.GetWidthAttr()), _number(area.GetHeightAttr())]
    if name in ("SphereLight", "DiskLight"):
        wide = 2 * _number(prim.GetAttribute("inputs:radius"), 0.5)
        return [wide, wide]
    return None


def _set_size(prim: Usd.Prim, size: float | list[float]) -> None:
    sides = size if isinstance(size, (list, tuple)) else (size, size)
    wide, high = (side / _scale(prim) for side in sides)
    if prim.GetTypeName() == "RectLight":
        area = UsdLux.RectLight(prim)
        set_lasting(area.CreateWidthAttr(), float(wide))
        set_lasting(area.CreateHeightAttr(), float(high))
        return
    if wide != high:
        raise HostError(f"'{prim.GetName()}' is round, so its size is one number, its diameter")
    set_lasting(prim.GetAttribute("inputs:radius"), wide / 2)


def _number(attribute: Usd.Attribute, otherwise: float = 1.0) -> float:
    value = attribute.Get(TIME) if attribute else None
    return otherwise if value is None else float(value)

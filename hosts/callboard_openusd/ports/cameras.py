"""The ``cameras`` port. OpenUSD measures a lens and a sensor in tenths of a scene unit. The stage's
render settings name the camera for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, degrees
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdRender

from callboard.errors import HostError
from callboard.host import Json
from callboard_openusd.application.document import UsdPort, telling
from callboard_openusd.application.layout import home
from callboard_openusd.parts.instances import owned
from callboard_openusd.parts.transforms import TIME, set_lasting
from callboard_openusd.ports.edit import identifier
from callboard_openusd.ports.scene import doubt

_SETTINGS = Sdf.Path("/Render/Settings")
#: A new camera's sensor size, for a 16:9 picture, and its focal length, in millimeters.
_SENSOR, _LENS = (36.0, 20.25), 50.0


class UsdCameras(UsdPort):
    def names(self) -> Mapping[str, str]:
        cameras = (prim for prim in self._stage.Traverse() if prim.IsA(UsdGeom.Camera))
        return {str(prim.GetPath()): prim.GetName() for prim in cameras}

    @telling("read that camera")
    def get(self, name: str) -> Json:
        prim = self._find(name)
        seen = UsdGeom.Camera(prim).GetCamera(TIME)
        perspective = seen.projection == Gf.Camera.Perspective
        sides = (seen.horizontalAperture, seen.verticalAperture)
        clip = seen.clippingRange
        why = doubt(self._stage, prim)
        return {
            "name": prim.GetName(),
            "path": str(prim.GetPath()),
            "projection": "perspective" if perspective else "orthographic",
            "fov": [degrees(2 * atan(side / 2 / seen.focalLength)) for side in sides]
            if perspective and seen.focalLength
            else None,
            "lens": seen.focalLength * self._millimetres,
            "sensor": seen.horizontalAperture * self._millimetres,
            "clip": [float(clip.min), float(clip.max)],
            "focus_distance": float(seen.focusDistance),
            "fstop": float(seen.fStop),
            "active": prim.GetPath() == self._active(),
            **({"doubt": why} if why else {}),
        }

    @telling("create that camera")
    def create(self, name: str | None) -> str:
        path = self._document.opened.free_path(home(self._stage), identifier(name or "Camera"))
        camera = UsdGeom.Camera.Define(self._stage, path)
        wide, high = (side / self._millimetres for side in _SENSOR)
        camera.CreateHorizontalApertureAttr(wide)
        camera.CreateVerticalApertureAttr(high)
        camera.CreateFocalLengthAttr(_LENS / self._millimetres)
        metre = 1 / UsdGeom.GetStageMetersPerUnit(self._stage)
        camera.CreateClippingRangeAttr(Gf.Vec2f(0.1 * metre, 1000 * metre))
        return str(path)

    @telling("set that camera")
    def set(self, name: str, values: Mapping[str, Any]) -> str:
        prim = owned(self._find(name))
        camera = UsdGeom.Camera(prim)
        if "lens" in values:
            set_lasting(camera.CreateFocalLengthAttr(), values["lens"] / self._millimetres)
        if "sensor" in values:
            wide, high = camera.CreateHorizontalApertureAttr(), camera.CreateVerticalApertureAttr()
            # The picture keeps its aspect ratio.
            shape = high.Get(TIME) / wide.Get(TIME)
            set_lasting(wide, values["sensor"] / self._millimetres)
            set_lasting(high, values["sensor"] / self._millimetres * shape)
        if "clip" in values:
            set_lasting(camera.CreateClippingRangeAttr(), Gf.Vec2f(*values["clip"]))
        if "focus_distance" in values:
            set_lasting(camera.CreateFocusDistanceAttr(), float(values["focus_distance"]))
        if "fstop" in values:
            set_lasting(camera.CreateFStopAttr(), float(values["fstop"]))
        if "active" in values:
            self._activate(prim.GetPath(), bool(values["active"]))
        return str(prim.GetPath())

    @property
    def _millimetres(self) -> float:
        """Return the number of millimeters in a tenth of a scene unit."""
        return float(100 * UsdGeom.GetStageMetersPerUnit(self._stage))

    def _find(self, name: str) -> Usd.Prim:
        prim = self._document.names.find(name)
        if not prim.IsA(UsdGeom.Camera):
            raise HostError(f"'{prim.GetName()}' isn't a camera; use cameras__list to find one")
        return prim

    def _active(self) -> Sdf.Path | None:
        settings = UsdRender.Settings.GetStageRenderSettings(self._stage)
        targets = settings.GetCameraRel().GetTargets() if settings else []
        return targets[0] if targets else None

    def _activate(self, path: Sdf.Path, active: bool) -> None:
        if not active:
            if self._active() == path:
                settings = UsdRender.Settings.GetStageRenderSettings(self._stage)
                settings.GetCameraRel().SetTargets([])
            return
        settings = UsdRender.Settings.GetStageRenderSettings(self._stage)
        if not settings:
            if not self._stage.GetPrimAtPath(_SETTINGS.GetParentPath()):
                UsdGeom.Scope.Define(self._stage, _SETTINGS.GetParentPath())
            settings = UsdRender.Settings.Define(self._stage, _SETTINGS)
            self._stage.SetMetadata("renderSettingsPrimPath", str(_SETTINGS))
        settings.CreateCameraRel().SetTargets([path])

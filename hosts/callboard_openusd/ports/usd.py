"""The ``usd`` port: importing and exporting USD files."""

from __future__ import annotations

from pathlib import Path

from pxr import Gf, Sdf, Tf, Usd, UsdGeom

from callboard.errors import HostError
from callboard.host import (
    USD_WRITE_SUFFIXES,
    Json,
    checked_suffix,
    export_result,
    metadata_result,
    refuse_outside,
)
from callboard_openusd.application.copy_spec import copy_spec
from callboard_openusd.application.document import Document, refuse
from callboard_openusd.application.layout import home, objects_in
from callboard_openusd.parts import transforms
from callboard_openusd.parts.copies import retarget, shared_in
from callboard_openusd.parts.instances import owned_parent
from callboard_openusd.ports.files import read_layer, write_layer

#: The key in a prim's custom data for the data that :mod:`shapes` and :mod:`lights` store.
_OURS = "callboard"
#: The mark of a group that a program, not the artist, generated, and Blender's own mark. We don't
#: write Blender's, because Blender would leave out the marked prim, and with it the conversion of
#: units and up axis.
_GENERATED, _BLENDERS = "exchange:generated", "Blender:generated"
#: A camera's attributes that are measured in units of the stage, or in tenths of a unit.
_LENGTHS = (
    "focalLength",
    "horizontalAperture",
    "verticalAperture",
    "horizontalApertureOffset",
    "verticalApertureOffset",
    "clippingRange",
    "focusDistance",
)


class UsdStages:
    def __init__(self, document: Document) -> None:
        self._document = document

    def import_usd(self, path: str, parent: str | None) -> Json:
        """Copy the composed content into the root layer, as one new object named after the file.
        That object's transform makes up for different units or a different up axis."""
        stage = self._document.stage
        above = home(stage)
        if parent is not None:
            above = owned_parent(self._document.names.find(parent)).GetPath()
        source = open_file(path)
        roots = [each for root in source.GetPseudoRoot().GetChildren() for each in _artists(root)]
        if not roots:
            raise HostError(f"'{Path(path).name}' contains no prims")
        flat = _in_time(source, stage.GetTimeCodesPerSecond()).Flatten(False)
        shared = shared_in(flat, source)
        target = self._document.opened.free_path(above, Tf.MakeValidIdentifier(Path(path).stem))
        fit = _fit(source, stage)
        layer = self._document.opened.layer
        plain = len(roots) == 1 and roots[0].GetTypeName() == "Xform"
        if plain and fit == Gf.Matrix4d(1) and not shared:
            copy_spec(flat, roots[0].GetPath(), layer, target)
        else:
            UsdGeom.Xform.Define(stage, target)
            copied = [root.GetPath() for root in roots] + shared
            moved = {root: target.AppendChild(root.name) for root in copied}
            for root, place in moved.items():
                copy_spec(flat, root, layer, place)
            retarget(layer, target, moved)
            transforms.write_matrix(stage.GetPrimAtPath(target), fit)
            stage.GetPrimAtPath(target).SetCustomDataByKey(_GENERATED, True)
            _count_cameras(stage.GetPrimAtPath(target), _ratio(source, stage))
        created = [str(prim.GetPath()) for prim in objects_in(stage.GetPrimAtPath(target))]
        return {"path": path, "created": created}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Write the composed scene as one file that refers to no other layer."""
        checked_suffix(path, USD_WRITE_SUFFIXES)
        stage = self._document.stage
        used = (layer.realPath for layer in stage.GetUsedLayers())
        refuse_outside(filter(None, used), self._document.opened.file or "the scene", "exported")
        if selected_only:
            selected = [Sdf.Path(p) for p in self._document.opened.selection]
            selected = [p for p in selected if stage.GetPrimAtPath(p)]
            if not selected:
                raise HostError("nothing is selected; select objects, or export everything")
            mask = Usd.StagePopulationMask(selected)
            stage = Usd.Stage.OpenMasked(self._document.opened.layer, mask)
            stage.ExpandPopulationMask()
        flat = stage.Flatten(False)
        _leave_out_ours(flat)
        _mark_home(flat, home(stage))
        write_layer(flat, path, None)
        return export_result(path, stage)

    def stage_metadata(self, path: str) -> Json:
        return metadata_result(path, open_file(path))


def _artists(root: Usd.Prim) -> list[Usd.Prim]:
    """Return a list with the prim alone, or with its children if a program generated the prim only
    to hold the scene."""
    still = not UsdGeom.Xformable(root) or not UsdGeom.Xformable(root).GetOrderedXformOps()
    generated = any(root.GetCustomDataByKey(each) for each in (_GENERATED, _BLENDERS))
    return list(root.GetChildren()) if still and generated else [root]


def _mark_home(flat: Sdf.Layer, path: Sdf.Path) -> None:
    """Mark the prim that is the scene itself, so that no program treats it as an object."""
    spec = flat.GetPrimAtPath(path)
    if spec and path != Sdf.Path.absoluteRootPath:
        group, _, key = _GENERATED.partition(":")
        spec.customData[group] = {**dict(spec.customData.get(group, {})), key: True}


def _leave_out_ours(layer: Sdf.Layer) -> None:
    """Remove the data that we store on prims, which is useless to other programs."""
    left = list(layer.rootPrims)
    while left:
        spec = left.pop()
        if spec.HasInfo("customData") and _OURS in spec.customData:
            del spec.customData[_OURS]
        left.extend(spec.nameChildren)


def open_file(path: str) -> Usd.Stage:
    with read_layer(path) as layer:
        try:
            return Usd.Stage.Open(layer)
        except Tf.ErrorException as error:
            raise refuse(error, f"open '{Path(path).name}'") from None


def _in_time(source: Usd.Stage, rate: float) -> Usd.Stage:
    """Return the scene with its samples moved to the time codes of a stage with the given rate."""
    if source.GetTimeCodesPerSecond() == rate:
        return source
    frame = Sdf.Layer.CreateAnonymous(".usda")
    frame.timeCodesPerSecond = rate
    frame.subLayerPaths.append(source.GetRootLayer().identifier)
    return Usd.Stage.Open(frame)


def _ratio(source: Usd.Stage, target: Usd.Stage) -> float:
    ratio = UsdGeom.GetStageMetersPerUnit(source) / UsdGeom.GetStageMetersPerUnit(target)
    return 1.0 if Gf.IsClose(ratio, 1.0, 1e-9) else float(ratio)


def _count_cameras(top: Usd.Prim, ratio: float) -> None:
    """Convert the lens, sensor and distances of every camera at and below ``top``. These are in the
    stage's units, whatever the camera's scale is."""
    for prim in Usd.PrimRange(top) if ratio != 1.0 else ():
        for name in _LENGTHS if prim.IsA(UsdGeom.Camera) else ():
            attribute = prim.GetAttribute(name)
            if (value := attribute.Get()) is not None:
                attribute.Set(value * ratio)
            for time in attribute.GetTimeSamples():
                # A blocked value is None.
                if (value := attribute.Get(time)) is not None:
                    attribute.Set(value * ratio, time)


def _fit(source: Usd.Stage, target: Usd.Stage) -> Gf.Matrix4d:
    """Return the conversion from the source's units and axes to the target's."""
    ratio = _ratio(source, target)
    size = Gf.Matrix4d().SetScale(ratio)
    here, there = UsdGeom.GetStageUpAxis(source), UsdGeom.GetStageUpAxis(target)
    if here == there:
        return size
    angle = -90.0 if here == UsdGeom.Tokens.z else 90.0
    return size * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d.XAxis(), angle))

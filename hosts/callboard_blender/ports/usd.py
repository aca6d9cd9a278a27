"""The ``usd`` port: USD files, if Blender was built with OpenUSD and offers its Python modules (4.5
and later). Blender 4.2 can import and export, but can't read a stage's metadata without touching
the scene, so callboard doesn't offer the port there."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import (
    USD_WRITE_SUFFIXES,
    Json,
    checked_suffix,
    export_result,
    metadata_result,
    open_stage,
    refuse_usd_outside,
    replacing,
)
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import find, forget, objects, scene, view_layer
from callboard_blender.application.outside_paths import refuse_used_outside
from callboard_blender.application.views import in_a_window
from callboard_blender.parts.bake import frame_kept
from callboard_blender.parts.usd_import import settle, traced
from callboard_blender.parts.usd_motion import note_keys, object_of

_BY_KELVIN = "inputs:enableColorTemperature"


def usd_is_there() -> bool:
    return bool(bpy.app.build_options.usd) and hasattr(bpy.utils, "expose_bundled_modules")


class BlenderUsd:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def import_usd(self, path: str, parent: str | None) -> Json:
        stage = _opened_within(path)
        above = None if parent is None else find(parent).name_full
        before = {obj.name_full for obj in scene().objects}
        self._changes.touch()
        # Only objects are added. The scene's frame range and world stay the artist's.
        with traced(stage):
            run(
                bpy.ops.wm.usd_import,
                path,
                "import",
                filepath=path,
                set_frame_range=False,
                # Blender converts the file's units to meters, but the scene's unit may differ.
                scale=1 / scene().unit_settings.scale_length,
                create_world_material=False,
            )
        view_layer().update()
        created = [obj for obj in scene().objects if obj.name_full not in before]
        settle(created, stage)
        created = [obj for obj in scene().objects if obj.name_full not in before]
        if above is not None:
            under = find(above)
            prototypes = _instanced_members(objects())
            for obj in created:
                if obj.parent is None and obj not in prototypes:
                    obj.parent = under
            view_layer().update()
        forget()
        return {"path": path, "created": [obj.name_full for obj in created]}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        checked_suffix(path, USD_WRITE_SUFFIXES)
        layer = view_layer()
        if selected_only and not any(o.select_get(view_layer=layer) for o in layer.objects):
            raise HostError("nothing is selected; select objects, or export everything")
        # The exporter copies the textures into the file's folder.
        refuse_used_outside("exported")
        refuse_empty_curves(selected_only, rendered_only=True)
        moving = moves()
        with (
            # The exporter makes Blender evaluate the scene, which isn't a change.
            self._changes.unnoticed(),
            replacing(path) as written,
            frame_kept() if moving else nullcontext(),
        ):
            run(
                bpy.ops.wm.usd_export,
                path,
                "export",
                filepath=written,
                selected_objects_only=selected_only,
                export_animation=moving,
                # The world would be exported as an unwanted light.
                convert_world_material=False,
            )
            _repaired(written)
        return export_result(path, _opened(path))

    def stage_metadata(self, path: str) -> Json:
        return metadata_result(path, _opened_within(path))


def _instanced_members(among: Iterable[bpy.types.Object]) -> set[bpy.types.Object]:
    """Return the objects that instances show, at any depth. Moving one would move each instance."""
    reached: set[bpy.types.Object] = set()
    while among:
        shown = {obj.instance_collection for obj in among if obj.instance_type == "COLLECTION"}
        among = {obj for each in shown - {None} for obj in each.all_objects} - reached
        reached |= among
    return reached


def refuse_empty_curves(selected_only: bool, rendered_only: bool) -> None:
    """Raise HostError when an exported curve has no splines, because Blender would crash. The
    exporter to USD leaves out what is hidden from renders, but the exporter to Alembic doesn't."""
    empty = [
        obj
        for obj in bpy.data.objects
        if obj.type == "CURVE"
        and not len(obj.data.splines)
        and not (rendered_only and obj.hide_render)
    ]
    if not empty:
        return
    shown = view_layer().objects
    exported = set(shown.selected if selected_only else shown)
    exported |= _instanced_members(exported)
    if names := ", ".join(f"'{obj.name_full}'" for obj in empty if obj in exported):
        raise HostError(
            f"curves without splines: {names}; Blender would crash during this export, so delete"
            " them or give them splines"
        )


def moves() -> bool:
    """Return whether anything in the scene has keys, drivers or strips, in which case each frame is
    written."""
    owners: set[Any] = set(objects())
    owners |= {obj.data for obj in objects()}
    owners |= {getattr(data, "shape_keys", None) for data in owners}
    animations = (owner.animation_data for owner in owners if hasattr(owner, "animation_data"))
    return any(
        data is not None and (data.action or len(data.drivers) or len(data.nla_tracks))
        for data in animations
    )


def _repaired(path: str) -> None:
    """Correct the units, because Blender writes the scene's numbers unconverted but declares
    meters, whatever the scene's unit is."""
    stage = _opened(path)
    from pxr import UsdGeom

    UsdGeom.SetStageMetersPerUnit(stage, scene().unit_settings.scale_length)
    note_keys(stage)
    for prim in list(stage.TraverseAll()):
        # Blender sets a color temperature on every light, always 6500 kelvin.
        light, warm = object_of(prim.GetParent()), prim.GetAttribute(_BY_KELVIN)
        if warm and light is not None and not getattr(light.data, "use_temperature", False):
            warm.Set(False)
        if prim.IsA(UsdGeom.Curves):
            _correct_curve(prim, light, UsdGeom)
    stage.GetRootLayer().Save()


def _correct_curve(prim: Any, obj: bpy.types.Object | None, geometry: Any) -> None:
    """Write a curve's thickness. Blender writes the curve's radius, which is only a factor for its
    bevel. Leave out the copy that Blender writes below a curve with a bevel."""
    if obj is None or obj.type != "CURVE":
        return
    above = prim.GetParent()
    if object_of(above.GetParent()) == obj:
        prim.GetStage().RemovePrim(above.GetPath())
        return
    curve = geometry.Curves(prim)
    widths = [width * obj.data.bevel_depth for width in curve.GetWidthsAttr().Get() or ()]
    curve.GetWidthsAttr().Set(widths)
    curve.GetExtentAttr().Set(geometry.Curves.ComputeExtent(curve.GetPointsAttr().Get(), widths))


def _opened(path: str) -> Any:
    bpy.utils.expose_bundled_modules()
    from pxr import Sdf, Tf, Usd

    return open_stage(path, Sdf, Tf, Usd)


def _opened_within(path: str) -> Any:
    """Check the files that the stage names, because opening the stage opens them. Then return the
    opened stage."""
    bpy.utils.expose_bundled_modules()
    from pxr import Ar, Sdf, Tf, Usd, UsdUtils

    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)
    return _opened(path)


def run(operator: Any, path: str, doing: str, **options: object) -> None:
    """Call the operator. Raises HostError with Blender's own reason."""
    try:
        with in_a_window():
            done = operator(**options)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise HostError(
            f"Blender could not {doing} '{Path(path).name}':"
            f" {lines[-1] if lines else 'no reason given'}"
        ) from None
    if done != {"FINISHED"}:
        raise HostError(f"Blender could not {doing} '{Path(path).name}'")

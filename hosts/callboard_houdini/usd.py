"""USD files: the port ``usd``, by the OpenUSD that Houdini brings along.

Objects and USD prims are translated by us, one to one, so that names, hierarchy and colours
survive; Houdini's own way goes through LOPs, which the skill ``houdini-nodes`` can build.
"""

from __future__ import annotations

from pathlib import Path

import hou
from pxr import Sdf, Tf, Usd, UsdGeom

from callboard.errors import HostError
from callboard.host import Json
from callboard.replacing import replacing
from callboard.usd_nesting import check_usd_nesting
from callboard_houdini.names import find, objects, telling
from callboard_houdini.scene import meters_per_unit, up_axis
from callboard_houdini.usd_read import Importer
from callboard_houdini.usd_write import Exporter

READ = (".usd", ".usda", ".usdc", ".usdz")
WRITE = (".usd", ".usda", ".usdc")


class HoudiniUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        """Meshes and simple shapes become geometry objects, all else nulls, as they are at the
        file's first frame."""
        stage = _open(path)
        above = None if parent is None else find(parent)
        importer = Importer(stage, meters_per_unit(), up_axis())
        with telling(f"import '{Path(path).name}'"):
            created = importer.run(above)
        return {"path": path, "created": [node.path() for node in created]}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Polygons as they are now, with their colours; objects without polygons keep their
        place. Raises HostError for geometry that isn't polygons."""
        _check_suffix(path, WRITE)
        chosen = objects()
        if selected_only:
            chosen = [node for node in chosen if node.isSelected()]
            if not chosen:
                raise HostError("nothing is selected; select objects, or export everything")
        with replacing(path) as written:
            try:
                stage = Usd.Stage.CreateNew(written)
                UsdGeom.SetStageUpAxis(stage, up_axis())
                UsdGeom.SetStageMetersPerUnit(stage, meters_per_unit())
                stage.SetTimeCodesPerSecond(hou.fps())
                with telling(f"export '{Path(path).name}'"):
                    Exporter(stage).run(chosen)
                stage.Save()
            except Tf.ErrorException:
                raise HostError(f"OpenUSD could not write '{Path(path).name}'") from None
            prims = sum(1 for _ in stage.TraverseAll())
            del stage
        return {"path": path, "bytes": Path(path).stat().st_size, "prims": prims}

    def stage_metadata(self, path: str) -> Json:
        stage = _open(path)
        default = stage.GetDefaultPrim()
        timed = stage.HasAuthoredTimeCodeRange()
        used = (layer for layer in stage.GetUsedLayers() if layer != stage.GetRootLayer())
        return {
            "path": path,
            "default_prim": str(default.GetPath()) if default else None,
            "up_axis": str(UsdGeom.GetStageUpAxis(stage)).upper(),
            "meters_per_unit": UsdGeom.GetStageMetersPerUnit(stage),
            "start_frame": stage.GetStartTimeCode() if timed else None,
            "end_frame": stage.GetEndTimeCode() if timed else None,
            "fps": stage.GetTimeCodesPerSecond(),
            "prims": sum(1 for _ in stage.TraverseAll()),
            "layers": [path, *(layer.realPath for layer in used if layer.realPath)],
        }


def _open(path: str) -> Usd.Stage:
    file = Path(path)
    _check_suffix(path, READ)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' there")
    check_usd_nesting(path)
    try:
        # A file read before may have changed since, and OpenUSD keeps what it has read.
        known = Sdf.Layer.Find(path)
        if known is not None:
            known.Reload(True)
        return Usd.Stage.Open(path)
    except Tf.ErrorException:
        raise HostError(f"'{file.name}' is not a USD file that can be read") from None


def _check_suffix(path: str, allowed: tuple[str, ...]) -> None:
    if Path(path).suffix.lower() not in allowed:
        raise HostError(f"'{Path(path).name}' does not end in {', '.join(allowed)}")

"""The ``usd`` port: USD files, with the OpenUSD that comes with Houdini.

This module translates objects and USD prims one to one, so that names, hierarchy and colors
survive. Houdini's own import goes through LOPs, which the ``houdini-networks`` skill can build.
"""

from __future__ import annotations

from pathlib import Path

import hou
from pxr import Ar, Sdf, Tf, Usd, UsdGeom, UsdUtils

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
from callboard_houdini.application.names import find, objects, telling
from callboard_houdini.application.units import meters_per_unit, up_axis
from callboard_houdini.parts.usd_read import Importer
from callboard_houdini.parts.usd_write import Exporter


class HoudiniUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        """Import meshes and simple shapes as geometry objects, and everything else as nulls, in
        their state at the file's first frame."""
        stage = _opened(path)
        above = None if parent is None else find(parent)
        importer = Importer(stage, meters_per_unit(), up_axis())
        with telling(f"import '{Path(path).name}'"):
            created = importer.run(above)
        return {"path": path, "created": [node.path() for node in created]}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Export polygons as they are now, with their colors. Objects without geometry are exported
        for their place in the hierarchy. Raises HostError for geometry that isn't polygons."""
        checked_suffix(path, USD_WRITE_SUFFIXES)
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
            del stage
        return export_result(path, _opened(path))

    def stage_metadata(self, path: str) -> Json:
        return metadata_result(path, _opened(path))


def _opened(path: str) -> Usd.Stage:
    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)
    return open_stage(path, Sdf, Tf, Usd)

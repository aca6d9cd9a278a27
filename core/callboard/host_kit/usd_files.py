"""Reads USD files, for hosts with OpenUSD's own Python modules. The modules are passed in, not
imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.suffixes import checked_suffix
from callboard.host_kit.usd_depth import check_usd_nesting

USD_READ_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
USD_WRITE_SUFFIXES = (".usd", ".usda", ".usdc")


def open_stage(path: str, sdf: Any, tf: Any, usd: Any) -> Any:
    """Return a stage with the current content of the file. Its prims are valid only as long as the
    caller keeps the stage. The modules are ``pxr.Sdf``, ``Tf`` and ``Usd``. Raises HostError for a
    file that isn't USD."""
    name = Path(path).name
    checked_suffix(path, USD_READ_SUFFIXES)
    if not Path(path).is_file():
        raise HostError(f"there is no file '{name}' in that folder")
    check_usd_nesting(path)
    try:
        # OpenUSD caches the files that it reads, and a file that was read earlier may have changed
        # since.
        known = sdf.Layer.Find(path)
        if known is not None:
            known.Reload(True)
        return usd.Stage.Open(path)
    except tf.ErrorException:
        raise HostError(f"'{name}' can't be read as a USD file") from None


def export_result(path: str, stage: Any) -> Json:
    """Return the result of ``UsdPort.export_usd``."""
    return {"path": path, "bytes": Path(path).stat().st_size, "prims": _count(stage)}


def metadata_result(path: str, stage: Any) -> Json:
    """Return the result of ``UsdPort.stage_metadata``."""
    default = stage.GetDefaultPrim()
    timed = stage.HasAuthoredTimeCodeRange()
    used = (layer for layer in stage.GetUsedLayers() if layer != stage.GetRootLayer())
    return {
        "path": path,
        "default_prim": str(default.GetPath()) if default else None,
        "up_axis": str(stage.GetMetadata("upAxis")).upper(),
        "meters_per_unit": stage.GetMetadata("metersPerUnit"),
        "start_frame": stage.GetStartTimeCode() if timed else None,
        "end_frame": stage.GetEndTimeCode() if timed else None,
        "fps": stage.GetTimeCodesPerSecond(),
        "prims": _count(stage),
        "layers": [path, *(layer.realPath for layer in used if layer.realPath)],
    }


def _count(stage: Any) -> int:
    return sum(1 for _ in stage.TraverseAll())

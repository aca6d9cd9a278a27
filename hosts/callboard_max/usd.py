"""USD files: the port ``usd``, by Autodesk's component for 3ds Max, which brings OpenUSD's own
Python modules. The port is there where that component is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard.replacing import replacing
from callboard.usd_nesting import check_usd_nesting
from callboard_max.names import find, handle, objects, parent_of, paths_of, telling

READ = (".usd", ".usda", ".usdc", ".usdz")
WRITE = (".usd", ".usda", ".usdc")


def usd_is_there() -> bool:
    return getattr(rt, "USDImporter", None) is not None


class MaxUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        # The component reports a broken file in its log and carries on.
        _open(path)
        above = None if parent is None else find(parent)
        before = {handle(node) for node in objects()}
        with telling(f"import '{Path(path).name}'"):
            done = rt.USDImporter.ImportFile(path, importOptions=rt.USDImporter.CreateOptions())
            if not done:
                raise HostError(f"3ds Max could not import '{Path(path).name}'")
            made = [node for node in objects() if handle(node) not in before]
            for node in made:
                if above is not None and parent_of(node) is None:
                    node.parent = above
        return {"path": path, "created": paths_of(made)}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        _check_suffix(path, WRITE)
        if selected_only and not list(rt.selection):
            raise HostError("nothing is selected; select objects, or export everything")
        with replacing(path) as written, telling(f"export '{Path(path).name}'"):
            options = rt.USDExporter.CreateOptions()
            options.FileFormat = rt.Name("binary" if path.lower().endswith(".usdc") else "ascii")
            source = rt.Name("selected" if selected_only else "all")
            rt.USDExporter.ExportFile(written, exportOptions=options, contentSource=source)
        # Held, because a stage that is let go takes its prims along.
        stage = _open(path)
        prims = sum(1 for _ in stage.TraverseAll())
        return {"path": path, "bytes": Path(path).stat().st_size, "prims": prims}

    def stage_metadata(self, path: str) -> Json:
        stage = _open(path)
        from pxr import UsdGeom

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


def _open(path: str) -> Any:
    file = Path(path)
    _check_suffix(path, READ)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' there")
    check_usd_nesting(path)
    from pxr import Sdf, Tf, Usd

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

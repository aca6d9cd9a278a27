"""USD files: the port ``usd``, by Autodesk's plug-in for Maya, which brings OpenUSD's own Python
modules. The port is there while that plug-in is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json
from callboard.replacing import replacing
from callboard.usd_nesting import check_usd_nesting
from callboard_maya.names import find, paths, telling

PLUGIN = "mayaUsdPlugin"
READ = (".usd", ".usda", ".usdc", ".usdz")
WRITE = (".usd", ".usda", ".usdc")


def usd_is_there() -> bool:
    return bool(cmds.pluginInfo(PLUGIN, query=True, loaded=True))


class MayaUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        _check(path)
        # The plug-in reports a broken file in Maya's own window and carries on.
        _stage(path)
        before = set(paths())
        below = {} if parent is None else {"parent": find(parent)}
        with telling(f"import '{Path(path).name}'"):
            # The plug-in's command is in none of the published stubs.
            _command("mayaUSDImport")(file=path, primPath="/", readAnimData=True, **below)
        return {"path": path, "created": [each for each in paths() if each not in before]}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        _check_suffix(path, WRITE)
        if selected_only and not cmds.ls(selection=True, dagObjects=True):
            raise HostError("nothing is selected; select objects, or export everything")
        binary = {} if path.lower().endswith(".usdc") else {"defaultUSDFormat": "usda"}
        with replacing(path) as written, telling(f"export '{Path(path).name}'"):
            _command("mayaUSDExport")(file=written, selection=selected_only, **binary)
        # Held, because a stage that is let go takes its prims along.
        stage = _stage(path)
        prims = sum(1 for _ in stage.TraverseAll())
        return {"path": path, "bytes": Path(path).stat().st_size, "prims": prims}

    def stage_metadata(self, path: str) -> Json:
        _check(path)
        stage = _stage(path)
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


def _command(name: str) -> Any:
    return getattr(cmds, name)


def _stage(path: str) -> Any:
    from pxr import Sdf, Tf, Usd

    try:
        # A file read before may have changed since, and OpenUSD keeps what it has read.
        known = Sdf.Layer.Find(path)
        if known is not None:
            known.Reload(True)
        return Usd.Stage.Open(path)
    except Tf.ErrorException:
        raise HostError(f"'{Path(path).name}' is not a USD file that can be read") from None


def _check(path: str) -> None:
    _check_suffix(path, READ)
    if not Path(path).is_file():
        raise HostError(f"there is no file '{Path(path).name}' there")
    check_usd_nesting(path)


def _check_suffix(path: str, allowed: tuple[str, ...]) -> None:
    if Path(path).suffix.lower() not in allowed:
        raise HostError(f"'{Path(path).name}' does not end in {', '.join(allowed)}")

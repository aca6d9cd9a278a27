"""The ``usd`` port: USD files, with Autodesk's plug-in for Maya, which includes OpenUSD's own
Python modules. The port exists while that plug-in is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maya import cmds

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
from callboard_maya.application.names import find, paths, telling

PLUGIN = "mayaUsdPlugin"


class MayaUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        # The plug-in reports a damaged file in Maya's own window and continues.
        _stage(path)
        before = set(paths())
        below = {} if parent is None else {"parent": find(parent)}
        with telling(f"import '{Path(path).name}'"):
            # The plug-in's command is in none of the published stubs.
            _command("mayaUSDImport")(file=path, primPath="/", readAnimData=True, **below)
        return {"path": path, "created": [each for each in paths() if each not in before]}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        checked_suffix(path, USD_WRITE_SUFFIXES)
        if selected_only and not cmds.ls(selection=True, dagObjects=True):
            raise HostError("nothing is selected; select objects, or export everything")
        binary = {} if path.lower().endswith(".usdc") else {"defaultUSDFormat": "usda"}
        with replacing(path) as written, telling(f"export '{Path(path).name}'"):
            _command("mayaUSDExport")(file=written, selection=selected_only, **binary)
        return export_result(path, _stage(path))

    def stage_metadata(self, path: str) -> Json:
        return metadata_result(path, _stage(path))


def _command(name: str) -> Any:
    return getattr(cmds, name)


def _stage(path: str) -> Any:
    from pxr import Ar, Sdf, Tf, Usd, UsdUtils

    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)
    return open_stage(path, Sdf, Tf, Usd)

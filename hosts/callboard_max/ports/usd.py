"""The ``usd`` port: USD files, with Autodesk's component for 3ds Max, which includes OpenUSD's own
Python modules. The port exists if that component is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pymxs import runtime as rt

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
from callboard_max.application.names import find, handle, objects, parent_of, paths_of, telling

ADVICE = "install Autodesk's component USD for 3ds Max, then restart 3ds Max"


def usd_is_there() -> bool:
    return getattr(rt, "USDImporter", None) is not None


class MaxUsd:
    def import_usd(self, path: str, parent: str | None) -> Json:
        # The component reports a damaged file in its log and continues.
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
        checked_suffix(path, USD_WRITE_SUFFIXES)
        if selected_only and not list(rt.selection):
            raise HostError("nothing is selected; select objects, or export everything")
        with replacing(path) as written, telling(f"export '{Path(path).name}'"):
            options = rt.USDExporter.CreateOptions()
            options.FileFormat = rt.Name("binary" if path.lower().endswith(".usdc") else "ascii")
            source = rt.Name("selected" if selected_only else "all")
            rt.USDExporter.ExportFile(written, exportOptions=options, contentSource=source)
        return export_result(path, _open(path))

    def stage_metadata(self, path: str) -> Json:
        return metadata_result(path, _open(path))


def _open(path: str) -> Any:
    from pxr import Ar, Sdf, Tf, Usd, UsdUtils

    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)
    return open_stage(path, Sdf, Tf, Usd)

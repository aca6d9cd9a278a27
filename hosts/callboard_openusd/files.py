"""Opening and saving stages: the ports ``filesystem.read`` and ``filesystem.write``."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from pxr import Sdf, Tf, Usd, UsdUtils

from callboard.errors import HostError
from callboard.host import Json
from callboard.hosting.replacing import replacing_bytes
from callboard.hosting.suffixes import checked_suffix
from callboard.hosting.usd_files import READ, WRITE
from callboard.hosting.usd_nesting import check_usd_nesting
from callboard_openusd.assets import asset_from
from callboard_openusd.document import Document, OpenStage, refuse, working_layer


class UsdFiles:
    suffixes = (".usda", ".usdc", ".usd")

    def __init__(self, document: Document, opened: Callable[[], None]) -> None:
        self._document = document
        self._opened = opened

    def open(self, path: str) -> Json:
        content = read_layer(path)
        try:
            opened = OpenStage(working_layer(path, content), path)
        except Tf.ErrorException as error:
            raise refuse(error, f"open '{Path(path).name}'") from None
        self._document.opened = opened
        self._opened()
        return {"path": path, "object_count": opened.names.count}

    def save(self, path: str | None) -> Json:
        opened = self._document.opened
        target = path or opened.file
        if target is None:
            raise HostError("this scene has never been saved; give a path")
        size = write_layer(opened.layer, target, opened.folder)
        opened.file, opened.modified = target, False
        self._opened()
        return {"path": target, "bytes": size}


def read_layer(path: str) -> Sdf.Layer:
    """A file's root layer, which nothing else shares. Raises HostError."""
    _check(Path(path), seen=set())
    try:
        if Path(path).suffix.lower() == ".usdz":
            # What a package refers to is inside it, and is found only from there.
            return Usd.Stage.Open(path).Flatten(False)
        return Sdf.Layer.OpenAsAnonymous(path)
    except Tf.ErrorException as error:
        raise refuse(error, f"read '{Path(path).name}'") from None


def write_layer(layer: Sdf.Layer, path: str, folder: Path | None) -> int:
    """Writes the file at once or not at all; returns its bytes. ``folder`` is what the layer's
    relative paths are relative to."""
    checked_suffix(path, WRITE)
    if folder is not None and folder != Path(path).parent:
        moved = Sdf.Layer.CreateAnonymous(".usda")
        moved.TransferContent(layer)
        old, new = folder, Path(path).parent
        UsdUtils.ModifyAssetPaths(moved, lambda asset: asset_from(asset, old, new))
        layer = moved
    with replacing_bytes(path) as file, TemporaryDirectory(prefix="callboard-") as apart:
        # OpenUSD writes by name, and nobody can swap a folder of our own.
        written = Path(apart, f"layer{Path(path).suffix}")
        try:
            layer.Export(str(written))
        except Tf.ErrorException as error:
            raise refuse(error, f"write '{Path(path).name}'") from None
        with written.open("rb") as source:
            shutil.copyfileobj(source, file, 2**20)
    return Path(path).stat().st_size


def _check(file: Path, seen: set[Path]) -> None:
    """Refuses what would take the process down, in the file or in the files it is composed of."""
    checked_suffix(str(file), READ)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' there")
    check_usd_nesting(str(file))
    seen.add(file)
    if file.suffix.lower() == ".usdz":
        return
    try:
        layer = Sdf.Layer.OpenAsAnonymous(str(file))
    except Tf.ErrorException as error:
        raise refuse(error, f"read '{file.name}'") from None
    for asset in layer.GetCompositionAssetDependencies():
        used = file.parent / asset
        if used not in seen and used.suffix.lower() in READ and used.is_file():
            _check(used, seen)

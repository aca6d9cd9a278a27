"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving stages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from pxr import Ar, Sdf, Tf, Usd, UsdUtils

from callboard.errors import HostError
from callboard.host import (
    USD_READ_SUFFIXES,
    USD_WRITE_SUFFIXES,
    Json,
    check_usd_nesting,
    checked_suffix,
    refuse_usd_outside,
    replacing_bytes,
)
from callboard_openusd.application.document import Document, OpenStage, reason, refuse
from callboard_openusd.application.last_step_layer import stamp_of
from callboard_openusd.parts.assets import asset_from

#: Marks the layers that only callboard uses. Such a layer is read at once, as a whole, so that
#: writing to its file later doesn't change the layer while the stage uses it.
_OWN = "callboard"
Sdf.Layer.SetDetachedLayerRules(Sdf.Layer.GetDetachedLayerRules().Include([f"{_OWN}="]))


class UsdFiles:
    suffixes = (".usda", ".usdc", ".usd")

    def __init__(
        self, document: Document, opened: Callable[[], None], saved: Callable[[], None]
    ) -> None:
        self._document = document
        self._opened = opened
        self._saved = saved

    def open(self, path: str) -> Json:
        stamp = stamp_of(path)
        with read_layer(path) as layer:
            try:
                # A package's layer differs from the file's content, so the layer can't be read from
                # the file again.
                packed = Path(path).suffix.lower() == ".usdz"
                opened = OpenStage(layer, path, None if packed else stamp)
            except Tf.ErrorException as error:
                raise refuse(error, f"open '{Path(path).name}'") from None
        self._document.opened = opened
        count = len(opened.names.paths)
        opened.read_ahead()
        self._opened()
        return {"path": path, "object_count": count}

    def save(self, path: str | None) -> Json:
        opened = self._document.opened
        target = path or opened.file
        if target is None:
            raise HostError("this scene has never been saved; give a path")
        size = write_layer(opened.layer, target, opened.folder)
        opened.file, opened.modified = target, False
        self._saved()
        self._opened()
        return {"path": target, "bytes": size}


@contextmanager
def read_layer(path: str) -> Iterator[Sdf.Layer]:
    """Yield a file's root layer. The layer isn't shared, because other readers of the file must not
    see unsaved edits. The layers that the root layer is composed of stay open inside the block, so
    that a stage opened there doesn't read any layer twice. Raises HostError if the file can't be
    read."""
    kept: list[Sdf.Layer] = []
    seen: set[Path] = set()
    _check(Path(path))
    refuse_usd_outside(path, Ar, Sdf, Tf, Usd, UsdUtils)
    try:
        if Path(path).suffix.lower() == ".usdz":
            # A package's references are inside it, and can only be resolved from inside.
            layer = Usd.Stage.Open(path).Flatten(False)
        else:
            # The arguments mean nothing to the format, but with them the file has its own layer.
            own = Sdf.Layer.CreateIdentifier(path, {_OWN: uuid4().hex})
            layer = Sdf.Layer.FindOrOpen(own)
    except Tf.ErrorException as error:
        raise refuse(error, f"read '{Path(path).name}'") from None
    if layer is None:
        raise HostError(f"OpenUSD found no layer in '{Path(path).name}'")
    _keep_used(layer, Path(path).parent, kept, seen)
    yield layer


def write_layer(layer: Sdf.Layer, path: str, folder: Path | None) -> int:
    """Write the whole file or none of it, and return its size in bytes. ``folder`` is the base of
    the layer's relative paths."""
    checked_suffix(path, USD_WRITE_SUFFIXES)
    if folder is not None and folder != Path(path).parent:
        moved = Sdf.Layer.CreateAnonymous(".usda")
        moved.TransferContent(layer)
        old, new = folder, Path(path).parent
        UsdUtils.ModifyAssetPaths(moved, lambda asset: asset_from(asset, old, new))
        layer = moved
    with replacing_bytes(path) as file, TemporaryDirectory(prefix="callboard-") as apart:
        # OpenUSD can write only to a path, so write in a private folder, where no other program can
        # swap the file.
        written = Path(apart, f"layer{Path(path).suffix}")
        try:
            layer.Export(str(written))
        except Tf.ErrorException as error:
            raise refuse(error, f"write '{Path(path).name}'") from None
        _check_readable(written, Path(path).name)
        with written.open("rb") as source:
            shutil.copyfileobj(source, file, 2**20)
    return Path(path).stat().st_size


def _check_readable(written: Path, name: str) -> None:
    """Raise HostError when OpenUSD can't read its own output, as when an attribute's value is a
    path."""
    try:
        Sdf.Layer.OpenAsAnonymous(str(written))
    except Tf.ErrorException as error:
        raise HostError(
            f"'{name}' was left as it is, because OpenUSD could not read the file that it wrote:"
            f" {reason(error)}. Fix what the error names, and save again."
        ) from None


def _check(file: Path) -> None:
    """Raise HostError unless the file exists, has a suffix for USD, and isn't nested so deeply that
    reading it would crash the process."""
    checked_suffix(str(file), USD_READ_SUFFIXES)
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' at that path")
    check_usd_nesting(str(file))


def _keep_used(layer: Sdf.Layer, folder: Path, kept: list[Sdf.Layer], seen: set[Path]) -> None:
    """Check the files that the layer is composed of, and read them as they are now."""
    if _names_no_file(layer):
        return
    for asset in layer.GetCompositionAssetDependencies():
        used = folder / asset
        if used in seen or used.suffix.lower() not in USD_READ_SUFFIXES or not used.is_file():
            continue
        seen.add(used)
        _check(used)
        if used.suffix.lower() == ".usdz":
            continue
        try:
            known = Sdf.Layer.Find(str(used))
            if known is not None:
                # On Windows, OpenUSD compares files' times in whole seconds.
                known.Reload(force=sys.platform == "win32")
            opened = known or Sdf.Layer.FindOrOpen(str(used))
        except Tf.ErrorException:
            continue  # The stage is composed without this file, as it is in other programs.
        if opened is not None:
            kept.append(opened)
            _keep_used(opened, used.parent, kept, seen)


def _names_no_file(layer: Sdf.Layer) -> bool:
    """Return whether the layer is a text file without ``@``, which surrounds file names. This
    search is cheaper than walking the whole layer."""
    if not layer.realPath:
        return False
    with Path(layer.realPath).open("rb") as file:
        return file.read(5) == b"#usda" and b"@" not in file.read()

"""Finds the files that a USD file uses, without opening any that are outside the roots. OpenUSD's
own modules are passed in, so this module doesn't import them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from callboard.ground.named_files import (
    held_to_roots,
    of_many,
    outside,
    refuse_outside,
    unreadable,
)
from callboard.ground.usdz_entries import usdz_entries
from callboard.host_kit.usd_depth import check_usd_nesting

_LAYERS = (".usd", ".usda", ".usdc", ".usdz")
_COMPUTED = "`"


def refuse_usd_outside(path: str, ar: Any, sdf: Any, tf: Any, usd: Any, utils: Any) -> None:
    """Raise HostError when this call is restricted to its roots and the file refers to anything
    outside them: by a sublayer, a reference, a payload, a clip or a texture, even in a variant that
    isn't selected or in a file that it refers to. A file that OpenUSD reads with errors is refused
    too, because OpenUSD may use the part that it read before the error. ``ar`` to ``utils`` are
    ``pxr.Ar``, ``Sdf``, ``Tf``, ``Usd`` and ``UsdUtils``."""
    if not held_to_roots():
        return
    reader = _Reader(ar, sdf, tf, usd, utils)
    waiting, seen = [path], {path}
    leaving: list[str] = []
    while waiting:
        file = waiting.pop()
        if not Path(file).is_file():
            continue
        check_usd_nesting(file)
        try:
            named = list(reader.named(file))
        except (zipfile.BadZipFile, UnicodeDecodeError) as error:
            # OpenUSD relies on the local headers of a package, so it may open this one anyway.
            raise unreadable(file, f"isn't a package that can be trusted ({error})") from None
        except (tf.ErrorException, OSError):
            used = "" if file == path else f"is used by '{Path(path).name}' and "
            raise unreadable(file, f"{used}can't be read without errors") from None
        for folder, asset in named:
            places = reader.places(folder, asset, file)
            leaving += outside(places)
            if not leaving:
                layers = {p for p in places if p.lower().endswith(_LAYERS)} - seen
                seen |= layers
                waiting += layers
    refuse_outside(leaving, Path(path).name, "opened")


def is_package(path: str) -> bool:
    """Return whether OpenUSD treats the file as a package, judging by its name."""
    return path.lower().endswith(".usdz")


class _Reader:
    def __init__(self, ar: Any, sdf: Any, tf: Any, usd: Any, utils: Any) -> None:
        self._ar, self._sdf, self._tf, self._usd, self._utils = ar, sdf, tf, usd, utils
        self._resolver = ar.GetResolver()

    def named(self, file: str) -> Iterator[tuple[str, str]]:
        """Yield each asset path in the file, preceded by the folder that it is relative to."""
        if not is_package(file):
            layer = self._opened(file)
            yield from ((str(Path(file).parent), asset) for asset in self._assets(layer))
            return
        inside = [name for name in usdz_entries(file) if name.lower().endswith(_LAYERS)]
        if any(is_package(name) for name in inside):
            raise zipfile.BadZipFile("it contains another package")
        for name in inside:
            layer = self._opened(self._ar.JoinPackageRelativePath([file, name]))
            yield from ((str(Path(file, name).parent), asset) for asset in self._assets(layer))

    def _opened(self, path: str) -> Any:
        """Return the layer, read again from disk because an open layer may differ from the file.
        Raises OSError."""
        layer = self._sdf.Layer.OpenAsAnonymous(path)
        if layer is None:
            raise OSError(f"'{path}' can't be opened")
        return layer

    def _assets(self, layer: Any) -> set[str]:
        assets = {*layer.GetCompositionAssetDependencies(), *layer.GetExternalAssetDependencies()}

        def note(*asset: Any) -> str:
            assets.add(asset[-1])
            return str(asset[-1])

        # This is a copy, because reading asset paths this way marks a layer as changed.
        copy = self._sdf.Layer.CreateAnonymous(".usda")
        copy.TransferContent(layer)
        self._utils.ModifyAssetPaths(copy, note)
        # ModifyAssetPaths looks at the types of attributes, and flattening looks at the types of
        # values. Without sublayers, and with an empty mask, the stage opens no other file.
        copy.subLayerPaths = []
        stage = self._usd.Stage.OpenMasked(copy, self._usd.StagePopulationMask())
        self._utils.FlattenLayerStack(stage, note)
        return assets - {""}

    def places(self, folder: str, asset: str, file: str) -> list[str]:
        """Return the paths that an asset path may resolve to. Raises HostError if they can't be
        determined."""
        if asset.startswith(_COMPUTED):
            raise unreadable(file, f"computes the path {asset}")
        plain = asset.split(":SDF_FORMAT_ARGS:", 1)[0]
        if self._ar.IsPackageRelativePath(plain):
            plain = self._ar.SplitPackageRelativePathOuter(plain)[0]
        places = of_many(str(Path(folder, plain)))
        with suppress(self._tf.ErrorException):  # The studio's resolver may fail.
            anchor = self._ar.ResolvedPath(file)
            known = str(self._resolver.Resolve(self._resolver.CreateIdentifier(plain, anchor)))
            if Path(known).is_absolute():
                places.append(known)
        return places

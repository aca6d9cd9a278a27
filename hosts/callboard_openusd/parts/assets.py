"""Rewrites asset paths so that they lead to the same file from a different layer."""

from __future__ import annotations

import os
from pathlib import Path


def asset_from(asset: str, old: Path, new: Path | None) -> str:
    """Return an asset path that was relative to the folder ``old`` as a path relative to ``new``.
    If that is impossible, or ``new`` is None, return an absolute path. A path that isn't relative
    is left as it is. So is a path that has no leading dot and matches no file below ``old``,
    because it is resolved through a search path."""
    if not asset or Path(asset).is_absolute() or "://" in asset or old == new:
        return asset
    # A package is treated as one file, whatever is inside it.
    place = old / asset.split("[", 1)[0]
    if not asset.startswith(("./", "../")) and not place.exists():
        return asset
    full = Path(os.path.normpath(old / asset))
    if new is None:
        return full.as_posix()
    try:
        relative = os.path.relpath(full, new).replace(os.sep, "/")
    except ValueError:  # The file is on another drive.
        return full.as_posix()
    return relative if relative.startswith("../") else f"./{relative}"

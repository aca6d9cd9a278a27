"""The bundle that a skill came with."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def bundle_of(folder: Path) -> dict[str, Any] | None:
    """Return a description of the bundle that a skill's folder came with, or None for other skills.
    Call it from any thread."""
    if not (folder.parent.parent / "current.json").is_file():
        return None
    # Imported here, because most servers have no bundle.
    from callboard.bundles.installed.install import bundle_in
    from callboard.bundles.installed.install_folders import as_offered

    bundle = bundle_in(folder)
    return None if bundle is None else as_offered(bundle)[0].as_json()

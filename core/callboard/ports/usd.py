"""The port ``usd``: USD files in and out."""

from __future__ import annotations

from typing import Protocol

from callboard.content import Json


class UsdPort(Protocol):
    """Capability ``usd``."""

    def import_usd(self, path: str, parent: str | None) -> Json:
        """Adds a file's content to the scene. Returns ``{path, created: [paths]}``."""

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Returns ``{path, bytes, prims}``."""

    def stage_metadata(self, path: str) -> Json:
        """Reads without touching the scene: ``{path, default_prim, up_axis, meters_per_unit,
        start_frame, end_frame, fps, prims, layers}``."""

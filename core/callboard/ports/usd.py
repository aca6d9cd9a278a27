"""The ``usd`` port: importing and exporting USD files."""

from __future__ import annotations

from typing import Protocol

from callboard.content import Json


class UsdPort(Protocol):
    """Capability ``usd``."""

    def import_usd(self, path: str, parent: str | None) -> Json:
        """Add a file's content to the scene. Return ``{path, created: [paths]}``."""

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Export the scene, or the selection. Return ``{path, bytes, prims}``."""

    def stage_metadata(self, path: str) -> Json:
        """Return a file's metadata without touching the scene: ``{path, default_prim, up_axis,
        meters_per_unit, start_frame, end_frame, fps, prims, layers}``."""

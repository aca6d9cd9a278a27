"""The tools of the ``usd`` skill. Paths arrive resolved and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError

#: Maximum number of paths that an answer lists. The count is always complete.
LISTED = 200


def import_usd(ctx: Any, path: str, parent: str | None = None) -> Json:
    ctx.port("scene.mutate")
    # The port lists the objects that are in the scene afterwards, so the list verifies the import.
    imported = ctx.port("usd").import_usd(path, parent)
    created = imported["created"]
    if not created:
        raise HostError(f"'{Path(path).name}' contains no objects; nothing was imported")
    return {
        "path": imported["path"],
        "changed": [],
        "created": created[:LISTED],
        "created_count": len(created),
        "verified": True,
    }


def export_usd(ctx: Any, path: str, selected_only: bool = False) -> Json:
    ctx.port("filesystem.write")
    usd = ctx.port("usd")
    exported: Json = usd.export_usd(path, selected_only)
    written_bytes = Path(path).stat().st_size if Path(path).is_file() else 0
    if written_bytes == 0 or written_bytes != exported["bytes"]:
        raise HostError(
            f"the host reported {exported['bytes']} bytes, but the file has {written_bytes}"
        )
    return {**exported, "verified": True}


def read_stage_metadata(ctx: Any, path: str) -> Json:
    metadata: Json = ctx.port("usd").stage_metadata(path)
    return {**metadata, "layers": metadata["layers"][:LISTED]}

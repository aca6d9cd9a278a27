"""Tools that open and save the scene. Paths arrive resolved and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import expect


def open_file(ctx: Any, path: str, discard_changes: bool = False) -> Json:
    reader = ctx.port("scene.read")
    if not discard_changes and reader.info()["modified"]:
        raise WrongArgument(
            "the scene has unsaved changes; save it with scene__save_file, or pass "
            "discard_changes: true"
        )
    # The file port opens the scene, but requesting this port notes that the scene will change.
    ctx.port("scene.mutate")
    opened: Json = ctx.port("filesystem.read").open(path)
    file = reader.info()["file"]
    expect(file is not None and Path(file) == Path(path), "the scene's file", path, file)
    return {**opened, "verified": True}


def save_file(ctx: Any, path: str | None = None) -> Json:
    saved: Json = ctx.port("filesystem.write").save(path)
    written = Path(saved["path"])
    written_bytes = written.stat().st_size if written.is_file() else 0
    expect(
        written_bytes > 0 and written_bytes == saved["bytes"],
        "the file's size",
        saved["bytes"],
        written_bytes,
    )
    return {**saved, "verified": True}

"""Tools that find and show assets. They run off the main thread."""

from __future__ import annotations

from typing import Any

from callboard.content import Json, Result
from callboard.errors import HostError

from ._asset import inside
from ._folder import asset, assets_in, library
from ._preview import preview_of


def search(
    ctx: Any,
    words: str = "",
    kind: str | None = None,
    folder: str | None = None,
    offset: int = 0,
    limit: int = 50,
    _workspace_roots: Any = None,
) -> Json:
    ctx.port("filesystem.read")
    assets, problems = assets_in(library(folder, _workspace_roots))
    matches = [one for one in assets if kind in (None, one.kind) and one.matches(words)]
    end = offset + limit
    answer: Json = {
        "assets": [one.as_json() for one in matches[offset:end]],
        "total": len(matches),
    }
    if offset < end < len(matches):
        answer["next_offset"] = end
    return {**answer, "problems": problems} if problems else answer


def get(ctx: Any, id: str, folder: str | None = None, _workspace_roots: Any = None) -> Result:
    ctx.port("filesystem.read")
    one = asset(library(folder, _workspace_roots), id)
    files = {what: one.path(what) for what in one.files}
    try:
        preview = None if one.preview is None else inside(one.folder, one.preview)
    except HostError:
        preview = None
    reported: Json = {
        "asset": one.as_json(),
        "files": {what: str(path) for what, path in files.items()},
        "bytes": sum(path.stat().st_size for path in files.values()),
        "preview": None if preview is None else str(preview),
    }
    return preview_of(preview, reported)

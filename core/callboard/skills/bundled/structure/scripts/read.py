"""The tool that lists groups."""

from __future__ import annotations

from typing import Any

from callboard.content import Json

#: Maximum members of one group that are listed.
MOST = 1000


def list_groups(ctx: Any, offset: int = 0, limit: int = 100) -> Json:
    port = ctx.port("structure")
    names = port.groups()
    end = offset + limit
    groups = [group_json(port, path, name) for path, name in [*names.items()][offset:end]]
    answer: Json = {"groups": groups, "total": len(names)}
    return {**answer, "next_offset": end} if offset < end < len(names) else answer


def group_json(port: Any, path: str, name: str) -> Json:
    members = port.members(path)
    return {"name": name, "path": path, "objects": members[:MOST], "count": len(members)}

"""The tool that lists groups."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.skill import covered

#: Seconds that one slice holds the main thread.
SLICE = 0.005
#: Maximum number of members listed for one group.
MOST = 1000


def list_groups(ctx: Any, offset: int = 0, limit: int = 100) -> Generator[None, None, Json]:
    """List groups in slices, each of at least one group."""
    port = ctx.port("structure")
    names = port.groups()
    facts_of = getattr(port, "facts", None)
    end = offset + limit
    groups = []
    ends = perf_counter() + SLICE
    for path, name in [*names.items()][offset:end]:
        if perf_counter() >= ends:
            yield
            ends = perf_counter() + SLICE
        with suppress(LookupError):  # The group may have been removed by now.
            facts = {} if facts_of is None else facts_of(path)
            groups.append({**group_json(port, path, name), **facts})
    answer: Json = {"groups": groups, "total": len(names)}
    if hasattr(port, "top"):
        top = port.top()
        answer["top"] = {**top, "objects": top["objects"][:MOST], "count": len(top["objects"])}
    if offset < end < len(names):
        answer["next_offset"] = end
    return covered(ctx.port("scene.read"), answer)


def group_json(port: Any, path: str, name: str) -> Json:
    members = port.members(path)
    return {"name": name, "path": path, "objects": members[:MOST], "count": len(members)}

"""Tools that read shapes."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.skill import mesh_facts, uv_facts

#: Meshes with more faces than this aren't analyzed, because that would take too long.
LARGEST = 500_000


def info(ctx: Any, name: str) -> Json:
    port = ctx.port("geometry")
    answer: Json = port.info(name)
    counts = answer["mesh"]
    if counts is None or not 0 < counts["faces"] <= LARGEST:
        return answer
    facts = mesh_facts(port.mesh(name))
    closed = not facts.open_edges and not facts.non_manifold
    return {
        **answer,
        "ngons": facts.ngons,
        "open_edges": facts.open_edges,
        "non_manifold": facts.non_manifold,
        "closed": closed,
        "volume": round(facts.volume, 6) if closed else None,
    }


def uv_info(ctx: Any, name: str) -> Json:
    port = ctx.port("geometry")
    reported = port.info(name)
    counts = reported["mesh"]
    if counts is None:
        raise HostError(f"'{name}' has no mesh of its own, so it has no UVs to read")
    if counts["faces"] > LARGEST:
        raise HostError(f"'{name}' has {counts['faces']} faces; up to {LARGEST} can be analyzed")
    return {"path": reported["path"], "uv_sets": reported["uv_sets"], **uv_facts(port.mesh(name))}

"""The rules for a single mesh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from callboard.skill import Fault, MeshFacts

RULES = (
    "non_manifold",
    "open_edges",
    "inside_out",
    "zero_faces",
    "ngons",
    "uvs_missing",
    "uvs_overlap",
)
#: Meshes with more faces than this aren't checked, because that would take too long.
LARGEST = 500_000
#: The fraction of the UV area that may overlap without a finding, because seams touch.
_SHARED = 0.02


def findings_of(path: str, facts: MeshFacts, port: Any, chosen: set[str]) -> Iterator[Fault]:
    for rule, severity, why in _wrong(facts):
        if rule in chosen:
            yield Fault(rule, path, why, severity, port.fix(rule, path))


def _wrong(facts: MeshFacts) -> Iterator[tuple[str, Literal["error", "warning", "hint"], str]]:
    if facts.non_manifold:
        yield "non_manifold", "error", f"{_edges(facts.non_manifold)} more than two faces"
    if facts.open_edges:
        yield "open_edges", "hint", f"{_edges(facts.open_edges)} a single face, so it isn't closed"
    if facts.flipped:
        yield "inside_out", "error", f"the faces at {facts.flipped} edges point to opposite sides"
    elif facts.volume < 0 and not facts.open_edges:
        yield "inside_out", "error", "it is closed, and its faces point inwards"
    if facts.zero_faces:
        yield "zero_faces", "error", f"{facts.zero_faces} of {facts.faces} faces have no area"
    if facts.ngons:
        yield "ngons", "hint", f"{facts.ngons} of {facts.faces} faces have more than four corners"
    if facts.overlap is None and facts.faces:
        yield "uvs_missing", "warning", "it has no UVs, so no texture can be put on it"
    if (facts.overlap or 0.0) > _SHARED:
        yield "uvs_overlap", "hint", f"{facts.overlap:.0%} of its UV area is used more than once"


def _edges(count: int) -> str:
    return "1 edge has" if count == 1 else f"{count} edges have"

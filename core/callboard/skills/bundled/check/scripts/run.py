"""The ``run`` and ``usd_file`` tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from itertools import islice
from typing import Any

from callboard.content import Json
from callboard.skill import Fault, MeshFacts, covered, mesh_facts

from ._meshes import LARGEST, findings_of
from ._meshes import RULES as MESH_RULES
from ._scene import RULES as SCENE_RULES
from ._scene import Seen

#: Rules that only the host can check.
HOST_RULES = (
    *("empty_mesh", "loose", "not_deformed", "not_rendered", "no_effect"),
    *("broken_constraints", "broken_drivers"),
)
RULES = (*MESH_RULES, *SCENE_RULES, *HOST_RULES, "validators")
_SLICE = 50
#: Maximum number of objects listed with the rules that they break.
MOST_OBJECTS = 1000


def run(
    ctx: Any, rules: Sequence[str] = RULES, objects: Sequence[str] = (), limit: int = 100
) -> Generator[None, None, Json]:
    """Check the scene, one mesh per slice so that the artist can work in between. A mesh that
    several objects share is analyzed once."""
    port, reader = ctx.port("check"), ctx.port("scene.read")
    chosen = set(rules or RULES)
    kept = {reader.get(name)["path"] for name in objects}
    found_by: list[Fault] = []
    meshes = [path for path in port.meshes() if not kept or path in kept]
    too_large: list[str] = []
    facts: dict[str, MeshFacts] = {}
    for number, path in enumerate(meshes):
        if not chosen.intersection(MESH_RULES):
            break
        if port.face_count(path) > LARGEST:
            too_large.append(path)
            continue
        shared = port.shared(path)
        counted = shared not in facts
        if counted:
            facts[shared] = mesh_facts(port.mesh(path))
        found_by += findings_of(path, facts[shared], port, chosen)
        if counted or number % _SLICE == _SLICE - 1:
            ctx.progress(number + 1, len(meshes))
            yield
    seen = Seen(port, reader)
    of_host = chosen.intersection((*HOST_RULES, "no_material"))
    faults_of = getattr(port, "object_faults", None) if of_host else None
    names = reader.names()
    for number, path in enumerate(names):
        seen.read(path)
        if faults_of is not None and (not kept or path in kept):
            found_by += (each for each in faults_of(path) if each.rule in chosen)
        if number % _SLICE == _SLICE - 1:
            yield
    for rule in (each for each in SCENE_RULES if each in chosen):
        found_by += (each for each in seen.findings(rule) if not kept or each.object in kept)
        yield
    if "not_rendered" in chosen and not kept:
        found_by += seen.without_camera()
    if "validators" in chosen and not kept:
        found_by += port.validate(None)
    answer = _reported(found_by, limit)
    failing = answer["by_object"].keys()
    answer["objects"] = [path for path in names if path in failing]
    if chosen != set(RULES):
        asked = kept or {*getattr(port, "surfaces", port.meshes)()}
        left = asked.difference((each.object for each in found_by), too_large)
        answer["passed"] = [path for path in names if path in left][:MOST_OBJECTS]
    return covered(reader, {**answer, "not_checked": too_large} if too_large else answer)


def usd_file(ctx: Any, path: str) -> Json:
    ctx.port("filesystem.read")
    return _reported(list(ctx.port("check").validate(path)), 1000)


def _reported(findings: list[Fault], limit: int) -> Json:
    """Return the findings as an answer, the most severe first. Of equally severe ones that exceed
    the limit, each rule shows some."""
    order = ("error", "warning", "hint")
    findings.sort(key=lambda each: order.index(each.severity))
    seen: Counter[str] = Counter()
    ranks: list[tuple[int, int, int]] = []
    for place, each in enumerate(findings):
        ranks.append((order.index(each.severity), seen[each.rule], place))
        seen[each.rule] += 1
    shown = sorted(place for _, _, place in sorted(ranks)[:limit])
    broken: dict[str, list[str]] = {}
    for each in findings:
        rules = broken.setdefault(each.object, []) if each.object else []
        if each.rule not in rules:
            rules.append(each.rule)
    return {
        "findings": [findings[place].as_json() for place in shown],
        "total": len(findings),
        "by_rule": dict(seen),
        "by_object": dict(islice(broken.items(), MOST_OBJECTS)),
    }

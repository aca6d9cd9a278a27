"""Finds the instance that a command is for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.plain_text import plain
from callboard.settings import why_nothing_starts
from callboard.transport.instances import Instance, answer_of, listed

#: Maximum number of bytes in an instance's answer about its tools.
_MOST_BYTES = 16 * 2**20


def choose(wanted: str | None) -> Instance:
    """Return the instance whose id starts with ``wanted`` or whose kind is ``wanted``. If
    ``wanted`` is None, return the only instance. Raises HostError."""
    running = [entry.instance for entry in listed()]
    matching = [i for i in running if wanted is None or i.id.startswith(wanted) or i.kind == wanted]
    if len(matching) == 1:
        return matching[0]
    if not running and (why := why_nothing_starts()) is not None:
        raise HostError(why)
    if not running:
        raise HostError(
            "no instance is running; start Maya, Blender … with callboard, or run `callboard serve`"
        )
    names = ", ".join(map(_called, running))
    if not matching:
        raise HostError(f"there is no instance '{wanted}'; running: {names}")
    raise HostError(f"several instances are running; choose one with --instance: {names}")


def scene_of(instance: Instance) -> str:
    """Return the file name of the instance's open scene, or an empty string if the scene has no
    file. The name tells two instances of the same kind apart."""
    return plain(Path(instance.scene).name) if instance.scene else ""


def _called(instance: Instance) -> str:
    return f"{instance.id} ({', '.join(filter(None, (instance.kind, scene_of(instance))))})"


class OfferedSkills(NamedTuple):
    """A running instance's report on its skills: the host capabilities that bundles get there, and
    the reasons why bundles are held back, keyed by the bundles' names."""

    instance: Instance
    capabilities: Collection[str]
    held: dict[str, str]


def offered_skills() -> list[OfferedSkills]:
    """Return what this machine's running instances report about their skills. Instances that don't
    answer, or whose version doesn't report this, are left out."""
    offered = []
    for entry in listed():
        if entry.state != "serving":
            continue
        answer = answer_of(entry.instance, "GET", "/v1/skills", most=_MOST_BYTES) or {}
        capabilities, failures = answer.get("host_capabilities"), answer.get("failures")
        if isinstance(capabilities, list) and isinstance(failures, list):
            held = {
                str(one.get("skill")): plain(str(one.get("message")))
                for one in failures
                if isinstance(one, dict) and one.get("kind") == "held"
            }
            offered.append(OfferedSkills(entry.instance, capabilities, held))
    return offered


def tools_of(instance: Instance) -> list[Json] | None:
    """Return the instance's tools in the form of ``tools/list``, or None if the instance doesn't
    answer."""
    answer = answer_of(instance, "GET", "/v1/tools", most=_MOST_BYTES) or {}
    tools = answer.get("tools")
    return tools if isinstance(tools, list) else None

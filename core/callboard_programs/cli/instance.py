"""Finds the instance that a command is for."""

from __future__ import annotations

from pathlib import Path

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.plain_text import plain
from callboard.transport.instances import Instance, answer_of, listed

#: Maximum bytes of an instance's answer about its tools.
_MOST_BYTES = 16 * 2**20


def choose(wanted: str | None) -> Instance:
    """Return the instance whose id starts with ``wanted`` or whose kind it is. If ``wanted`` is
    None, return the only instance. Raises HostError."""
    running = [entry.instance for entry in listed()]
    matching = [i for i in running if wanted is None or i.id.startswith(wanted) or i.kind == wanted]
    if len(matching) == 1:
        return matching[0]
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


def tools_of(instance: Instance) -> list[Json] | None:
    """Return the instance's tools in the form of ``tools/list``, or None if the instance doesn't
    answer."""
    answer = answer_of(instance, "GET", "/v1/tools", most=_MOST_BYTES) or {}
    tools = answer.get("tools")
    return tools if isinstance(tools, list) else None

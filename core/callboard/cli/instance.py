"""Which instance a command means."""

from __future__ import annotations

from callboard.errors import HostError
from callboard.transport.instances import Instance, listed


def choose(wanted: str | None) -> Instance:
    """The instance whose id starts with ``wanted``, or the only one. Raises HostError."""
    running = [entry.instance for entry in listed()]
    matching = [i for i in running if wanted is None or i.id.startswith(wanted) or i.kind == wanted]
    if len(matching) == 1:
        return matching[0]
    if not running:
        raise HostError(
            "no instance runs; start Maya, Blender … with callboard, or `callboard serve`"
        )
    names = ", ".join(f"{i.id} ({i.kind})" for i in running)
    if not matching:
        raise HostError(f"no instance '{wanted}'; running: {names}")
    raise HostError(f"several instances run; choose one with --instance: {names}")

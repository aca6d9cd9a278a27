"""The artist's preferences, kept by Maya."""

from __future__ import annotations

from maya import cmds

#: Whether the server starts with Maya, 1 or 0, and the port it opens, 0 for any.
AUTOSTART = "callboardAutostart"
PORT = "callboardPort"


def option(name: str, default: int) -> int:
    """The artist's choice; the default where there is none."""
    if not cmds.optionVar(exists=name):
        return default
    # This command's query takes a name, which the published stubs don't know.
    return int(cmds.optionVar(query=name))  # type: ignore[call-overload]


def set_option(name: str, value: int) -> None:
    cmds.optionVar(intValue=(name, value))

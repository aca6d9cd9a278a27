"""The artist's preferences, in 3ds Max's own ini file."""

from __future__ import annotations

from pymxs import runtime as rt

_SECTION = "Callboard"
#: Whether the server starts with 3ds Max, 1 or 0, and the port it opens, 0 for any.
AUTOSTART = "autostart"
PORT = "port"


def option(name: str, default: int) -> int:
    """The artist's choice; the default where there is none, or where it can't be read."""
    try:
        return int(str(rt.getINISetting(rt.getMAXIniFile(), _SECTION, name)))
    except ValueError:
        return default


def set_option(name: str, value: int) -> None:
    rt.setINISetting(rt.getMAXIniFile(), _SECTION, name, str(value))

"""The artist's preferences, in 3ds Max's own ini file."""

from __future__ import annotations

from pymxs import runtime as rt

from callboard_qt import Options

_SECTION = "Callboard"


class MaxOptions(Options):
    def read(self, name: str) -> int | None:
        try:
            return int(str(rt.getINISetting(rt.getMAXIniFile(), _SECTION, name)))
        except ValueError:
            return None

    def write(self, name: str, value: int) -> None:
        rt.setINISetting(rt.getMAXIniFile(), _SECTION, name, str(value))

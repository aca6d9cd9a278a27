"""The artist's preferences, stored by Maya."""

from __future__ import annotations

from maya import cmds

from callboard_qt import Options


class MayaOptions(Options):
    def read(self, name: str) -> int | None:
        ours = _ours(name)
        if not cmds.optionVar(exists=ours):
            return None
        # The query form of this command accepts a name, but the published stubs don't allow one.
        return int(cmds.optionVar(query=ours))  # type: ignore[call-overload]

    def write(self, name: str, value: int) -> None:
        cmds.optionVar(intValue=(_ours(name), value))


def _ours(name: str) -> str:
    """Return the preference's name in Maya, which stores the preferences of all programs
    together."""
    return f"callboard{name.capitalize()}"

"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving Maya scenes."""

from __future__ import annotations

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json
from callboard_maya.application.names import paths, telling
from callboard_qt import openable, saveable

#: The first bytes of a file, and Maya's name for the format, by suffix.
_STARTS = {".ma": (b"//Maya ASCII",), ".mb": (b"FOR4", b"FOR8")}
_FORMATS = {".ma": "mayaAscii", ".mb": "mayaBinary"}


class MayaFiles:
    suffixes = (".ma", ".mb")

    def open(self, path: str) -> Json:
        """Open the file without prompting the artist, and without running the file's script nodes.
        Maya drops the open scene before it reads the file, so this method checks for foreseeable
        failures first."""
        file = openable(path, _STARTS, "a Maya file")
        with telling(f"open '{file.name}'; the scene that was open is closed"):
            cmds.file(path, open=True, force=True, prompt=False, executeScriptNodes=False)
        return {"path": path, "object_count": len(paths())}

    def save(self, path: str | None) -> Json:
        before = str(cmds.file(query=True, sceneName=True) or "")
        target = path or before
        file = saveable(target, _FORMATS)
        try:
            with telling(f"save '{file.name}'"):
                cmds.file(rename=target)
                cmds.file(save=True, force=True, type=_FORMATS[file.suffix.lower()], prompt=False)
        except HostError:
            if before:
                cmds.file(rename=before)
            raise
        return {"path": target, "bytes": file.stat().st_size}

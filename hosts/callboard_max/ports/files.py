"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving scenes."""

from __future__ import annotations

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard_max.application.names import objects, telling
from callboard_max.ports.scene import scene_file
from callboard_qt import openable, saveable

#: The first bytes of every scene file, which is in Microsoft's compound file format.
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class MaxFiles:
    suffixes = (".max",)

    def open(self, path: str) -> Json:
        """Open the file without prompting the artist. 3ds Max drops the open scene before it reads
        the file, so this method checks for foreseeable failures first."""
        file = openable(path, {".max": (_MAGIC,)}, "a scene of 3ds Max")
        doing = f"open '{file.name}'; the scene that was open may be closed"
        # Opening isn't an undo step, because 3ds Max clears the list, and with it the step of this
        # call.
        with telling(doing), pymxs.undo(False):
            done = rt.loadMaxFile(str(file), useFileUnits=True, quiet=True)
        if not done:
            raise HostError(f"3ds Max could not {doing}")
        return {"path": path, "object_count": len(objects())}

    def save(self, path: str | None) -> Json:
        target = path or scene_file()
        file = saveable(target, self.suffixes)
        with telling(f"save '{file.name}'"):
            done = rt.saveMaxFile(str(file), clearNeedSaveFlag=True, useNewFile=True, quiet=True)
        if not done or not file.is_file():
            raise HostError(f"3ds Max could not save '{file.name}'")
        return {"path": str(target), "bytes": file.stat().st_size}

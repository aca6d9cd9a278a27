"""Opening and saving scenes: the ports ``filesystem.read`` and ``filesystem.write``."""

from __future__ import annotations

from pathlib import Path

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard_max.names import objects, telling
from callboard_max.scene import scene_file

#: How every scene file begins: it is a compound file.
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class MaxFiles:
    suffixes = (".max",)

    def open(self, path: str) -> Json:
        """Asks nothing. 3ds Max drops the open scene before it reads; what can be known to fail is
        refused before."""
        file = Path(path)
        _check_suffix(file)
        if not file.is_file():
            raise HostError(f"there is no file '{file.name}' there")
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise HostError(f"'{file.name}' is not a scene of 3ds Max")
        doing = f"open '{file.name}'; the scene that was open may be closed"
        with telling(doing):
            done = rt.loadMaxFile(str(file), useFileUnits=True, quiet=True)
        if not done:
            raise HostError(f"3ds Max could not {doing}")
        return {"path": path, "object_count": len(objects())}

    def save(self, path: str | None) -> Json:
        target = path or scene_file()
        if target is None:
            raise HostError("this scene has never been saved; give a path")
        file = Path(target)
        _check_suffix(file)
        if not file.parent.is_dir():
            raise HostError(f"the folder of '{file.name}' does not exist; create it first")
        if file.is_dir():
            raise HostError(f"'{file.name}' is a folder; give the name of a file")
        with telling(f"save '{file.name}'"):
            done = rt.saveMaxFile(str(file), clearNeedSaveFlag=True, useNewFile=True, quiet=True)
        if not done or not file.is_file():
            raise HostError(f"3ds Max could not save '{file.name}'")
        return {"path": target, "bytes": file.stat().st_size}


def _check_suffix(file: Path) -> None:
    if file.suffix.lower() != ".max":
        raise HostError(
            f"'{file.name}' does not end in .max; other formats are imported or exported"
        )

"""Opening and saving Maya scenes: the ports ``filesystem.read`` and ``filesystem.write``."""

from __future__ import annotations

from pathlib import Path

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json
from callboard_maya.names import paths, telling

#: Maya's name of the format and how such a file begins, by suffix.
_FORMATS = {
    ".ma": ("mayaAscii", (b"//Maya ASCII",)),
    ".mb": ("mayaBinary", (b"FOR4", b"FOR8")),
}


class MayaFiles:
    suffixes = (".ma", ".mb")

    def open(self, path: str) -> Json:
        """Asks nothing, and doesn't run the script nodes that the file may hold. Maya drops the
        open scene before it reads; what can be known to fail is refused before."""
        file = Path(path)
        _, starts = _format(file)
        if not file.is_file():
            raise HostError(f"there is no file '{file.name}' there")
        with file.open("rb") as stream:
            if not stream.read(12).startswith(starts):
                raise HostError(f"'{file.name}' is not a Maya file")
        with telling(f"open '{file.name}'; the scene that was open is closed"):
            cmds.file(path, open=True, force=True, prompt=False, executeScriptNodes=False)
        return {"path": path, "object_count": len(paths())}

    def save(self, path: str | None) -> Json:
        before = str(cmds.file(query=True, sceneName=True) or "")
        target = path or before
        if not target:
            raise HostError("this scene has never been saved; give a path")
        file = Path(target)
        kind, _ = _format(file)
        if not file.parent.is_dir():
            raise HostError(f"the folder of '{file.name}' does not exist; create it first")
        if file.is_dir():
            raise HostError(f"'{file.name}' is a folder; give the name of a file")
        try:
            with telling(f"save '{file.name}'"):
                cmds.file(rename=target)
                cmds.file(save=True, force=True, type=kind, prompt=False)
        except HostError:
            if before:
                cmds.file(rename=before)
            raise
        return {"path": target, "bytes": file.stat().st_size}


def _format(file: Path) -> tuple[str, tuple[bytes, ...]]:
    try:
        return _FORMATS[file.suffix.lower()]
    except KeyError:
        raise HostError(
            f"'{file.name}' does not end in {', '.join(_FORMATS)}; other formats are imported or "
            "exported"
        ) from None

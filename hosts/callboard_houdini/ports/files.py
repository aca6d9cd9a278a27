"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving hip files."""

from __future__ import annotations

from pathlib import Path

import hou

from callboard.errors import HostError
from callboard.host import Json
from callboard_houdini.application.names import objects, telling
from callboard_qt import openable, saveable

#: The first bytes of every hip file, which is an archive of the kind that cpio writes.
_MAGIC = b"070707"
_LICENCE = ", which is what this Houdini's license works with"


class HoudiniFiles:
    def __init__(self) -> None:
        licence, kinds = hou.licenseCategory(), hou.licenseCategoryType
        # A file with a more restricted license would silently put the whole session under that
        # license.
        self._opens: tuple[str, ...] = (".hipnc", ".hiplc", ".hip")
        if licence == kinds.Commercial:
            self._opens = (".hip",)
        elif licence == kinds.Indie:
            self._opens = (".hiplc", ".hip")
        self.suffixes: tuple[str, ...] = self._opens[:1]

    def open(self, path: str) -> Json:
        """Open the file without prompting the artist. Houdini drops the open scene before it reads,
        so foreseeable failures are refused first."""
        starts = dict.fromkeys(self._opens, (_MAGIC,))
        file = openable(path, starts, "a Houdini file", _LICENCE)
        _check_name(file)
        with telling(f"open '{file.name}'; the scene that was open is closed"):
            hou.hipFile.load(file.as_posix(), suppress_save_prompt=True, ignore_load_warnings=True)
        return {"path": path, "object_count": len(objects())}

    def save(self, path: str | None) -> Json:
        before = hou.hipFile.path()
        known = None if hou.hipFile.isNewFile() else before
        file = saveable(known if path is None else path, self.suffixes, _LICENCE)
        _check_name(file)
        try:
            with telling(f"save '{file.name}'"):
                hou.hipFile.save(file.as_posix())
        except HostError:
            hou.hipFile.setName(before)
            raise
        return {"path": str(file), "bytes": file.stat().st_size}


def _check_name(file: Path) -> None:
    # In a scene's name, even a frame number is refused, although a node's file may have one.
    if "$" in file.name:
        raise HostError(
            f"'{file.name}' contains '$', which Houdini would replace; use another name"
        )

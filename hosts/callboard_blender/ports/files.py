"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving .blend files."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE

import bpy

from callboard.errors import HostError
from callboard.host import Json, mode_to_keep, pointed_at, require_folder
from callboard_blender.application.blend_layout import own_structures
from callboard_blender.application.blend_named import refuse_blend_outside
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import scene, view_layer
from callboard_blender.application.outside_paths import own_folders

#: A .blend file is plain, or compressed with gzip (before 3.0) or Zstandard.
_STARTS = (b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


class BlenderFiles:
    suffixes = (".blend",)

    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def open(self, path: str) -> Json:
        """Open the file without running scripts in it."""
        file = checked_blend(path)
        try:
            bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False)
        except RuntimeError as error:
            raise HostError(f"Blender could not open '{file.name}': {_reason(error)}") from None
        return {"path": path, "object_count": len(scene().objects)}

    def save(self, path: str | None) -> Json:
        """Save the scene. Blender writes a new file next to the old one, and then replaces the old
        one."""
        target = path or bpy.data.filepath
        if not target:
            raise HostError("this scene has never been saved; give a path")
        file = Path(target)
        if file.suffix.lower() != ".blend":
            raise HostError(f"'{file.name}' does not end in .blend; export other formats instead")
        require_folder(file)
        if file.is_dir():
            # Older versions move the folder aside and write a file in its place.
            raise HostError(f"'{file.name}' is a folder; give the name of a file")
        if file.is_symlink():
            # Blender would replace the link with a file, but it must write to the link's target.
            file = pointed_at(file)
        mode = mode_to_keep(file.name, S_IMODE(file.stat().st_mode)) if file.exists() else None
        # This makes Blender report the call's earlier changes now, so only the save goes unnoticed.
        view_layer().update()
        try:
            # When Blender 5.2 saves, it evaluates the scene again, which isn't a change.
            with self._changes.unnoticed():
                bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
                view_layer().update()
        except RuntimeError as error:
            raise HostError(f"Blender could not save '{file.name}': {_reason(error)}") from None
        if mode is not None:
            file.chmod(mode)
        return {"path": str(file), "bytes": file.stat().st_size}


def checked_blend(path: str) -> Path:
    """Return the file if Blender may read it. Raises HostError."""
    file = Path(path)
    if file.suffix.lower() != ".blend":
        raise HostError(f"'{file.name}' does not end in .blend; import other files instead")
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' at that path")
    with file.open("rb") as stream:
        if not stream.read(8).startswith(_STARTS):
            raise HostError(f"'{file.name}' is not a Blender file")
    refuse_blend_outside(path, own_folders(), own_structures)
    return file


def _reason(error: RuntimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ") if lines else "Blender gave no reason"

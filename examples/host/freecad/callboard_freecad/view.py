"""The port ``viewport``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from callboard.errors import HostError
from callboard_freecad.documents import required, view_of


class View:
    """FreeCAD draws the picture off-screen, so its window may be covered or minimized."""

    def capture(self, width: int, height: int) -> bytes:
        view = view_of(required()).ActiveView
        if not hasattr(view, "saveImage"):
            raise HostError("the window in front isn't a FreeCAD 3D view")
        with TemporaryDirectory(prefix="callboard-") as folder:
            file = Path(folder, "view.png")
            view.saveImage(str(file), width, height, "Current")
            return file.read_bytes()

"""The ``viewport`` port: pictures of the active 3D view. Only Houdini with a GUI has this
port."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import hou

from callboard.errors import HostError
from callboard.host import Point
from callboard_houdini.application.names import telling
from callboard_qt import seen


class HoudiniViewport:
    def __init__(self, boxes: Callable[[], Iterable[tuple[Point, Point]]]) -> None:
        """Make the port. ``boxes`` returns the bounding boxes of everything visible."""
        self._boxes = boxes

    def capture(self, width: int, height: int) -> bytes:
        with telling("draw the viewport"):
            return seen(drawn(view(), width, height, beauty_only=False), self._boxes())


def drawn(viewer: hou.SceneViewer, width: int, height: int, *, beauty_only: bool) -> bytes:
    """Return one frame of a flipbook. ``beauty_only`` leaves out grids, guides and anything else
    that isn't rendered."""
    frame = hou.frame()
    with TemporaryDirectory(prefix="callboard-") as folder:
        file = Path(folder, "viewport.png")
        # These settings are a copy, so that the artist's own flipbook settings don't change.
        settings = viewer.flipbookSettings().stash()
        settings.frameRange((frame, frame))
        settings.output(file.as_posix())
        settings.outputToMPlay(False)
        settings.leaveFrameAtEnd(False)
        settings.useResolution(True)
        settings.resolution((width, height))
        if beauty_only:
            settings.beautyPassOnly(True)
        viewer.flipbook(viewer.curViewport(), settings)
        # Houdini may put the frame number into the name, so use the only file in the folder.
        pictures = list(Path(folder).glob("*.png"))
        if not pictures:
            raise HostError("Houdini drew no picture; try again with a 3D view visible")
        return pictures[0].read_bytes()


def view() -> hou.SceneViewer:
    """Return the 3D view in front, or else any 3D view."""
    views = [tab for tab in hou.ui.paneTabs() if isinstance(tab, hou.SceneViewer)]
    for view in views:
        if view.isCurrentTab():
            return view
    if not views:
        raise HostError("no 3D view is open; ask the artist to open one")
    return views[0]

"""The ``viewport`` port: pictures of the active 3D view. Only Maya with a GUI has this port."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from maya import cmds

from callboard.errors import HostError
from callboard.host import Point
from callboard_maya.application.names import telling
from callboard_maya.parts.frames import current_frame
from callboard_qt import seen


class MayaViewport:
    def __init__(self, boxes: Callable[[], Iterable[tuple[Point, Point]]]) -> None:
        """Make the port. ``boxes`` returns the boxes of everything visible."""
        self._boxes = boxes

    def capture(self, width: int, height: int) -> bytes:
        with telling("draw the viewport"):
            return seen(drawn(view_panel(), width, height, ornaments=False), self._boxes())


def drawn(panel: str, width: int, height: int, *, ornaments: bool) -> bytes:
    """Return one frame of a playblast, drawn off-screen, so that nothing covers it."""
    with TemporaryDirectory(prefix="callboard-") as folder:
        file = Path(folder, "viewport.png")
        cmds.playblast(
            editorPanelName=panel,
            frame=[current_frame()],
            format="image",
            compression="png",
            completeFilename=file.as_posix(),
            widthHeight=(width, height),
            percent=100,
            viewer=False,
            offScreen=True,
            showOrnaments=ornaments,
        )
        if not file.is_file():
            raise HostError("Maya drew no picture of the viewport; try again with its window open")
        return file.read_bytes()


def view_panel() -> str:
    """Return the 3D view that has the focus, or else the first 3D view that is shown."""
    focused = str(cmds.getPanel(withFocus=True) or "")
    if focused and str(cmds.getPanel(typeOf=focused)) == "modelPanel":
        return focused
    views = set(cmds.getPanel(type="modelPanel") or [])
    for panel in cmds.getPanel(visiblePanels=True) or []:
        if panel in views:
            return str(panel)
    raise HostError("no 3D view is open; ask the artist to open one")

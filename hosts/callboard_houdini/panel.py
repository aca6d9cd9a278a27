"""The panel, in as many of Houdini's panes as the artist opens."""

from __future__ import annotations

from qtpy import shiboken

from callboard.app import Callboard
from callboard_qt.panel_frame import PanelFrame

#: What was put into panes; Houdini deletes it with its pane.
_frames: list[PanelFrame] = []


def make(server: Callboard | None) -> PanelFrame:
    """The content of a pane that Houdini is opening."""
    frame = PanelFrame(server)
    _frames.append(frame)
    return frame


def refresh(server: Callboard | None) -> None:
    """Shows that server, or that none runs, wherever the panel is open."""
    _frames[:] = [frame for frame in _frames if shiboken.isValid(frame)]
    for frame in _frames:
        frame.show_server(server)

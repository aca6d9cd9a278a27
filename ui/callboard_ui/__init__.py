"""The Callboard panel that the artist sees. Importing this package doesn't load Qt, but making a
panel does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qtpy.QtWidgets import QWidget

    from callboard.panel.controls import Serving

__all__ = ["make_panel"]


def make_panel(server: Serving | None, parent: QWidget | None = None) -> QWidget:
    """Return the panel for a running server, or a label that says that no server is running. Call
    it on Qt's thread."""
    if server is None:
        from callboard_ui.labels import plain

        label = plain(parent, wrap=True)
        label.setText(label.tr("Callboard isn't running. Start it, then open the panel again."))
        label.setMargin(label.fontMetrics().height())
        return label
    from callboard_ui.panel import Panel

    return Panel(server.controls, parent)

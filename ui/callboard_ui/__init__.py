"""The Callboard panel: what an artist looks at. Importing this loads no Qt; making a panel does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qtpy.QtWidgets import QWidget

    from callboard.app import Callboard

__all__ = ["make_panel"]


def make_panel(server: Callboard | None, parent: QWidget | None = None) -> QWidget:
    """The panel of a server that runs, or a line that says that none does. Qt's main thread."""
    if server is None:
        from callboard_ui.labels import plain

        label = plain(parent, wrap=True)
        label.setText(label.tr("Callboard isn't running. Start it, then open the panel again."))
        label.setMargin(label.fontMetrics().height())
        return label
    from callboard.transport.instances import Instance
    from callboard_ui.link import AppInfo
    from callboard_ui.panel import Panel

    identity = server.host.identity
    instance = Instance(
        server.id, identity.kind, identity.name, server.url, server.token, identity.pid, 0.0
    )
    reader = None if server.records is None else server.records.reader()
    return Panel(server.controls, reader, AppInfo(instance), parent)

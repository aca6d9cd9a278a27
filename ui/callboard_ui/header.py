"""The panel's header, with the host, its state, its address, and the connected clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qtpy.QtCore import QEvent, Qt, QTimer
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from callboard.panel.status import Snapshot
from callboard_ui import texts
from callboard_ui.connect_dialog import ConnectDialog
from callboard_ui.icons import icon
from callboard_ui.labels import Elided, tint
from callboard_ui.link import Link
from callboard_ui.shown_text import one_line
from callboard_ui.theme import Kind, bold, em

_COPIED_MS = 1500
#: The icon and the color for each name that `texts.state` returns.
_LOOKS: dict[str, tuple[str, Kind]] = {
    "ended": ("ring", "dim"),
    "off": ("ring", "warn"),
    "stopped": ("pause", "warn"),
    "paused": ("pause", "warn"),
    "stalled": ("clock", "warn"),
    "asking": ("hand", "warn"),
    "held": ("clock", "warn"),
    "busy": ("play", "busy"),
    "unkept": ("warning", "warn"),
    "serving": ("dot", "good"),
}


class Header(QWidget):
    """The panel's header. Use it on Qt's thread."""

    def __init__(
        self, link: Link, manage: Callable[[], None], parent: QWidget | None = None
    ) -> None:
        """Make the header. ``manage`` is called when the artist wants to see clients and rules."""
        super().__init__(parent)
        self._link = link
        self._snapshot = Snapshot()
        self._glyph = QLabel(self)
        self.host = Elided(self)
        self.host.setFont(bold(self.font()))
        self.state = Elided(self)
        self.pause = QPushButton(self)
        self.pause.setAutoDefault(False)
        self.pause.clicked.connect(self._pause)
        self.stop = QPushButton(self.tr("Stop"), self)
        self.stop.setToolTip(self.tr("Pause, and end every call that runs, waits or asks"))
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(lambda: self._link.controls.stop())
        self.address = Elided(self, Qt.TextElideMode.ElideMiddle)
        self.address.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.copy = QToolButton(self)
        self.copy.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.copy.setToolTip(self.tr("Copy the address"))
        self.copy.setAccessibleName(self.tr("Copy the address"))
        self.copy.clicked.connect(self._copy)
        self.clients = Elided(self)
        self.manage = QToolButton(self)
        self.manage.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.manage.setToolTip(self.tr("Clients and rules: stop one, revoke one"))
        self.manage.setAccessibleName(self.tr("Clients and rules"))
        self.manage.clicked.connect(lambda: manage())
        self.connect_button = QPushButton(self.tr("Connect…"), self)
        self.connect_button.setToolTip(self.tr("Connect a client…"))
        self.connect_button.setAccessibleName(self.tr("Connect a client…"))
        self.connect_button.setAutoDefault(False)
        self.connect_button.clicked.connect(self._connect)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(_COPIED_MS)
        self._copied.timeout.connect(self._draw)
        self._shown_glyph = ("", "")
        self._lay_out()
        self._draw()
        self.show_snapshot(self._snapshot, again=True)

    def show_snapshot(self, snapshot: Snapshot, *, again: bool = False) -> None:
        """Show a new state. ``again`` redraws everything, for example after the palette has
        changed."""
        before, self._snapshot = self._snapshot, snapshot
        self._show_state()
        # Calls come and go often, but the rest of the header seldom changes.
        if again or _lasting(before) != _lasting(snapshot):
            self._show_rest(snapshot)

    def _show_state(self) -> None:
        state = texts.state(self._snapshot, self.tr)
        kept = one_line(self._snapshot.not_kept)
        self.state.show_text(state.text, f"{state.text}\n{kept}" if kept else None)
        glyph, kind = _LOOKS[state.name]
        if (glyph, kind) != self._shown_glyph:
            self._shown_glyph = (glyph, kind)
            tint(self.state, kind)
            size = em(self)
            self._glyph.setPixmap(icon(glyph, self.palette(), kind).pixmap(size, size))

    def _show_rest(self, snapshot: Snapshot) -> None:
        scene = snapshot.scene.replace("\\", "/").rsplit("/", 1)[-1] or self.tr("unsaved scene")
        title = f"{snapshot.host_name} {snapshot.host_version}".strip() or self.tr("Callboard")
        self.host.show_text(f"{title}  ·  {scene}", f"{title}\n{snapshot.scene or scene}")
        self.pause.setText(self.tr("Resume") if snapshot.paused else self.tr("Pause"))
        self.pause.setIcon(icon("play" if snapshot.paused else "pause", self.palette()))
        self.pause.setToolTip(
            self.tr("Let clients call again")
            if snapshot.paused
            else self.tr("Refuse calls for now; clients stay connected")
        )
        self.pause.setEnabled(snapshot.serving)
        self.stop.setEnabled(snapshot.serving)
        self.connect_button.setEnabled(snapshot.serving)
        self.copy.setEnabled(bool(snapshot.url))
        self.address.show_text(snapshot.url)
        self._show_clients()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()
            self._shown_glyph = ("", "")
            self.show_snapshot(self._snapshot, again=True)

    def _show_clients(self) -> None:
        clients = self._snapshot.clients
        tip = [texts.client(one) for one in clients]
        who = texts.clients(self._snapshot, self.tr)
        self.clients.show_text(who, "\n".join(tip) if tip else None)
        tint(self.clients, "text" if clients else "dim")

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        state = QHBoxLayout()
        state.setSpacing(space)
        state.addWidget(self._glyph)
        state.addWidget(self.state, 1)
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * space, 2 * space, 2 * space, space)
        grid.setHorizontalSpacing(2 * space)
        grid.setVerticalSpacing(space)
        grid.addWidget(self.host, 0, 0, 1, 2)
        buttons = QHBoxLayout()
        buttons.setSpacing(space)
        for button in (self.pause, self.stop, self.connect_button):
            buttons.addWidget(button, 1)
        # The state has its own row, because the artist must be able to read it in a narrow dock.
        grid.addLayout(state, 1, 0, 1, 2)
        grid.addWidget(self.clients, 2, 0)
        grid.addWidget(self.manage, 2, 1)
        grid.addLayout(buttons, 3, 0, 1, 2)
        grid.addWidget(self.address, 4, 0)
        grid.addWidget(self.copy, 4, 1)
        grid.setColumnStretch(0, 1)

    def _draw(self) -> None:
        self.copy.setIcon(icon("copy", self.palette()))
        self.manage.setIcon(icon("more", self.palette()))
        self.connect_button.setIcon(icon("plug", self.palette()))
        tint(self.address, "dim")

    def _pause(self) -> None:
        controls = self._link.controls
        controls.resume() if self._snapshot.paused else controls.pause()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._snapshot.url)
        self.copy.setIcon(icon("check", self.palette(), "good"))
        self._copied.start()

    def _connect(self) -> None:
        folders = [root.path for root in self._snapshot.roots if root.path is not None]
        dialog = ConnectDialog(self._link.controls.instance, folders[0] if folders else None, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # The dialog isn't modal, so that the artist can look something up in the host.
        dialog.show()


def _lasting(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without the parts that change with each call."""
    return replace(snapshot, calls=(), changes=(), tokens=(), ended_calls=0)

"""The panel's head: which host, what state, where clients connect, and who is connected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qtpy.QtCore import QEvent, Qt, QTimer
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from callboard.panel.status import Snapshot, living
from callboard_ui.connect_dialog import ConnectDialog
from callboard_ui.icons import icon
from callboard_ui.labels import Elided
from callboard_ui.link import Link
from callboard_ui.look import Kind, bold, em, tint
from callboard_ui.shown_text import duration, one_line

#: Below this, milliseconds, a busy main thread isn't worth a word.
_STALL = 1000
_COPIED_MS = 1500


class Header(QWidget):
    """Qt's thread."""

    def __init__(
        self, link: Link, manage: Callable[[], None], parent: QWidget | None = None
    ) -> None:
        """``manage`` is called where the artist wants to see clients and rules."""
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
        """Takes over a new state; ``again`` where the look of it changed."""
        before, self._snapshot = self._snapshot, snapshot
        self._show_state()
        # While many calls come and go, nothing else of it changes.
        if again or _lasting(before) != _lasting(snapshot):
            self._show_rest(snapshot)

    def _show_state(self) -> None:
        text, glyph, kind = self._state()
        self.state.show_text(text)
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
        self.copy.setEnabled(bool(snapshot.url))
        self.address.show_text(snapshot.url)
        self._show_clients()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()
            self._shown_glyph = ("", "")
            self.show_snapshot(self._snapshot, again=True)

    def _state(self) -> tuple[str, str, Kind]:
        shown = self._snapshot
        if not shown.serving:
            text = self.tr("The server was stopped") if shown.url else self.tr("Starting…")
            return text, "ring", "dim"
        if shown.stopped:
            return self.tr("Stopped, calls ended: {0}").format(shown.stopped), "pause", "warn"
        if shown.paused:
            return self.tr("Paused"), "pause", "warn"
        if shown.stalled_ms > _STALL:
            by = one_line(shown.stalled_by or shown.host_name)
            waits = duration(shown.stalled_ms)
            return self.tr("Waiting for {0}, {1}").format(by, waits), "clock", "warn"
        if shown.questions:
            return self.tr("Waiting for you"), "hand", "warn"
        held_by = next((call.held_by for call in shown.calls if call.held_by), None)
        if held_by is not None:
            return self.tr("Waits for you: {0}").format(one_line(held_by)), "clock", "warn"
        if shown.calls:
            name, more = shown.calls[0].tool, len(shown.calls) - 1
            title = next((tool.title for tool in shown.tools if tool.name == name), "")
            text = self.tr("Busy with {0}").format(one_line(title or name))
            return f"{text} +{more}" if more else text, "play", "busy"
        return self.tr("Serving"), "dot", "good"

    def _show_clients(self) -> None:
        clients = living(self._snapshot.clients)
        here = [one for one in clients if not one.lost]
        lost = ", ".join(dict.fromkeys(one_line(one.name) for one in clients if one.lost))
        tip = [
            f"{one_line(one.name)} {one_line(one.version)} · {one.era}"
            + (self.tr(" · lost") if one.lost else "")
            for one in clients
        ]
        names = ", ".join(dict.fromkeys(one_line(one.name) for one in here))
        if len(here) == 1:
            parts = [tip[clients.index(here[0])]]
        elif here:
            parts = [self.tr("{0} clients: {1}").format(len(here), names)]
        else:
            parts = [] if lost else [self.tr("No client is connected")]
        if lost:
            # First, where a narrow dock shows it.
            parts.insert(0, self.tr("Lost: {0}").format(lost))
        self.clients.show_text(" · ".join(parts), "\n".join(tip) if tip else None)
        tint(self.clients, "warn" if lost else "text" if here else "dim")

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
        # The state has a row of its own: in a narrow dock it is what has to be read.
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
        # Non-modal: the artist may look something up in the host meanwhile.
        dialog.show()


def _lasting(snapshot: Snapshot) -> Snapshot:
    """Without what comes and goes with each call."""
    return replace(snapshot, calls=(), changes=(), tokens=(), ended_calls=0)

"""The server of this Blender process. The artist starts and stops it, and the panel shows it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from callboard.app import Callboard
from callboard.guest.inbox import MainThreadInbox
from callboard.panel.status import Snapshot
from callboard.settings import SettingsError, config_from
from callboard_blender.application.busy import POPUP
from callboard_blender.application.kept_roots import KeptRoots
from callboard_blender.application.main_thread import TimerInbox, window_is_gone
from callboard_blender.host import BlenderHost
from callboard_blender.ui.qt_window import QtWindow
from callboard_ui import texts

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """The settings from the add-on's preferences."""

    port: int = 0
    token: bool = True
    skills: list[str] = field(default_factory=list)


class BlenderServer:
    """The server of this Blender. There is at most one. Use it on the main thread."""

    def __init__(self) -> None:
        self.app: Callboard | None = None
        self.problem: str | None = None
        self.window: QtWindow | None = None
        #: The artist's folders, while the server is running.
        self.roots: KeptRoots | None = None
        self._inbox: TimerInbox | MainThreadInbox | None = None
        self._host: BlenderHost | None = None
        self._leave: list[Callable[[], None]] = []
        #: Called on the main thread after the panels have been asked to show a new snapshot.
        self.on_show: Callable[[], None] = lambda: None

    @property
    def snapshot(self) -> Snapshot:
        return self.app.controls.status.snapshot if self.app is not None else Snapshot()

    def start(self, settings: Settings) -> bool:
        """Start serving. On failure, return False and set ``problem`` to the reason."""
        if self.app is not None:
            return True
        self.problem = None
        # Without a user interface no timer fires. In that case `serve` provides the main thread.
        inbox = MainThreadInbox() if bpy.app.background else TimerInbox()
        host = BlenderHost(inbox.post)
        given = {"port": settings.port, "skill_paths": settings.skills}
        auth = "token" if settings.token else "none"
        try:
            config = config_from({k: value for k, value in given.items() if value}, auth=auth)
            app = Callboard(host, config)
            app.start()
        except (OSError, SettingsError) as error:
            reason = getattr(error, "strerror", None) or error
            wrong = f"port {settings.port} can't be used: {reason}"
            self.problem = error.message if isinstance(error, SettingsError) else wrong
            host.close()
            return False
        if isinstance(inbox, TimerInbox):
            inbox.start()
        self.app, self._inbox, self._host = app, inbox, host
        self._leave = [app.controls.status.watch(lambda _: inbox.post(self._show))]
        if not bpy.app.background:
            self.roots = KeptRoots(app.controls)
            self._leave.append(host.emptied.watch(self.roots.opened))
            self._show()
        return True

    def _show(self) -> None:
        if self.roots is not None:
            self.roots.follow(self.snapshot)
        redraw()
        self.on_show()

    def is_held_by_popup(self) -> bool:
        """Return whether a menu, a pop-up or a text field is open."""
        return self._host is not None and self._host.may_run("change") == POPUP

    def redraw_soon(self) -> None:
        """Redraw the areas that show the server's state. Call it from any thread."""
        if self._inbox is not None:
            self._inbox.post(redraw)

    def attend(self) -> None:
        """Record that a panel can show questions."""
        if self.app is not None:
            self._leave.append(self.app.controls.attend())

    def open_window(self, bundled: Path) -> None:
        """Open the large panel, or start to open it. If that fails, ``window.problem`` says why.
        ``bundled`` is the folder that contains Qt's wheels, if there is one."""
        if self.app is not None and isinstance(self._inbox, TimerInbox):
            if self.window is None:
                self.window = QtWindow(bundled)
            self.window.open(self.app)
            self._inbox.lend(self._window_tick)

    def _window_tick(self) -> bool:
        assert self.window is not None
        opening = self.window.opening
        more = self.window.tick()
        if opening and not self.window.opening:
            redraw()
        return more

    def serve(self) -> None:
        """Answer calls until ``interrupt`` or Ctrl+C. Meant for background mode, because it
        blocks."""
        if isinstance(self._inbox, MainThreadInbox):
            self._inbox.run()

    def interrupt(self) -> None:
        """Make ``serve`` return. Call it from any thread."""
        app, inbox = self.app, self._inbox
        if app is not None and inbox is not None:
            inbox.stop()
            app.guest.interrupt()

    def stop(self) -> None:
        """End the server, and release everything that it used. Idempotent."""
        app, self.app = self.app, None
        if app is None:
            return
        if self.window is not None:
            self.window.close()
        for leave in self._leave:
            leave()
        self._leave.clear()
        app.stop()
        assert self._host is not None
        assert self._inbox is not None
        self._host.close()
        self._inbox.stop()
        self._host = self._inbox = self.roots = None
        redraw()

    def end(self) -> None:
        """Stop the server, and end everything that outlives a single server. Idempotent."""
        self.stop()
        window, self.window = self.window, None
        if window is not None:
            window.shut_down()


#: The server of this Blender.
residence = BlenderServer()
#: The contents of headers and status bars, as last drawn or about to be drawn.
drawn = {(texts.waiting(Snapshot()), False)}


def heading() -> tuple[str, bool]:
    """Return the text about waiting questions, and whether the server is running."""
    return texts.waiting(residence.snapshot), residence.app is not None


def redraw() -> None:
    """Redraw the side panels. The headers and status bars are redrawn only if their text changed,
    because drawing a header takes as long as many calls."""
    if window_is_gone():
        if bpy.context.window_manager.windows:
            bpy.app.timers.register(redraw, first_interval=0.0, persistent=True)
        return
    shown = heading()
    if changed := drawn != {shown}:
        drawn.clear()
        drawn.add(shown)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI" or (changed and region.type == "HEADER"):
                        region.tag_redraw()
        if changed:
            # The status bar isn't in any list of areas. This call redraws it. During a drag,
            # Blender writes its own text again.
            window.workspace.status_text_set_internal(None)

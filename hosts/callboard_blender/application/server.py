"""The server of this Blender process: started and stopped by the artist, seen by the panel."""

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
from callboard_blender.application.kept_roots import KeptRoots
from callboard_blender.application.main_thread import TimerInbox, window_is_gone
from callboard_blender.host import BlenderHost
from callboard_blender.ui.qt_window import QtWindow
from callboard_ui import texts

log = logging.getLogger(__name__)


@dataclass
class Settings:
    """What the add-on's preferences say."""

    port: int = 0
    token: bool = True
    skills: list[str] = field(default_factory=list)


class BlenderServer:
    """At most one server. Main thread."""

    def __init__(self) -> None:
        self.app: Callboard | None = None
        self.problem: str | None = None
        self.window: QtWindow | None = None
        #: Where somebody may add folders.
        self.roots: KeptRoots | None = None
        self._inbox: TimerInbox | MainThreadInbox | None = None
        self._host: BlenderHost | None = None
        self._leave: list[Callable[[], None]] = []

    @property
    def snapshot(self) -> Snapshot:
        return self.app.controls.status.snapshot if self.app is not None else Snapshot()

    def start(self, settings: Settings) -> bool:
        """Serves, or says in ``problem`` why not."""
        if self.app is not None:
            return True
        self.problem = None
        # Without a user interface no timer fires; then `serve` lends the main thread.
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

    def attend(self) -> None:
        """The panel is there to answer questions."""
        if self.app is not None:
            self._leave.append(self.app.controls.attend())

    def open_window(self, bundled: Path) -> None:
        """Opens the large panel, or begins to; ``problem`` of ``window`` says why it failed.
        ``bundled`` is the folder with Qt's wheels, if there is one."""
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
        """In background mode: blocks, and answers calls, until ``interrupt`` or Ctrl+C."""
        if isinstance(self._inbox, MainThreadInbox):
            self._inbox.run()

    def interrupt(self) -> None:
        """Has ``serve`` return. Any thread."""
        app, inbox = self.app, self._inbox
        if app is not None and inbox is not None:
            inbox.stop()
            app.guest.interrupt()

    def stop(self) -> None:
        """Ends the server and everything it held; idempotent."""
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
        """Stops, and ends what stays from one server to the next. Idempotent."""
        self.stop()
        window, self.window = self.window, None
        if window is not None:
            window.shut_down()


#: The one of this Blender.
residence = BlenderServer()
#: What the headers and status bars say, each as it was drawn last or will be.
drawn = {texts.waiting(Snapshot())}


def redraw() -> None:
    """Has the side panels drawn again, and the headers and status bars where they say another
    thing: drawing a header takes as long as many calls."""
    if window_is_gone():
        if bpy.context.window_manager.windows:
            bpy.app.timers.register(redraw, first_interval=0.0, persistent=True)
        return
    line = texts.waiting(residence.snapshot)
    if changed := drawn != {line}:
        drawn.clear()
        drawn.add(line)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI" or (changed and region.type == "HEADER"):
                        region.tag_redraw()
        if changed:
            # No list holds the status bar. This has it drawn; a drag writes its text again.
            window.workspace.status_text_set_internal(None)

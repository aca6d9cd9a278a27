"""One server inside Maya with its windows: started and stopped by the plug-in, the menu and the
panel."""

from __future__ import annotations

from maya import cmds

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard_maya.host import MayaHost
from callboard_qt.main_thread import QtMainThread

#: Maya's preferences that are ours.
AUTOSTART = "callboardAutostart"
PORT = "callboardPort"


class Session:
    """Main thread."""

    def __init__(self) -> None:
        self._main: QtMainThread | None = None
        self._host: MayaHost | None = None
        #: The running server, or None.
        self.server: Callboard | None = None

    def start(self) -> Callboard:
        """Starts the server unless it runs. Raises OSError when its port is taken."""
        if self.server is not None:
            return self.server
        self._main = QtMainThread()
        self._host = MayaHost(self._main.post, self._main.blocked_by)
        self._stop_listening = self._host.watch(self._host_event)
        try:
            server = Callboard(self._host, McpHttpConfig(port=int(option(PORT, 0)))).start()
        except BaseException:
            self.stop()
            raise
        self.server = server
        return server

    def stop(self) -> None:
        """Stops the server and takes back every callback. Idempotent."""
        server, self.server = self.server, None
        if server is not None:
            server.stop()
        host, self._host = self._host, None
        if host is not None:
            self._stop_listening()
            host.close()
        main, self._main = self._main, None
        if main is not None:
            main.close()

    def _host_event(self, event: str) -> None:
        if event == "closing":  # Maya quits
            self.stop()


def option(name: str, default: int) -> int:
    """A preference of the artist's, kept by Maya."""
    if not cmds.optionVar(exists=name):
        return default
    # This command's query takes a name, which the published stubs don't know.
    return int(cmds.optionVar(query=name))  # type: ignore[call-overload]


def set_option(name: str, value: int) -> None:
    cmds.optionVar(intValue=(name, value))

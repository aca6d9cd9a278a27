"""One server inside 3ds Max with its windows: started and stopped by the menu and the panel."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard_max.host import MaxHost
from callboard_max.options import PORT, option
from callboard_qt.main_thread import QtMainThread


class Session:
    """Main thread."""

    def __init__(self) -> None:
        self._main: QtMainThread | None = None
        self._host: MaxHost | None = None
        #: The running server, or None.
        self.server: Callboard | None = None

    def start(self) -> Callboard:
        """Starts the server unless it runs. Raises OSError when its port is taken."""
        if self.server is not None:
            return self.server
        try:
            self._main = QtMainThread()
            self._host = MaxHost(self._main.post, self._main.blocked_by)
            server = Callboard(self._host, McpHttpConfig(port=option(PORT, 0))).start()
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
            host.close()
        main, self._main = self._main, None
        if main is not None:
            main.close()

"""One server inside a Qt application. callboard's menu and panel start and stop it."""

from __future__ import annotations

from collections.abc import Callable

from callboard.app import Callboard
from callboard.host import Host
from callboard.settings import config_from

#: Makes the host from two functions. One posts to the main thread, and the other returns the open
#: modal dialog.
MakeHost = Callable[[Callable[[Callable[[], None]], None], Callable[[], str | None]], Host]


class HostServer:
    """The server of one application. Use it on the main thread. ``port`` is called when the server
    starts, and returns the artist's choice of port number. 0 means any free port."""

    def __init__(self, make_host: MakeHost, port: Callable[[], int]) -> None:
        self._make_host = make_host
        self._port = port
        self._take_back: list[Callable[[], None]] = []
        #: The running server, or None.
        self.server: Callboard | None = None

    def start(self) -> Callboard:
        """Start the server unless it is already running. Raises OSError when its port is taken, and
        SettingsError for invalid settings."""
        if self.server is not None:
            return self.server
        from callboard_qt.application.main_thread import QtMainThread

        try:
            main = QtMainThread()
            self._take_back.append(main.close)
            host = self._make_host(main.post, main.blocked_by)
            self._take_back.append(host.close)
            self._take_back.append(host.watch(self._host_event))
            port = self._port()
            config = config_from({"port": port} if port else {})
            server = Callboard(host, config).start()
        except BaseException:
            self.stop()
            raise
        self.server = server
        return server

    def stop(self) -> None:
        """Stop the server and remove every callback. Idempotent."""
        server, self.server = self.server, None
        if server is not None:
            server.stop()
        while self._take_back:
            self._take_back.pop()()

    def _host_event(self, event: str) -> None:
        if event == "closing":  # The application quits.
            self.stop()

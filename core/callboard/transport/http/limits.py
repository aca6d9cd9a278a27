"""The limits of one listener, in seconds, bytes and connections."""

from __future__ import annotations

import selectors
from typing import NamedTuple

#: ``select`` on Windows supports 512 sockets. Some of them are for our own use, and 128 connections
#: may be accepted at once.
_MOST_SELECTED = 320


def most_connections(selector: type[selectors.BaseSelector] | None = None) -> int:
    """Return how many connections a loop with this selector can hold. None means the system's
    default selector. Some of the process's file descriptors are left to the application."""
    selected = (selector or selectors.DefaultSelector) is selectors.SelectSelector
    most = _MOST_SELECTED if selected else 1024
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except (
        ImportError
    ):  # Windows doesn't have this module, and a program's own module may hide Python's.
        return most
    files, _ = getrlimit(RLIMIT_NOFILE)
    return most if files == RLIM_INFINITY else min(most, max(16, files // 4))


class HttpLimits(NamedTuple):
    """The limits of one listener. Times are in seconds."""

    #: Maximum number of connections open at once. When one more arrives, the oldest stranger is
    #: closed. A stranger is a connection that hasn't sent a request with a token yet. If there is
    #: none, the new connection is closed.
    connections: int = most_connections()
    #: The time that a client may take to send its headers, to send its body, and to read an answer.
    header_time: float = 20.0
    body_time: float = 60.0
    write_time: float = 60.0
    #: The time for which an idle connection is kept.
    idle_time: float = 3600.0
    #: The time between two checks for requests and connections that have been open too long.
    sweep_every: float = 5.0
    #: After this time an answer that isn't ready becomes a stream with keep-alive comments.
    slow_after: float = 10.0
    #: The time between two keep-alive comments.
    keep_alive_every: float = 15.0
    #: Maximum number of bytes that wait for a slow client. A client that exceeds it is dropped.
    queue_bytes: int = 4 * 1024 * 1024

    @property
    def handshakes(self) -> int:
        """The maximum number of TLS handshakes, in addition to the connections. When one more
        arrives, the oldest is closed."""
        return max(16, self.connections // 4)

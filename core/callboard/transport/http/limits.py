"""How long, and how much, one listener bears."""

from __future__ import annotations

import selectors
from typing import NamedTuple

#: Windows' ``select`` takes 512 sockets, of which some are ours and 128 may be accepted at once.
_MOST_SELECTED = 320


def most_connections(selector: type[selectors.BaseSelector] | None = None) -> int:
    """What a loop with this selector, or with this system's own, bears beside everything else: the
    application that it runs in has files of its own to open."""
    selected = (selector or selectors.DefaultSelector) is selectors.SelectSelector
    most = _MOST_SELECTED if selected else 1024
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows has none, and a program's own of that name hides Python's
        return most
    files, _ = getrlimit(RLIMIT_NOFILE)
    return most if files == RLIM_INFINITY else min(most, max(16, files // 4))


class HttpLimits(NamedTuple):
    """Times are seconds."""

    #: Connections open at once. For a further one the oldest stranger is closed: who has sent no
    #: request with a token yet; where there is none, the new one is.
    connections: int = most_connections()
    #: What a client may take to send its headers, its body, or to read an answer.
    header_time: float = 20.0
    body_time: float = 60.0
    write_time: float = 60.0
    #: How long an idle connection is kept.
    idle_time: float = 3600.0
    #: Between two looks at what has been open for too long.
    sweep_every: float = 5.0
    #: After this an answer that isn't there yet is announced by a stream with keep-alive comments.
    slow_after: float = 10.0
    #: Between two of those comments.
    keep_alive_every: float = 15.0
    #: Bytes that may wait for a client that reads slowly; past them it is dropped.
    queue_bytes: int = 4 * 1024 * 1024

    @property
    def handshakes(self) -> int:
        """Connections that agree on TLS, beside those. For a further one the oldest is closed."""
        return max(16, self.connections // 4)

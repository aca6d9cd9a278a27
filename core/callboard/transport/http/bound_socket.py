"""A port of this machine."""

from __future__ import annotations

import os
import socket


def bound(address: str, port: int, backlog: int) -> socket.socket:
    """A socket that listens, and blocks nobody. ``address`` is numeric, because names are looked up
    in a thread; port 0 is any. Raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if socket.has_dualstack_ipv6() and family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if os.name != "nt":
            # Else a port stays taken for a minute after its server stopped. On Windows the option
            # would let any program take the port over.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(backlog)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening

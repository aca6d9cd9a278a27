"""Revokes a client's access to all of this user's servers."""

from __future__ import annotations

from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import forget_token
from callboard.errors import PeerError
from callboard.transport.instances import Instance, listed, tell_of_clients


def revoke(name: str) -> list[Instance]:
    """Revoke the token of the client with that name, and notify the running servers at once. Return
    the servers that don't answer. They notice the change later on their own. Waits for disks and
    servers, so don't call it on a loop. Raises PeerError when no client has the name, and
    HostError."""
    gone = ClientBook().revoke(name)
    if gone is None:
        raise PeerError(f"no client is called {name[:80]!r}; see `callboard clients`")
    forget_token(gone)
    return [one.instance for one in listed() if not tell_of_clients(one.instance)]

"""Lets a client in no more, in every server of this user's."""

from __future__ import annotations

from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import forget_token
from callboard.errors import PeerError
from callboard.transport.instances import Instance, listed, tell_of_clients


def revoke(name: str) -> list[Instance]:
    """Ends the token of the client with that name and has the running servers know at once. The
    ones that don't answer now, which notice by themselves. It waits for disks and servers: on no
    loop. Raises PeerError where nobody has the name, HostError."""
    gone = ClientBook().revoke(name)
    if gone is None:
        raise PeerError(f"no client is called {name[:80]!r}; see `callboard clients`")
    forget_token(gone)
    return [one.instance for one in listed() if not tell_of_clients(one.instance)]

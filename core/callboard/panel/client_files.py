"""Everything a user interface needs to connect a client: the known clients, and their configuration
files with this server added. The new content is shown before anything is written."""

from __future__ import annotations

from callboard.client_files.change import Change, planned
from callboard.client_files.known import ClientFormat, bridge, formats
from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import token_of
from callboard.errors import PeerError
from callboard.settings import locked
from callboard.transport.instances import Instance

__all__ = [
    "Change",
    "ClientFormat",
    "Instance",
    "bridge",
    "formats",
    "formats_allowed",
    "own_token",
    "planned",
    "require_allowed",
]


def formats_allowed() -> dict[str, ClientFormat]:
    """Return the formats of the clients that the machine's policy allows to be set up. Raises
    SettingsError."""
    allowed = locked("clients")
    return {name: one for name, one in formats().items() if allowed is None or name in allowed}


def require_allowed(client: str) -> ClientFormat:
    """Return the client's format. Raises PeerError if the machine's policy doesn't allow the client
    to be set up."""
    allowed = formats_allowed()
    if client not in allowed:
        raise PeerError(
            f"this machine's policy doesn't allow {client} to be set up, only: "
            f"{', '.join(sorted(allowed)) or 'none'}"
        )
    return allowed[client]


def own_token(client: str) -> str:
    """Return the token of the client called ``client``. Make a token if the client has none. Reads
    and writes files. Raises PeerError for an invalid name, and HostError."""
    return token_of(client, ClientBook())

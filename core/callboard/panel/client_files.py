"""Everything a user interface needs to connect a client: the known clients, and their files with
this server added. The files are shown before anything is written."""

from __future__ import annotations

from callboard.client_files.change import Change, planned
from callboard.client_files.known import ClientFormat, bridge, formats
from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import token_of
from callboard.transport.instances import Instance

__all__ = ["Change", "ClientFormat", "Instance", "bridge", "formats", "own_token", "planned"]


def own_token(client: str) -> str:
    """Return the token of the client called ``client``. Make a token if the client has none. Reads
    and writes files. Raises PeerError for an invalid name, and HostError."""
    return token_of(client, ClientBook())

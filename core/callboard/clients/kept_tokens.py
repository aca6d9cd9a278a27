"""The tokens that this user's own clients read by name, so that configurations don't have to
contain tokens. Each is in its own file, which only this user can read."""

from __future__ import annotations

import os
from pathlib import Path

from callboard.clients.book import ClientBook, KnownClient
from callboard.clients.holder import token_hash
from callboard.errors import HostError, PeerError
from callboard.ground.folders import data_folder
from callboard.ground.private_file import read_private, write_private

#: The environment variable that may hold a client's token instead.
VARIABLE = "CALLBOARD_TOKEN"
_MOST_BYTES = 1000


def token_of(name: str, book: ClientBook) -> str:
    """Return the client's token. Make a token if the client has none. Raises PeerError or
    HostError."""
    known = _known(name, book)
    token = None if known is None else _kept(known)
    if token is not None:
        return token
    made, token = book.make(name)
    if known is not None:
        forget_token(known)
    try:
        write_private(_file(made), token)
    except OSError as error:
        raise HostError(f"the token of {name} can't be kept: {error}") from None
    return token


def read_token(name: str) -> str:
    """Return the token that the client presents: CALLBOARD_TOKEN if it is set, or else the kept
    one. Raises PeerError when the client isn't let in."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    known = _known(name, ClientBook())
    token = None if known is None else _kept(known)
    if token is None:
        raise PeerError(
            f"{name[:80]!r} isn't allowed to connect, or its access was revoked; "
            "`callboard config CLIENT --name NAME` lets it in"
        )
    return token


def forget_token(known: KnownClient) -> None:
    """Remove the kept token of a revoked client."""
    _file(known).unlink(missing_ok=True)


def _known(name: str, book: ClientBook) -> KnownClient | None:
    return next((one for one in book.all() if one.name == name), None)


def _kept(known: KnownClient) -> str | None:
    try:
        token = read_private(_file(known), _MOST_BYTES).decode("ascii").strip()
    except (OSError, ValueError):
        return None
    return token if token_hash(token) == known.hash else None


def _file(known: KnownClient) -> Path:
    # The file is named by the id, because not every system accepts every name for a file.
    return data_folder() / "tokens" / known.id

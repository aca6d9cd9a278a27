"""The client as the holder of a token."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple


class TokenHolder(NamedTuple):
    """One client. ``id`` belongs to its token: a later client with the same name has a different
    id."""

    name: str
    id: str


#: The holder of the instance's own token: this user's command line.
LOCAL = TokenHolder("local", "local")
#: Every client, when no token is required.
ANYONE = TokenHolder("anyone", "anyone")

#: After this many seconds of silence, a client without a session is considered gone.
SILENCE = 3600.0

#: A client that hasn't identified itself yet.
NOBODY = TokenHolder("", "")


def new_token() -> str:
    """Return 256 random bits, as text for a header."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the hash that is kept in place of a token. One round of SHA-256 is enough: passwords
    need a slow hash because people choose them, but 256 random bits can't be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
